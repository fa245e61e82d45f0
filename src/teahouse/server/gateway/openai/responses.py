"""The OpenAI Responses dialect at the front: `POST /v1/responses`, and what is kept of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teahouse.core.clock import Clock, SystemClock
from teahouse.core.codec import encode
from teahouse.core.errors import NotFound
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.kept_responses import Shelf
from teahouse.server.gateway.openai.error import refuse
from teahouse.server.gateway.openai.responses_read import ResponsesAsked, read_request
from teahouse.server.gateway.openai.responses_voice import ResponsesVoice

if TYPE_CHECKING:
    from teahouse.server.gateway.visit import Visit

ONE = "/v1/responses/"


class OpenAIResponses:
    """`shelf` is that of the one who asks; without one nothing is kept."""

    stream_type = "text/event-stream; charset=utf-8"

    def __init__(self, clock: Clock | None = None, shelf: Shelf | None = None) -> None:
        self._clock, self._shelf = clock or SystemClock(), shelf

    def read(self, body: bytes, /) -> ResponsesAsked:
        return read_request(body, self._shelf)

    def voice(self, asked: Asked, model: str, /) -> ResponsesVoice:
        assert isinstance(asked, ResponsesAsked)
        shelf = self._shelf if asked.store else None

        def keep(name: str, told: bytes) -> None:
            if shelf is not None:
                shelf.keep(name, told, asked.given, asked.previous)

        return ResponsesVoice(model, self._clock.now().timestamp(), asked.told, keep)

    def refuse(self, refusal: Refusal, /) -> bytes:
        return refuse(refusal)


async def respond(visit: Visit) -> None:
    await visit.talk(OpenAIResponses(shelf=visit.shelf))


async def show(visit: Visit) -> None:
    name = visit.incoming.path.removeprefix(ONE)
    told = visit.shelf.response(name)
    if told is None:
        raise NotFound("no_such_response", id=name)
    await visit.outgoing.whole(told)


async def forget(visit: Visit) -> None:
    name = visit.incoming.path.removeprefix(ONE)
    if not visit.shelf.forget(name):
        raise NotFound("no_such_response", id=name)
    await visit.outgoing.whole(encode({"id": name, "object": "response", "deleted": True}))
