"""Tells a reply as Ollama does: an object a line, the last one with the counts and durations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from teahouse.core.clock import Clock
from teahouse.core.events import Reason, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall
from teahouse.llm.media import mention
from teahouse.server.gateway.broken_call import arguments_of
from teahouse.server.gateway.carry import pack
from teahouse.server.gateway.dialect import Refusal
from teahouse.server.gateway.in_turn import InTurn, Piece, Turn, Whole
from teahouse.server.gateway.ollama.read import CARRIED
from teahouse.server.lines import one_line

_STOPS: Final[dict[Reason, str]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "stop",
    "content_filter": "content_filter",
}
_NANOSECONDS: Final = 1_000_000_000
_HEAD: Final = b'{"model":%s,"created_at":"%s",'
_TEXT: Final = _HEAD + b'"message":{"role":"assistant","content":%s},"done":false}\n'
_THOUGHT: Final = (
    _HEAD + b'"message":{"role":"assistant","content":"","thinking":%s},"done":false}\n'
)
_PIECES: Final = {
    (True, "text"): _TEXT,
    (True, "thinking"): _THOUGHT,
    (False, "text"): _HEAD + b'"response":%s,"done":false}\n',
    (False, "thinking"): _HEAD + b'"response":"","thinking":%s,"done":false}\n',
}


class OllamaVoice:
    """`chats`: the text stands in a message, as of `/api/chat`; else it is a `response`. `loads`:
    nothing was asked, and the client only wants the model to be ready."""

    def __init__(self, model: str, clock: Clock, *, chats: bool, loads: bool = False) -> None:
        self._model, self._clock, self._chats = model, clock, chats
        self._stops: Mapping[Reason, str] = {**_STOPS, "stop": "load"} if loads else _STOPS
        self._quoted_model = msgspec.json.encode(model)
        self._asked_at = clock.monotonic()
        self._first_at: float | None = None
        self._turns = InTurn()
        self._calls = 0

    def begin(self) -> bytes:
        return b""

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        if self._first_at is None and batch:
            self._first_at = self._clock.monotonic()
        return b"".join(line for event in batch for line in self._lines(event))

    def beat(self) -> bytes:
        return self._line(self._said())

    def fail(self, refusal: Refusal, /) -> bytes:
        return refusal_line(refusal) + b"\n"

    def whole(self, events: Sequence[StreamEvent], /) -> bytes:
        done = next((event for event in events if isinstance(event, ReplyDone)), None)
        parts = fold(events).parts
        calls = [part for part in parts if isinstance(part, ToolCall)]
        thought = "".join(part.text for part in parts if isinstance(part, Thinking))
        text = "".join(map(_text, parts))
        return self._object(self._said(text, thought, calls), self._end(done))

    def _lines(self, event: StreamEvent) -> list[bytes]:
        if isinstance(event, ReplyDone):
            rest = [self._turn(turn) for turn in self._turns.end()]
            return [*rest, self._line(self._said(), self._end(event))]
        return [self._turn(turn) for turn in self._turns.take(event)]

    def _turn(self, turn: Turn) -> bytes:
        match turn:
            case Piece():
                return self._piece(turn.kind, turn.text)
            case Whole(part=ToolCall() as call):
                self._calls += 1
                return self._line(self._said(calls=[call], first=self._calls - 1))
            case Whole(part=Blob() as blob):
                return self._piece("text", mention(blob))
            case Whole() if turn.rest:
                kind = "thinking" if isinstance(turn.part, Thinking) else "text"
                return self._piece(kind, turn.rest)
            case _:
                return b""

    def _piece(self, kind: Literal["text", "thinking"], piece: str) -> bytes:
        """The line that comes most, written without building it up."""
        form = _PIECES[self._chats, kind]
        said = msgspec.json.encode(piece)
        return one_line(form % (self._quoted_model, self._now().encode(), said))

    def _said(
        self, text: str = "", thought: str = "", calls: Sequence[ToolCall] = (), first: int = 0
    ) -> JsonObject:
        """`first`: the place of the first of `calls` among all."""
        thinking = {"thinking": thought} if thought else {}
        if not self._chats:
            return {"response": text, **thinking}
        message: JsonObject = {"role": "assistant", "content": text, **thinking}
        if calls:
            message["tool_calls"] = [_call(first + n, call) for n, call in enumerate(calls)]
        return {"message": message}

    def _end(self, done: ReplyDone | None) -> JsonObject:
        end = self._clock.monotonic()
        first = end if self._first_at is None else self._first_at
        reason: Reason = "stop" if done is None else done.reason
        return {
            "done": True,
            "done_reason": self._stops[reason],
            "total_duration": _nanoseconds(end - self._asked_at),
            "load_duration": 0,
            "prompt_eval_count": done.usage.input if done else 0,
            "prompt_eval_duration": _nanoseconds(first - self._asked_at),
            "eval_count": done.usage.output if done else 0,
            "eval_duration": _nanoseconds(end - first),
        }

    def _line(self, said: JsonObject, end: JsonObject | None = None) -> bytes:
        return self._object(said, end or {"done": False}) + b"\n"

    def _object(self, said: JsonObject, end: JsonObject) -> bytes:
        head = {"model": self._model, "created_at": self._now()}
        return one_line(msgspec.json.encode({**head, **said, **end}))

    def _now(self) -> str:
        return self._clock.now().isoformat().replace("+00:00", "Z")


def refusal_line(refusal: Refusal) -> bytes:
    return one_line(msgspec.json.encode({"error": refusal.message}))


def _text(part: Part) -> str:
    if isinstance(part, Blob):
        return mention(part)
    return part.text if isinstance(part, Text) else ""


def _call(place: int, call: ToolCall) -> JsonObject:
    function = {"index": place, "name": call.name, "arguments": arguments_of(call)}
    told: JsonObject = {"id": call.id, "index": place, "function": function}  # litellm reads this
    return told | ({CARRIED: pack(call.opaque)} if call.opaque else {})


def _nanoseconds(seconds: float) -> int:
    return round(seconds * _NANOSECONDS)
