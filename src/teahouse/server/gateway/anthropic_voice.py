"""Tells a reply as Anthropic's Messages do: blocks, one after another, each begun and ended.

Parts may come side by side, blocks may not: a part waits for the ones before it that are open. A
call is told when it is whole, as nobody knows its name before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct, field

from teahouse.core.events import (
    DeltaKind,
    PartDelta,
    PartDone,
    Reason,
    ReplyDone,
    StreamEvent,
    fold,
)
from teahouse.core.ids import new_id
from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, Usage
from teahouse.llm.media import mention
from teahouse.server.gateway.anthropic_sealed import Sealed, seal
from teahouse.server.gateway.broken_call import arguments_of
from teahouse.server.gateway.carry import pack
from teahouse.server.gateway.dialect import Refusal
from teahouse.server.sse import one_line

_STOPS: Final[dict[Reason, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_KINDS: Final = {
    "authentication": "authentication_error",
    "permission": "permission_error",
    "not_found": "not_found_error",
    "too_large": "request_too_large",
    "rate_limit": "rate_limit_error",
    "quota": "billing_error",
    "invalid_request": "invalid_request_error",
    "context_too_long": "invalid_request_error",
    "content_filter": "invalid_request_error",
    "overloaded": "overloaded_error",
    "timeout": "timeout_error",
}  # every other one is an api_error
_TOO_LONG: Final = "prompt is too long: "  # by these words clients know that they must shorten it
_PING: Final = b'event: ping\ndata: {"type":"ping"}\n\n'
_DELTA: Final = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,'
_SHOWN: Final[dict[DeltaKind, bytes]] = {
    "text": _DELTA + b'"delta":{"type":"text_delta","text":%s}}\n\n',
    "thinking": _DELTA + b'"delta":{"type":"thinking_delta","thinking":%s}}\n\n',
}


def refusal_body(refusal: Refusal) -> JsonObject:
    said = refusal.message
    if refusal.kind == "context_too_long":
        said = _TOO_LONG + said
    error = {"type": _KINDS.get(refusal.kind, "api_error"), "message": said}
    return {"type": "error", "error": error}


class _Coming(Struct):
    """A part of which something has come; `shown` is how much of `pieces` has been told."""

    kind: DeltaKind | None
    pieces: list[str] = field(default_factory=list[str])
    shown: int = 0
    done: Part | None = None


class MessagesVoice:
    """`input_estimate`: tokens of the request, told until the real count is known."""

    def __init__(self, model: str, input_estimate: int) -> None:
        self._model, self._input_estimate = model, input_estimate
        self._id = new_id("msg")
        self._coming: dict[int, _Coming] = {}
        self._told: dict[int, Part] = {}
        self._late: list[JsonObject] = []
        self._thoughts: dict[int, int] = {}  # place among the thoughts, by index of the part
        self._open: int | None = None  # index of the part whose block has begun
        self._block = 0  # number of the block that is open or comes next

    def begin(self) -> bytes:
        message = self._message([], None, Usage(input=self._input_estimate))
        return _event("message_start", {"message": message})

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        said: list[bytes] = []
        for event in batch:
            match event:
                case PartDelta():
                    if event.index not in self._told:
                        coming = self._coming.setdefault(event.index, _Coming(event.kind))
                        coming.pieces.append(event.delta)
                        self._go_on(said)
                case PartDone():
                    self._take(event.index, event.part)
                    self._go_on(said)
                case ReplyDone():
                    self._end(event, said)
        return b"".join(said)

    def beat(self) -> bytes:
        return _PING

    def fail(self, refusal: Refusal, /) -> bytes:
        return _event("error", refusal_body(refusal))

    def whole(self, events: Sequence[StreamEvent], /) -> bytes:
        done = next((event for event in events if isinstance(event, ReplyDone)), None)
        blocks = [block for part in fold(events).parts for block in _blocks(part)]
        reason, usage = (done.reason, done.usage) if done else ("stop", Usage())
        return msgspec.json.encode(self._message(blocks, _STOPS[reason], usage))

    def _message(self, content: list[JsonObject], stop: str | None, usage: Usage) -> JsonObject:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": _usage(usage),
        }

    def _take(self, index: int, part: Part) -> None:
        known = self._told.get(index)
        if known is None:
            self._coming.setdefault(index, _Coming(None)).done = part
        elif isinstance(part, Thinking) and part.opaque and isinstance(known, Thinking):
            # what its vendor wants back has come after its end
            sealed = Sealed(opaque=part.opaque, thought=self._thoughts.get(index))
            if part.opaque != known.opaque:
                self._late.append(_sealed_block(sealed))
                self._told[index] = part

    def _go_on(self, said: list[bytes]) -> None:
        """Tell what may be told now: of the open part, then of those that come first."""
        while True:
            if self._open is None:
                for block in self._late:
                    self._tell_block(block, said)
                self._late.clear()
                if not self._coming:
                    return
            index = min(self._coming) if self._open is None else self._open
            coming = self._coming[index]
            self._show(index, coming, said)
            if coming.done is None:
                return
            self._finish(index, coming.done, said)

    def _show(self, index: int, coming: _Coming, said: list[bytes]) -> None:
        """The pieces that are new, of what can be shown in pieces."""
        kind = coming.kind
        if kind is None or kind == "tool_call" or coming.shown == len(coming.pieces):
            return
        if self._open is None:
            self._open = index
            said.append(_begun(self._block, _empty_block(kind)))
        new = coming.pieces[coming.shown :]
        said += [_SHOWN[kind] % (self._block, _quoted(piece)) for piece in new]
        coming.shown = len(coming.pieces)

    def _finish(self, index: int, part: Part, said: list[bytes]) -> None:
        """End the part's block, or tell the whole of one that has none yet."""
        coming = self._coming.pop(index)
        self._told[index] = part
        if isinstance(part, Thinking) and (part.text or coming.shown):
            self._thoughts[index] = len(self._thoughts)
        if self._open is None:
            for block in _blocks(part):
                self._tell_block(block, said)
            return
        if isinstance(part, Text | Thinking):
            shown = "".join(coming.pieces)
            if part.text != shown and part.text.startswith(shown):
                rest = part.text[len(shown) :]
                said.append(_SHOWN[coming.kind or "text"] % (self._block, _quoted(rest)))
        if isinstance(part, Thinking):
            said.append(_delta(self._block, _signed(part)))
        self._close(said)

    def _tell_block(self, block: JsonObject, said: list[bytes]) -> None:
        """A whole block in the pieces that clients expect."""
        match block["type"]:
            case "text":
                begun: JsonObject = _empty_block("text")
                deltas: list[JsonObject] = [{"type": "text_delta", "text": block["text"]}]
            case "thinking":
                begun = _empty_block("thinking")
                thought = {"type": "thinking_delta", "thinking": block["thinking"]}
                signed = {"type": "signature_delta", "signature": block["signature"]}
                deltas = [thought, signed]
            case "tool_use":
                begun = block | {"input": {}}
                arguments = msgspec.json.encode(block["input"]).decode()
                deltas = [{"type": "input_json_delta", "partial_json": arguments}]
            case _:
                begun, deltas = block, []
        said.append(_begun(self._block, begun))
        said += [_delta(self._block, delta) for delta in deltas]
        self._close(said)

    def _close(self, said: list[bytes]) -> None:
        said.append(_event("content_block_stop", {"index": self._block}))
        self._open = None
        self._block += 1

    def _end(self, done: ReplyDone, said: list[bytes]) -> None:
        if self._open is not None:  # it never ended: what was shown of it stays
            self._coming.pop(self._open)
            self._close(said)
        # what is still not whole is no part of the reply, and nothing waits for it any more
        self._coming = {i: part for i, part in self._coming.items() if part.done is not None}
        self._go_on(said)
        delta = {"stop_reason": _STOPS[done.reason], "stop_sequence": None}
        said.append(_event("message_delta", {"delta": delta, "usage": _usage(done.usage)}))
        said.append(_event("message_stop", {}))


