"""Chunks of nothing but text are read in a short way of their own; it must not be seen."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDone, StreamEvent
from teahouse.core.messages import JsonObject, ToolCall
from teahouse.llm.profiles import Profile
from teahouse.llm.sse import SseEvent
from teahouse.llm.wire.openai_chat_stream import ChatStream

BROKEN = {"message": "broken"}
CALL = {"name": "f", "arguments": "{}"}
CALLS = [{"id": "c", "function": CALL}]
BLOCK = {"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}
DELTAS: list[JsonObject] = [
    {},
    *({"content": content} for content in ("a", "茶", "\ud83c", "\udf75", "", None, [BLOCK], 3)),
    *({"content": "a", "reasoning_content": thought} for thought in ("hm", "", None, 3)),
    *({"content": "a", "reasoning": thought} for thought in ("hm", "", None, {"text": "hm"})),
    {"reasoning_content": "hm", "reasoning": "hm"},
    *({"reasoning_details": details} for details in ([], [{"type": "x", "text": "hm"}], None)),
    *({"content": "a", "refusal": refusal} for refusal in ("no", "", None)),
    *({"content": "a", "tool_calls": calls} for calls in ([], None, CALLS)),
    *({"content": "a", "function_call": called} for called in (None, CALL)),
]
CHOICES: list[JsonObject] = [
    *({"delta": delta} for delta in [*DELTAS, None, "a"]),
    *({"message": delta} for delta in DELTAS),
    *({"delta": {"content": "a"}, "index": index} for index in (0, 1, None, "0", [])),
    *({"delta": {"content": "a"}, "finish_reason": reason} for reason in (None, "", "length", 3)),
    *({"delta": {"content": "a"}, "finish_reason": reason} for reason in ("error", "stop")),
    *({"delta": {"content": "a"}, "error": error} for error in (None, {}, BROKEN)),
    *({"delta": {"content": "a"}, "usage": counts} for counts in (None, {"prompt_tokens": 4})),
    {"delta": {"content": "a"}, "x_groq": {"usage": {"prompt_tokens": 4}}},
]
CHUNKS: list[JsonObject] = [
    *({"choices": [choice]} for choice in CHOICES),
    *({"choices": choices} for choices in ([], None, {}, [CHOICES[1]] * 2, [CHOICES[1], 3])),
    *({"choices": [CHOICES[1]], "error": error} for error in (None, {}, BROKEN)),
    {"choices": [CHOICES[1]], "object": "error"},
    {"choices": [CHOICES[1]], "x_groq": {"usage": {"prompt_tokens": 4}}},
    {"choices": [CHOICES[1]], "message": "broken", "code": 3},
    {"message": "broken", "code": 3},
]
PLAIN: JsonObject = {"choices": [{"delta": {"content": "b"}, "index": 0}]}


@pytest.mark.parametrize("name", ["", "message", "error"])
@pytest.mark.parametrize("chunk", CHUNKS, ids=json.dumps)
def test_what_a_chunk_says_is_the_same_in_the_long_way(chunk: JsonObject, name: str) -> None:
    for chunks in ([chunk, PLAIN], [PLAIN, chunk]):
        # a count of nothing says nothing, but chunks with counts are not plain
        counted: list[JsonObject] = [one | {"usage": {}} for one in chunks]

        assert heard(chunks, name) == heard(counted, name)


def heard(chunks: list[JsonObject], name: str) -> tuple[list[StreamEvent], str | None]:
    reply = ChatStream("acme", "m", Profile(), input_estimate=1)
    try:
        for one in chunks:
            reply.feed(SseEvent(name, json.dumps(one).encode()))
        reply.feed(SseEvent("", b"[DONE]"))
        reply.end()
    except ProviderError as error:
        reply.keep()
        return known(reply.take()), type(error).__name__
    return known(reply.take()), None


def known(events: list[StreamEvent]) -> list[StreamEvent]:
    """Without the ids that are made here."""
    return [
        replace(event, part=replace(event.part, id="made"))
        if isinstance(event, PartDone) and isinstance(event.part, ToolCall)
        else event
        for event in events
    ]
