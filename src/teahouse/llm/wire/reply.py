"""What the replies of all dialects have in common: events go in, ours come out, and one end."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Container, Hashable
from typing import Any, Final, cast

import msgspec
from msgspec import Struct, field

from teahouse.core.events import DeltaKind, Reason, ReplyDone, StreamEvent, Usage
from teahouse.core.messages import JsonObject, ToolCall
from teahouse.llm.errors import Malformed, StreamCut
from teahouse.llm.parts import PartsBuilder
from teahouse.llm.refusal import refusal_in
from teahouse.llm.sse import SseEvent
from teahouse.llm.surrogates import HALF, mend_text
from teahouse.llm.tokens import estimate_parts
from teahouse.llm.tool_calls import left_out_when_cut, read_call

_SHOWN: Final = 120  # bytes of a broken event that the error quotes


class Block(Struct):
    """A part that streams beside others, each under its dialect's own key."""

    index: int
    kind: DeltaKind
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class CallBlock(Block):
    """A tool call; `given` is what else the vendor wants to see again with it."""

    id: str | None = None
    name: str = ""
    given: JsonObject = field(default_factory=dict[str, Any])


class Reply(ABC):
    """Feed it events; after each read `take` the `StreamEvent`s. Does no I/O.

    `input_estimate` is what the tokens of the request count for where the endpoint reports none.
    """

    def __init__(self, provider: str, model: str, *, input_estimate: int) -> None:
        self.parts = PartsBuilder()
        self.done = False  # the dialect's last event has come
        self._provider, self._origin = provider, f"{provider}/{model}"
        self._input_estimate = input_estimate
        self._halves: dict[Hashable, str] = {}
        self._call_blocks: list[CallBlock] = []  # in the order in which they began

    @property
    def finished(self) -> bool:
        """The reply is whole, though counts may still come."""
        return self.done

    @abstractmethod
    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        """Take one event; `last` when the connection ended with it. Raises `ProviderError`."""

    @abstractmethod
    def keep(self) -> None:
        """Complete what was said so far; also when an error comes next."""

    @abstractmethod
    def end(self) -> None:
        """The stream has ended: complete the parts and the reply, or raise `StreamCut`."""

    def take(self) -> list[StreamEvent]:
        return self.parts.take()

    def _told(self, event: SseEvent, known: Container[str], *, last: bool) -> JsonObject | None:
        """What an event says, its `type` always given; None for one that is not of the dialect:
        of a name not `known` here and no JSON, or the end of another dialect that some add.
        Raises what an error object speaks of."""
        if event.data.strip() == b"[DONE]":
            return None
        try:
            told = self._decode(event.data, last=last)
        except Malformed:
            if event.name and event.name not in known:
                return None
            raise
        if not isinstance(told.get("type"), str):
            told["type"] = event.name
        if told["type"] == "error" or (told.get("error") and not told["type"]):
            raise refusal_in(self._provider, told.get("error") or told)
        return told

    def _decode(self, data: bytes, *, last: bool) -> JsonObject:
        try:
            chunk: Any = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            chunk = self._decode_loosely(data, last=last)
        except RecursionError:  # nested deeper than anything sane
            chunk = None
        if not isinstance(chunk, dict):
            raise Malformed(self._provider, data[:_SHOWN].decode("utf-8", "replace"))
        return cast("JsonObject", chunk)

    def _decode_loosely(self, data: bytes, *, last: bool) -> Any:
        """Python's own parser takes half surrogates and NaN, and bad bytes become U+FFFD."""
        text = data.decode("utf-8", "replace")
        try:
            return json.loads(text, strict=False)
        except RecursionError:
            return None
        except ValueError as error:
            if last:
                raise StreamCut(self._provider) from error
            raise Malformed(self._provider, text[:_SHOWN]) from error

    def _whole(self, channel: Hashable, text: str, *, last: bool = False) -> str:
        """`text` without a half character at its end: the other half comes with the next piece."""
        if text.isascii() and not self._halves:
            return text
        text = self._halves.pop(channel, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff" and not last:
            self._halves[channel], text = text[-1], text[:-1]
        return mend_text(text) if HALF.search(text) else text

    def _open(self, kind: DeltaKind) -> Block:
        return Block(self.parts.reserve(), kind)

    def _open_call(self, identity: str | None, name: str, given: JsonObject) -> CallBlock:
        block = CallBlock(self.parts.reserve(), "tool_call", [], identity, name, given)
        self._call_blocks.append(block)
        return block

    def _calls_made(self, *, cut: bool) -> tuple[list[tuple[int, ToolCall]], bool]:
        """The calls with their indices, and whether one was left out, as `cut` off on its way."""
        calls: list[tuple[int, ToolCall]] = []
        left_out = False
        for block in self._call_blocks:
            call = read_call(block.id, block.name, block.text, self._own(block.given))
            last = block is self._call_blocks[-1]
            if cut and left_out_when_cut(block.text, call, last=last):
                left_out = True
            else:
                calls.append((block.index, call))
        return calls, left_out

    def _add(self, block: Block, text: str, *, last: bool = False) -> None:
        text = self._whole(block.index, text, last=last)
        if text:
            block.pieces.append(text)
            self.parts.delta(block.index, block.kind, text)

    def _own(self, given: JsonObject | None) -> JsonObject | None:
        """`given` as a part bears it: it goes back to where it came from and to no other."""
        return {"origin": self._origin, "given": given} if given else None

    def _complete(
        self,
        reason: Reason,
        calls: list[tuple[int, ToolCall]],
        usage: Usage,
        *,
        left_out: bool = False,
    ) -> None:
        """Add the calls and the one `ReplyDone`. `left_out`: some call's arguments were cut."""
        for index, call in calls:
            self.parts.add(index, call)
        if calls and reason == "stop":
            reason = "tool_calls"
        if not (usage.input or usage.output):
            output = estimate_parts(self.parts.parts.values())
            usage = Usage(input=self._input_estimate, output=output, estimated=True)
        problem = "invalid_tool_args" if left_out else None
        self.parts.tell(ReplyDone(reason=reason, usage=usage, problem=problem))
