"""Tells a reply in the OpenAI Responses dialect: items that open, grow and close, each event with
its number, and the whole response at both ends.

A call is told in one piece: its id and name are known only once it is whole. Events are joined of
bytes that stay the same for an item, so that a piece of text costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, assert_never

from msgspec import Raw

from teahouse.core import ids
from teahouse.core.codec import encode
from teahouse.core.events import PartDelta, PartDone, Reason, ReplyDone, StreamEvent, Usage, fold
from teahouse.core.messages import JsonObject, Part, Text, Thinking, ToolCall
from teahouse.server.gateway.dialect import Refusal
from teahouse.server.gateway.openai.error import openai_error
from teahouse.server.gateway.openai.responses_items import (
    WORDS,
    Kind,
    Spoken,
    call_item,
    content_of,
    item_of,
    message_item,
    place_of,
    reasoning_item,
    seal_of_call,
    seal_of_thought,
)
from teahouse.server.lines import one_line

_BEAT: Final = b": still here\n\n"
_INCOMPLETE: Final[dict[Reason, str]] = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
}

Keep: TypeAlias = Callable[[str, bytes], None]


class ResponsesVoice:
    """`told` are the fields of the request that the response repeats. `keep` takes the response
    when it is whole, by its id."""

    def __init__(
        self, model: str, created_at: float, told: JsonObject, keep: Keep | None = None
    ) -> None:
        self._keep = keep
        self._id = ids.new_id("resp")
        head = {"id": self._id, "object": "response", "created_at": int(created_at)}
        self._head = encode(head | {"model": model} | told)[:-1]
        self._number = 0
        self._spoken: dict[int, Spoken] = {}  # by the index of the part
        self._output: list[JsonObject] = []  # what is told of each item in the end
        self._said: list[bytes] = []

    def begin(self) -> bytes:
        response = Raw(self._response("in_progress"))
        self._event("response.created", response=response)
        self._event("response.in_progress", response=response)
        return self._take()

    def beat(self) -> bytes:
        return _BEAT

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        for event in batch:
            match event:
                case PartDelta():
                    if event.kind != "tool_call":
                        self._say(self._open(event.index, event.kind), event.delta)
                case PartDone():
                    self._part(event.index, event.part)
                case ReplyDone():
                    self._end(event)
                case _:
                    assert_never(event)
        return self._take()

    def fail(self, refusal: Refusal, /) -> bytes:
        """As clients differ, the error is told in each of the three forms that they look for."""
        error: JsonObject = openai_error(refusal)["error"]
        flat = {name: error[name] for name in ("code", "message", "param")}
        for item in self._spoken.values():
            if not item.closed:
                self._output[item.place] = item_of(item, "".join(item.pieces), "incomplete")
        self._event("error", **flat, error=error)
        told = {"code": error["code"], "message": error["message"]}
        self._event("response.failed", response=Raw(self._response("failed", error=told)))
        return self._take()

    def whole(self, events: Sequence[StreamEvent], /) -> bytes:
        for part in fold(events).parts:
            match part:
                case Text():
                    self._output.append(message_item(self._new_id("msg"), part.text))
                case Thinking():
                    item = reasoning_item(self._new_id("rs"), part.text, part.opaque)
                    self._output.append(item)
                case ToolCall():
                    if part.opaque:
                        seal = seal_of_call(self._new_id("rs"), part.id, part.opaque)
                        self._output.append(seal)
                    self._output.append(call_item(self._new_id("fc"), part))
                case _:
                    pass
        done = next((event for event in events if isinstance(event, ReplyDone)), None)
        return self._finished(done or ReplyDone(reason="stop"))

    def _part(self, index: int, part: Part) -> None:
        match part:
            case Text():
                self._close(self._open(index, "text"), part.text)
            case Thinking():
                item = self._open(index, "thinking")
                if not item.closed:
                    item.opaque = part.opaque
                    self._close(item, part.text)
                elif part.opaque and part.opaque != item.opaque:  # known only after its end
                    item.opaque = part.opaque
                    self._quiet(seal_of_thought(self._new_id("rs"), item.id, part.opaque))
            case ToolCall():
                if part.opaque:
                    self._quiet(seal_of_call(self._new_id("rs"), part.id, part.opaque))
                self._call(part)
            case _:
                pass

    def _open(self, index: int, kind: Kind) -> Spoken:
        item = self._spoken.get(index)
        if item is not None:
            return item
        item = Spoken(self._new_id(WORDS[kind].prefix), kind, len(self._output))
        self._spoken[index] = item
        told = item_of(item, "", "in_progress")
        self._output.append(told)
        begun: JsonObject = told | {"content": []} if kind == "text" else told
        self._event("response.output_item.added", output_index=item.place, item=begun)
        return item

    def _say(self, item: Spoken, piece: str) -> None:
        if not piece or item.closed:
            return
        if not item.delta:
            self._begin_text(item)
        item.pieces.append(piece)
        self._said.append(
            b'%s%s,"sequence_number":%d}\n\n' % (item.delta, encode(piece), self._number)
        )
        self._number += 1

    def _begin_text(self, item: Spoken) -> None:
        words = WORDS[item.kind]
        self._event(f"{words.part}.added", **place_of(item), part=content_of(item.kind, ""))
        kind = f"{words.text}.delta"
        constant = encode({"type": kind} | place_of(item) | words.extra)[:-1]
        item.delta = b'event: %s\ndata: %s,"delta":' % (kind.encode(), constant)

    def _close(self, item: Spoken, text: str, status: str = "completed") -> None:
        """End the item with `text` as its truth; what was told of it may fall short of that."""
        if item.closed:
            return
        told = "".join(item.pieces)
        if text.startswith(told):
            self._say(item, text[len(told) :])
        if item.kind == "text" and not item.delta:
            self._begin_text(item)
        words, place = WORDS[item.kind], place_of(item)
        if item.delta:
            self._event(f"{words.text}.done", **place, **words.extra, text=text)
            self._event(f"{words.part}.done", **place, part=content_of(item.kind, text))
        item.closed = True
        self._done(item.place, item_of(item, text, status))

    def _call(self, call: ToolCall) -> None:
        item, place = call_item(self._new_id("fc"), call), len(self._output)
        arguments: str = item["arguments"]
        self._output.append(item)
        begun = item | {"arguments": "", "status": "in_progress"}
        self._event("response.output_item.added", output_index=place, item=begun)
        where = {"item_id": item["id"], "output_index": place}
        stem = "response.function_call_arguments"
        self._event(f"{stem}.delta", **where, delta=arguments)
        self._event(f"{stem}.done", **where, name=call.name, arguments=arguments)
        self._done(place, item)

    def _quiet(self, item: JsonObject) -> None:
        """An item without a word, for what it bears."""
        place = len(self._output)
        self._output.append(item)
        begun = item | {"status": "in_progress"}
        self._event("response.output_item.added", output_index=place, item=begun)
        self._done(place, item)

    def _done(self, place: int, item: JsonObject) -> None:
        self._output[place] = item
        self._event("response.output_item.done", output_index=place, item=item)

    def _end(self, done: ReplyDone) -> None:
        for item in self._spoken.values():
            self._close(item, "".join(item.pieces), "incomplete")
        kind = "response.incomplete" if done.reason in _INCOMPLETE else "response.completed"
        self._event(kind, response=Raw(self._finished(done)))

    def _finished(self, done: ReplyDone) -> bytes:
        why = _INCOMPLETE.get(done.reason)
        response = self._response(
            "incomplete" if why else "completed",
            incomplete_details={"reason": why} if why else None,
            usage=_usage(done.usage),
        )
        if self._keep is not None:
            self._keep(self._id, response)
        return response

    def _response(self, status: str, **fields: object) -> bytes:
        rest: JsonObject = {"error": None, "incomplete_details": None, "usage": None}
        rest |= {"status": status, "output": self._output} | fields
        return self._head + b"," + encode(rest)[1:]

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{self._id[5:]}_{len(self._output)}"

    def _event(self, kind: str, **fields: object) -> None:
        data = encode({"type": kind, **fields, "sequence_number": self._number})
        self._said.append(b"event: %s\ndata: %s\n\n" % (kind.encode(), data))
        self._number += 1

    def _take(self) -> bytes:
        said = b"".join(self._said)
        self._said.clear()
        return said if said.isascii() else one_line(said)


def _usage(usage: Usage) -> JsonObject:
    asked = {"cached_tokens": usage.cached, "cache_write_tokens": usage.written}
    return {
        "input_tokens": usage.input,
        "input_tokens_details": asked,
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
