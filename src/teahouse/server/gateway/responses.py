"""The OpenAI Responses dialect at the front: `POST /v1/responses`, of which nothing is kept."""

from __future__ import annotations

from teahouse.core.clock import Clock, SystemClock
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.openai_error import refuse
from teahouse.server.gateway.responses_read import ResponsesAsked, read_request
from teahouse.server.gateway.responses_voice import ResponsesVoice


class OpenAIResponses:
    stream_type = "text/event-stream; charset=utf-8"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, body: bytes, /) -> ResponsesAsked:
        return read_request(body)

    def voice(self, asked: Asked, model: str, /) -> ResponsesVoice:
        told = asked.told if isinstance(asked, ResponsesAsked) else {}
        return ResponsesVoice(model, self._clock.now().timestamp(), told)

    def refuse(self, refusal: Refusal, /) -> bytes:
        return refuse(refusal)