def _blocks(part: Part) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    match part:
        case Text(text=text) if text:
            blocks.append({"type": "text", "text": text})
        case Thinking(text=text, opaque=opaque):
            if text:
                signature = pack(opaque or {})
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            elif opaque:
                blocks.append(_sealed_block(Sealed(opaque=opaque)))
        case ToolCall():
            if part.opaque:
                blocks.append(_sealed_block(Sealed(opaque=part.opaque, call=part.id)))
            call = {"type": "tool_use", "id": part.id, "name": part.name}
            blocks.append(call | {"input": arguments_of(part)})
        case Blob():
            blocks.append({"type": "text", "text": mention(part)})
        case _:
            pass
    return blocks


def _sealed_block(sealed: Sealed) -> JsonObject:
    return {"type": "redacted_thinking", "data": seal(sealed)}


def _signed(part: Thinking) -> JsonObject:
    """Always: there are clients that drop a thought without a signature, and vendors that want
    their thoughts back although they sign none."""
    return {"type": "signature_delta", "signature": pack(part.opaque or {})}


def _empty_block(kind: DeltaKind) -> JsonObject:
    if kind == "text":
        return {"type": "text", "text": ""}
    return {"type": "thinking", "thinking": "", "signature": ""}


def _usage(usage: Usage) -> JsonObject:
    """There, what came out of a cache is no part of `input_tokens`."""
    return {
        "input_tokens": max(usage.input - usage.cached, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }


def _quoted(text: str) -> bytes:
    return one_line(msgspec.json.encode(text))


def _begun(block: int, given: JsonObject) -> bytes:
    return _event("content_block_start", {"index": block, "content_block": given})


def _delta(block: int, delta: JsonObject) -> bytes:
    return _event("content_block_delta", {"index": block, "delta": delta})


def _event(kind: str, fields: JsonObject) -> bytes:
    data = one_line(msgspec.json.encode({"type": kind, **fields}))
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), data)
