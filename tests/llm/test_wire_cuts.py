"""Whatever way the network cuts a stream, every dialect makes the same reply of it."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, StreamEvent, fold
from teahouse.core.messages import Message, ToolCall
from teahouse.llm.profiles import Profile
from teahouse.llm.sse import SseParser
from teahouse.llm.wire.anthropic_stream import AnthropicStream
from teahouse.llm.wire.gemini_stream import GeminiStream
from teahouse.llm.wire.json_objects import JsonObjects
from teahouse.llm.wire.ollama_stream import OllamaStream
from teahouse.llm.wire.openai_chat_stream import ChatStream
from teahouse.llm.wire.openai_responses_stream import ResponsesStream
from teahouse.llm.wire.reply import Reply
from teahouse.testing.case_files import Case, read_cases

CASES = Path(__file__).resolve().parents[1] / "cases"
REPLIES: Final[Mapping[str, Callable[[], Reply]]] = {
    "openai-chat": lambda: ChatStream("acme", "m", Profile(), input_estimate=1),
    "openai-responses": lambda: ResponsesStream("acme", "m", input_estimate=1),
    "anthropic": lambda: AnthropicStream("acme", "m", input_estimate=1),
    "gemini": lambda: GeminiStream("acme", "m", Profile(), input_estimate=1),
    "ollama": lambda: OllamaStream("acme", "m", Profile(), input_estimate=1),
}


@cache
def streams(dialect: str) -> list[Case]:
    return [
        case
        for path in sorted(CASES.glob("wire_*.json"))
        for case in read_cases(path)
        if case["dialect"] == dialect and not case.get("headers") and not case.get("status")
    ]


def framing(reply: Reply, whole: bytes) -> SseParser | JsonObjects:
    objects = whole.lstrip()[:1] in {b"{", b"["} and isinstance(reply, GeminiStream | OllamaStream)
    marked = whole.startswith(b"\xef") and isinstance(reply, OllamaStream)
    return JsonObjects() if objects or marked else SseParser()


def translate(reply: Reply, pieces: list[bytes]) -> tuple[list[StreamEvent], str | None]:
    """The events of a stream, and the name of the error that ended it."""
    parser, events = framing(reply, b"".join(pieces)), list[StreamEvent]()
    try:
        for piece in [*pieces, b""]:
            for event in parser.feed(piece) if piece else parser.end():
                if not reply.done:
                    reply.feed(event, last=not piece)
            events += reply.take()
        reply.end()
    except ProviderError as error:
        reply.keep()
        return events + reply.take(), type(error).__name__
    return events + reply.take(), None


def told(message: Message) -> list[object]:
    """The parts, but for the ids that are made here."""
    return [
        (part.name, part.arguments, part.malformed) if isinstance(part, ToolCall) else part
        for part in message.parts
    ]


@pytest.mark.parametrize("dialect", REPLIES)
@given(data=st.data())
def test_any_cut_of_any_recorded_stream_makes_the_same_reply(
    dialect: str, data: st.DataObject
) -> None:
    case = data.draw(st.sampled_from(streams(dialect)))
    whole = b"".join(base64.b64decode(write) for write in case["writes_b64"])
    inner = st.integers(1, max(1, len(whole) - 1))
    places = [0, *sorted(data.draw(st.sets(inner, max_size=40))), len(whole)]

    events, error = translate(
        REPLIES[dialect](), [whole[a:b] for a, b in itertools.pairwise(places)]
    )
    same, same_error = translate(REPLIES[dialect](), [whole])

    assert error == same_error
    assert told(fold(events)) == told(fold(same))
    for kind in ("text", "thinking"):
        assert shown(events, kind) == shown(same, kind)


def shown(events: list[StreamEvent], kind: str) -> str:
    return "".join(e.delta for e in events if isinstance(e, PartDelta) and e.kind == kind)
