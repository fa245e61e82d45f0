"""Tells a reply as Anthropic's Messages do: blocks, one after another, each begun and ended.

A call is told when it is whole, as nobody knows its name before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from teahouse.core.events import (
    DeltaKind,
    Reason,
    ReplyDone,
    StreamEvent,
    fold,
)
from teahouse.core.ids import new_id
from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, Usage
from teahouse.llm.media import mention
from teahouse.server.gateway.anthropic.sealed import Sealed, seal
from teahouse.server.gateway.broken_call import arguments_of
from teahouse.server.gateway.carry import pack
from teahouse.server.gateway.dialect import Refusal
from teahouse.server.gateway.in_turn import Again, InTurn, Piece, Turn, Whole
from teahouse.server.lines import one_line

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
_NO_THREADS: Final = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
"""By these words Anthropic's client sends whole conversations from then on."""
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
    error: JsonObject = {"type": _KINDS.get(refusal.kind, "api_error"), "message": said}
    if refusal.code == "thread_not_kept":
        error["details"] = _NO_THREADS
    return {"type": "error", "error": error}


class MessagesVoice:
    """`input_estimate`: tokens of the request, told until the real count is known."""

    def __init__(self, model: str, input_estimate: int) -> None:
        self._model, self._input_estimate = model, input_estimate
        self._id = new_id("msg")
        self._turns = InTurn()
        self._late: list[JsonObject] = []  # sealed blocks that wait for the open one to end
        self._thoughts: dict[int, int] = {}  # place among the thoughts, by index of the part
        self._open = False
        self._block = 0  # number of the block that is open or comes next

    def begin(self) -> bytes:
        message = self._message([], None, Usage(input=self._input_estimate))
        return _event("message_start", {"message": message})

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        said: list[bytes] = []
        for event in batch:
            if isinstance(event, ReplyDone):
                self._end(event, said)
                continue
            for turn in self._turns.take(event):
                self._say(turn, said)
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

    def _say(self, turn: Turn, said: list[bytes]) -> None:
        match turn:
            case Piece():
                if not self._open:
                    self._open = True
                    said.append(_begun(self._block, _empty_block(turn.kind)))
                said.append(_SHOWN[turn.kind] % (self._block, _quoted(turn.text)))
            case Whole():
                self._finish(turn, said)
            case Again():
                self._remember(turn)
        if not self._open:
            late, self._late = self._late, []
            for block in late:
                self._tell_block(block, said)

    def _finish(self, turn: Whole, said: list[bytes]) -> None:
        """End the part's block, or tell the whole of one that has none yet."""
        part = turn.part
        if isinstance(part, Thinking) and (part.text or turn.begun):
            self._thoughts[turn.index] = len(self._thoughts)
        if not turn.begun:
            for block in _blocks(part):
                self._tell_block(block, said)
            return
        if turn.rest:
            kind = "thinking" if isinstance(part, Thinking) else "text"
            said.append(_SHOWN[kind] % (self._block, _quoted(turn.rest)))
        if isinstance(part, Thinking):
            said.append(_delta(self._block, _signed(part)))
        self._close(said)

    def _remember(self, turn: Again) -> None:
        """What a vendor wants back with a thought has come after the end of its block."""
        if isinstance(turn.part, Thinking) and turn.part.opaque:
            place = self._thoughts.get(turn.index)
            self._late.append(_sealed_block(Sealed(opaque=turn.part.opaque, thought=place)))

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
        self._open = False
        self._block += 1

    def _end(self, done: ReplyDone, said: list[bytes]) -> None:
        if self._open:  # it never ended: what was shown of it stays
            self._close(said)
        for turn in self._turns.end():
            self._say(turn, said)
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
    """There, what was read from a cache or written into it is no part of `input_tokens`."""
    return {
        "input_tokens": max(usage.input - usage.cached - usage.written, 0),
        "cache_creation_input_tokens": usage.written,
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
