"""What goes out first, and what statuses refusals have."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from teahouse.core.events import PartDone, ReplyDone, StreamEvent
from teahouse.core.i18n import DEFAULT
from teahouse.core.messages import Text
from teahouse.llm.errors import ContextTooLong, RequestRefused
from teahouse.server.gateway.openai.error import openai_error
from teahouse.server.gateway.openai.responses_voice import ResponsesVoice
from teahouse.server.gateway.outgoing import Outgoing, Telling
from teahouse.server.gateway.refusals import refusal_of

pytestmark = pytest.mark.anyio


class _Wire:
    def __init__(self) -> None:
        self.sent: list[bytes] = []

    async def __call__(self, message: Any, /) -> None:
        if message["type"] == "http.response.body":
            self.sent.append(message["body"])

    def events(self) -> list[dict[str, Any]]:
        lines = b"".join(self.sent).decode().split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


async def _reply() -> AsyncGenerator[Sequence[StreamEvent], None]:
    yield [PartDone(index=0, part=Text(text="tea"))]
    yield [ReplyDone(reason="stop")]


@pytest.mark.parametrize("beaten", [False, True])
async def test_a_stream_begins_before_anything_of_the_reply_is_told(beaten: bool) -> None:
    wire = _Wire()
    telling = Telling(Outgoing(wire, "q_1"), ResponsesVoice("m", 0, {}), "text/event-stream")
    if beaten:
        await telling.beat()
    await telling.tell(_reply())

    events = wire.events()
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[0]["response"]["output"] == []
    assert sum(event["type"] == "response.created" for event in events) == 1


@pytest.mark.parametrize(("status", "code"), [(404, "model_not_found"), (400, "provider_refused")])
def test_a_model_that_its_vendor_does_not_know_is_not_found(status: int, code: str) -> None:
    error = RequestRefused("vendor", "no such model")
    error.status = status
    refusal = refusal_of(error, DEFAULT)

    assert refusal.status == status
    assert openai_error(refusal)["error"]["code"] == code


def test_the_code_of_a_conversation_that_is_too_long_stands_in_the_message_too() -> None:
    error = openai_error(refusal_of(ContextTooLong("vendor"), DEFAULT))["error"]
    assert error["code"] == "context_length_exceeded"
    assert error["message"].endswith("(context_length_exceeded)")
