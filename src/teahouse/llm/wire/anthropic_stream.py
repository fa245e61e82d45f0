"""Replies in the Anthropic dialect: blocks that stream by index, to our events.

What the vendor signs (thoughts) or does itself (searching, running code) is kept block by block
in the order it came, so that it can go back as it was. Unknown events, deltas and blocks break
nothing.
"""

from __future__ import annotations

from typing import Any, Final, cast

from msgspec import Struct

from teahouse.core.events import Reason, Usage
from teahouse.core.messages import JsonObject, Text, Thinking
from teahouse.llm.errors import StreamCut
from teahouse.llm.sse import SseEvent
from teahouse.llm.tool_calls import read_object
from teahouse.llm.wire.fields import as_count, as_object, as_objects, as_text
from teahouse.llm.wire.reply import Block, Reply

_REASONS: Final[dict[str, Reason]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}  # every other one is an end by itself
_KNOWN: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "message",  # what an event without a name is called
    }
)
_OF_A_CALL: Final = frozenset({"type", "id", "name", "input"})
_PIECES: Final = "input pieces"  # no field's name
_BEGUN_BY: Final = {"text_delta": "text", "thinking_delta": "thinking"}


class _Part(Struct):
    """A block that is still coming. `given` is the block as it began, with what was added since;
    `block` is what is shown of it, None for what only the vendor understands."""

    index: int
    given: JsonObject
    block: Block | None


class AnthropicStream(Reply):
    """`answer` is the tool whose arguments are the text of the reply."""

    def __init__(
        self, provider: str, model: str, *, input_estimate: int, answer: str | None = None
    ) -> None:
        super().__init__(provider, model, input_estimate=input_estimate)
        self._answer = answer
        self._coming: dict[int, _Part] = {}
        self._stop = ""
        self._usage = Usage()

    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        told = self._told(event, _KNOWN, last=last)
        if told is not None:
            self._read(told["type"], told)

    def _read(self, kind: str, told: JsonObject) -> None:
        """One event; those that are not named here (ping, and what is to come) say nothing."""
        match kind:
            case "message_start":
                self._count(as_object(as_object(told.get("message")).get("usage")))
            case "content_block_start":
                self._begin(told.get("index"), as_object(told.get("content_block")))
            case "content_block_delta":
                self._grow(told.get("index"), as_object(told.get("delta")))
            case "content_block_stop":
                self._close_one(told.get("index"))
            case "message_delta":
                self._turn(as_object(told.get("delta")), as_object(told.get("usage")))
            case "message_stop":
                self.done = True
            case "message":
                self._read_whole(told)
            case _:
                pass

    def keep(self) -> None:
        for index in tuple(self._coming):
            self._close_one(index)

    def end(self) -> None:
        self.keep()
        if not self.done:
            raise StreamCut(self._provider)
        reason = _REASONS.get(self._stop, "stop")
        calls, left_out = self._calls_made(cut=reason != "stop")
        left_out = left_out and reason == "length"  # a filter's cut is told by its reason
        self._complete(reason, calls, self._usage, left_out=left_out)

    def _read_whole(self, message: JsonObject) -> None:
        """The reply in one piece, from an endpoint that does not stream."""
        for index, block in enumerate(as_objects(message.get("content"))):
            self._begin(index, block)
            self._close_one(index)
        self._turn(message, as_object(message.get("usage")))
        self.done = True

    def _turn(self, told: JsonObject, usage: JsonObject) -> None:
        stop = told.get("stop_reason")
        self._stop = stop if isinstance(stop, str) else self._stop
        self._count(usage)

    def _begin(self, index: object, given: JsonObject) -> None:
        kind = given.get("type")
        if not isinstance(kind, str):
            return
        place = index if isinstance(index, int) else max(self._coming, default=-1) + 1
        self._close_one(place)  # some number all their blocks 0
        match kind:
            case "text" | "thinking":
                block = self._open(kind)
                self._coming[place] = _Part(block.index, given, block)
                self._add(block, as_text(given.get(kind)))
            case "tool_use" if given.get("name") == self._answer:
                block = self._open("text")
                self._coming[place] = _Part(block.index, given, block)
            case "tool_use":
                extra = {k: v for k, v in given.items() if k not in _OF_A_CALL and v is not None}
                name = as_text(given.get("name"))
                block = self._open_call(as_text(given.get("id")) or None, name, extra)
                self._coming[place] = _Part(block.index, given, block)
            case _:
                self._coming[place] = _Part(self.parts.reserve(), given, None)

    def _grow(self, index: object, delta: JsonObject) -> None:
        kind = str(delta.get("type"))
        if not isinstance(index, int):
            index = max(self._coming, default=0)
        if index not in self._coming and kind in _BEGUN_BY:  # its beginning was left out
            self._begin(index, {"type": _BEGUN_BY[kind]})
        part = self._coming.get(index)
        if part is None:
            return
        given = part.given
        match kind:
            case "text_delta" | "thinking_delta" if part.block is not None:
                self._add(part.block, as_text(delta.get(kind.removesuffix("_delta"))))
            case "input_json_delta" if part.block is not None:
                self._add(part.block, as_text(delta.get("partial_json")))
            case "input_json_delta":
                given[_PIECES] = given.get(_PIECES, "") + as_text(delta.get("partial_json"))
            case "signature_delta":
                signature = as_text(given.get("signature"))
                given["signature"] = signature + as_text(delta.get("signature"))
            case "citations_delta":
                known = as_objects(given.get("citations"))
                given["citations"] = [*known, *as_objects([delta.get("citation")])]
            case _:
                pass

    def _close_one(self, index: object) -> None:
        part = self._coming.pop(index, None) if isinstance(index, int) else None
        if part is None and index is None and self._coming:
            _, part = self._coming.popitem()
        if part is None:
            return
        block, given = part.block, part.given
        if block is None:
            self._keep_raw(part)
            return
        if not block.text and given.get("input"):  # the whole of it came at once
            self._add(block, as_text(given["input"]))
        self._add(block, "", last=True)
        if block.kind == "thinking":
            signed = {k: v for k, v in given.items() if k != "thinking"}
            opaque = self._own(signed) if given.get("signature") else None
            if block.text or opaque:
                self.parts.add(block.index, Thinking(text=block.text, opaque=opaque))
        elif block.kind == "text" and block.text:
            self.parts.add(block.index, Text(text=block.text))
            if given.get("citations"):
                self._remember(self.parts.reserve(), {"citations": given["citations"]})

    def _keep_raw(self, part: _Part) -> None:
        """A sealed thought, or a tool that the vendor runs, with what came of it."""
        given = part.given
        pieces = cast("str", given.pop(_PIECES, ""))
        if pieces.strip():
            told: Any = read_object(pieces)
            if told is None:
                return
            given["input"] = told
        self._remember(part.index, given)

    def _remember(self, index: int, given: JsonObject) -> None:
        self.parts.add(index, Thinking(text="", opaque=self._own(given)))

    def _count(self, usage: JsonObject) -> None:
        """Counts are of the whole so far: each replaces the one before it. Of the input there are
        three, none of which is part of another."""
        known = self._usage
        fresh = as_count(usage, "input_tokens") or known.input - known.cached - known.written
        cached = as_count(usage, "cache_read_input_tokens") or known.cached
        written = as_count(usage, "cache_creation_input_tokens") or known.written
        output = usage.get("output_tokens")
        self._usage = Usage(
            input=fresh + cached + written,
            output=output if isinstance(output, int) else known.output,
            cached=cached,
            written=written,
        )
