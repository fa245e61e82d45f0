"""Replies in OpenAI's chat dialect: in chunks, or as one completion.

A call is told whole: only then are its id and name known, and its arguments right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from teahouse.core import ids
from teahouse.core.clock import Clock
from teahouse.core.events import PartDelta, PartDone, Reason, ReplyDone, StreamEvent, fold
from teahouse.core.messages import JsonObject, Part, Text, Thinking, ToolCall, Usage
from teahouse.server.gateway.carry import pack
from teahouse.server.gateway.dialect import Refusal
from teahouse.server.gateway.openai.chat_history import MARK, Place, thought_detail
from teahouse.server.gateway.openai.error import openai_error
from teahouse.server.lines import one_line

_encode: Final = msgspec.json.Encoder().encode
_BEAT: Final = b": ping\n\n"
_DONE: Final = b"data: [DONE]\n\n"


class _Told(Struct):
    """What a reader has had of a part."""

    place: Place
    pieces: list[str] = field(default_factory=list[str])
    sealed: bool = False  # told with what its vendor wants back


class ChatVoice:
    def __init__(self, model: str, *, counts: bool, clock: Clock) -> None:
        self._head: JsonObject = {
            "id": ids.new_id("chatcmpl").replace("_", "-"),
            "object": "chat.completion.chunk",
            "created": int(clock.now().timestamp()),
            "model": model,
        }
        self._counts = counts
        self._told: dict[int, _Told] = {}
        self._said = self._thought = self._called = self._sealed = 0
        self._text = self._frame("content")
        self._thinking = self._frame("reasoning_content")

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def beat(self) -> bytes:
        return _BEAT

    def fail(self, refusal: Refusal, /) -> bytes:
        return _event(openai_error(refusal))

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        said: list[bytes] = []
        for event in batch:
            if isinstance(event, PartDelta):
                if event.kind != "tool_call":
                    said.append(self._piece(event.index, event.delta, text=event.kind == "text"))
            elif isinstance(event, PartDone):
                said += self._part(event.index, event.part)
            elif isinstance(event, ReplyDone):  # pyright: ignore[reportUnnecessaryIsInstance]
                said += self._end(event)
        return b"".join(said)

    def whole(self, events: Sequence[StreamEvent], /) -> bytes:
        usage, reason = Usage(), None
        for event in events:
            if isinstance(event, ReplyDone):
                usage, reason = usage + event.usage, event.reason
        message = _message(fold(events).parts)
        choice = {"index": 0, "message": message, "logprobs": None}
        return _encode(
            self._head
            | {"object": "chat.completion"}
            | {"choices": [choice | {"finish_reason": reason or "stop"}], "usage": _usage(usage)}
        )

    def _piece(self, index: int, piece: str, *, text: bool) -> bytes:
        told = self._told.get(index) or self._begin(index)
        told.pieces.append(piece)
        if text:
            self._said += len(piece)
        else:
            self._thought += len(piece)
        before, after = self._text if text else self._thinking
        encoded = _encode(piece)
        return before + (encoded if piece.isascii() else one_line(encoded)) + after

    def _begin(self, index: int) -> _Told:
        place = Place(text=self._said, calls=self._called, start=self._thought)
        told = self._told[index] = _Told(place)
        return told

    def _part(self, index: int, part: Part) -> Iterable[bytes]:
        """Whatever of the part has not been told yet: it need not have come in pieces."""
        known = index in self._told
        told = self._told.get(index) or self._begin(index)
        if isinstance(part, ToolCall):
            if not known:
                self._called += 1
                yield self._chunk({"tool_calls": [{"index": self._called - 1, **_call(part)}]})
        elif isinstance(part, Text | Thinking):
            had = "".join(told.pieces)
            if part.text != had and part.text.startswith(had):
                yield self._piece(index, part.text[len(had) :], text=isinstance(part, Text))
            if isinstance(part, Thinking) and part.opaque and not told.sealed:
                told.sealed = True
                detail = thought_detail(self._sealed, told.place, part)
                self._sealed += 1
                yield self._chunk({"reasoning_details": [detail]})

    def _end(self, done: ReplyDone) -> Iterable[bytes]:
        yield self._chunk({}, done.reason)
        if self._counts:
            yield _event(self._head | {"choices": [], "usage": _usage(done.usage)})
        yield _DONE

    def _chunk(self, delta: JsonObject, reason: Reason | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = self._head | {"choices": [choice]}
        return _event(chunk | {"usage": None} if self._counts else chunk)

    def _frame(self, name: str) -> tuple[bytes, bytes]:
        """What stands around a piece of text: it is the same in each chunk, and made once."""
        hole = "\N{REPLACEMENT CHARACTER}"
        before, _, after = self._chunk({name: hole}).rpartition(_encode(hole))
        return before, after


def _event(value: JsonObject) -> bytes:
    return b"data: " + one_line(_encode(value)) + b"\n\n"


def _message(parts: Sequence[Part]) -> JsonObject:
    said, thought = "", ""
    calls: list[JsonObject] = []
    details: list[JsonObject] = []
    for part in parts:
        if isinstance(part, Text):
            said += part.text
        elif isinstance(part, Thinking):
            if part.opaque:
                place = Place(text=len(said), calls=len(calls), start=len(thought))
                details.append(thought_detail(len(details), place, part))
            thought += part.text
        elif isinstance(part, ToolCall):
            calls.append(_call(part))
    empty = None if calls else ""
    message: JsonObject = {"role": "assistant", "content": said or empty, "refusal": None}
    optional: dict[str, Any] = {
        "reasoning_content": thought,
        "reasoning_details": details,
        "tool_calls": calls,
    }
    return message | {name: value for name, value in optional.items() if value}


def _call(call: ToolCall) -> JsonObject:
    """Arguments that were no JSON are told as the model wrote them: `{}` instead could be run."""
    arguments = _encode(call.arguments).decode() if call.malformed is None else call.malformed
    function = {"name": call.name, "arguments": arguments}
    told: JsonObject = {"id": call.id, "type": "function", "function": function}
    return told | ({"extra_content": {MARK: pack(call.opaque)}} if call.opaque else {})


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
