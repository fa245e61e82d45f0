"""Replies in the OpenAI Responses dialect: items that stream by index, to our events.

A message, a thought and a call are items; so are the tools that the vendor runs itself. What the
vendor wants back rides along: thoughts and its own tools whole, messages by what is not their text.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from teahouse.core.codec import encode
from teahouse.core.events import Reason, Usage
from teahouse.core.messages import JsonObject, Text, Thinking
from teahouse.llm.errors import StreamCut
from teahouse.llm.refusal import refusal_in
from teahouse.llm.sse import SseEvent
from teahouse.llm.surrogates import mend_text
from teahouse.llm.wire.fields import as_count, as_object, as_objects, as_text
from teahouse.llm.wire.reply import Block, CallBlock, Reply

_Channel: TypeAlias = Literal["output_text", "refusal", "summary_text", "reasoning_text"]
_FIELDS: Final[dict[str, str]] = {
    "output_text": "text",
    "refusal": "refusal",
    "summary_text": "text",
    "reasoning_text": "text",
}
_THOUGHTS: Final = frozenset({"summary_text", "reasoning_text"})
_TEXTS: Final[dict[str, _Channel]] = {
    "response.output_text": "output_text",
    "response.refusal": "refusal",
    "response.reasoning_summary_text": "summary_text",
    "response.reasoning_text": "reasoning_text",
}
_ARGUMENTS: Final = {
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_CLIENTS: Final = frozenset({"computer_call", "local_shell_call", "apply_patch_call"})
"""Calls that wait for a result which nobody here gives: the vendor must not see them again."""
_OF_A_CALL: Final = frozenset({"type", "call_id", "name", "arguments", "input"})
_STEPS: Final = frozenset(
    f"{stem}.{step}" for stem in (*_TEXTS, *_ARGUMENTS) for step in ("delta", "done")
)
_ITEMS: Final = frozenset({"response.output_item.added", "response.output_item.done"})
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_KNOWN: Final = _STEPS | _ITEMS | _ENDS | {"error"}
_Place: TypeAlias = tuple[_Channel, int]


class _Item(Struct):
    """An item of the reply: `given` is it as it came, `index` where what is kept of it stands."""

    index: int
    given: JsonObject
    call: CallBlock | None = None
    blocks: dict[_Place, Block] = field(default_factory=dict[_Place, Block])
    complete: bool = False
    closed: bool = False

    @property
    def kind(self) -> str:
        return as_text(self.given.get("type"))


class ResponsesStream(Reply):
    def __init__(self, provider: str, model: str, *, input_estimate: int) -> None:
        super().__init__(provider, model, input_estimate=input_estimate)
        self._items: list[_Item] = []
        self._by_place: dict[int, _Item] = {}
        self._reason: Reason = "stop"
        self._refused = False
        self._usage = Usage()

    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        told = self._told(event, _KNOWN, last=last)
        if told is None:
            return
        kind: str = told["type"]
        stem, _, step = kind.rpartition(".")
        if kind in _STEPS:
            self._read_piece(stem, told, done=step == "done")
        elif kind in _ITEMS:
            item = self._item(told, as_object(told.get("item")), begins=step == "added")
            if step == "done":
                self._read_item(item, as_object(told.get("item")))
        elif kind in _ENDS:
            self._read_end(as_object(told.get("response")), step)
        elif told.get("object") == "response":  # the reply in one piece
            self._read_end(told, as_text(told.get("status")))

    def keep(self) -> None:
        for item in self._items:
            self._close(item)

    def end(self) -> None:
        self.keep()
        if not self.done:
            raise StreamCut(self._provider)
        calls, left_out = self._calls_made(cut=self._reason != "stop")
        left_out = left_out and self._reason == "length"  # a filter's cut is told by its reason
        refused = self._refused and self._reason == "stop"
        reason = "content_filter" if refused else self._reason
        self._complete(reason, calls, self._usage, left_out=left_out)

    def _item(self, told: JsonObject, given: JsonObject, *, begins: bool = False) -> _Item:
        """The item that an event is of, by place, by id, or the last one; begun if it is new.
        Ids alone prove nothing: some proxies seal them anew in each event."""
        place, identity = told.get("output_index"), given.get("id") or told.get("item_id")
        found = self._by_place.get(place) if isinstance(place, int) else None
        if found is None and not isinstance(place, int):
            same = [i for i in self._items if identity and i.given.get("id") == identity]
            found = same[0] if same else None
            if found is None and not given and self._items:
                found = self._items[-1]
        elif begins and found is not None:  # some count all their items 0
            self._close(found)
            found = None
        if found is None:
            found = _Item(self.parts.reserve(), given)
            self._items.append(found)
            if found.kind in _CALLS:
                name = as_text(given.get("name"))
                found.call = self._open_call(None, name, {})
        if isinstance(place, int):
            self._by_place[place] = found
        return found

    def _read_piece(self, stem: str, told: JsonObject, *, done: bool) -> None:
        item = self._item(told, {})
        if stem in _ARGUMENTS:
            if item.call is not None:
                item.call.name = item.call.name or as_text(told.get("name"))
                piece = as_text(told.get(_ARGUMENTS[stem] if done else "delta"))
                self._grow(item.call, piece, done=done)
            return
        channel = _TEXTS[stem]
        number = told.get("summary_index" if channel == "summary_text" else "content_index")
        text = as_text(told.get(_FIELDS[channel] if done else "delta"))
        self._say(item, (channel, number if isinstance(number, int) else 0), text, done=done)

    def _say(self, item: _Item, place: _Place, text: str, *, done: bool) -> None:
        channel, _ = place
        if channel in _THOUGHTS:
            if any(other in _THOUGHTS and other != channel for other, _ in item.blocks):
                return  # the same thought in other words
        elif channel == "refusal":
            self._refused = True
        if text and place not in item.blocks:
            item.blocks[place] = self._open("thinking" if channel in _THOUGHTS else "text")
        if place in item.blocks:
            self._grow(item.blocks[place], text, done=done)

    def _grow(self, block: Block, text: str, *, done: bool) -> None:
        """Add a piece; or, of the whole, what no piece has brought."""
        if not done:
            self._add(block, text)
            return
        text = mend_text(text)
        if text.startswith(block.text):
            self._halves.pop(block.index, None)
            self._add(block, text[len(block.text) :])

    def _read_item(self, item: _Item, given: JsonObject) -> None:
        """The item is whole: take what was not streamed of it."""
        item.given, item.complete = given, given.get("status") != "incomplete"
        if item.call is not None:
            self._grow(item.call, as_text(given.get(_CALLS.get(item.kind, ""))), done=True)
        for name in ("summary", "content"):
            for number, content in enumerate(as_objects(given.get(name))):
                channel = content.get("type")
                if channel in _FIELDS:
                    text = as_text(content.get(_FIELDS[channel]))
                    self._say(item, (channel, number), text, done=True)
        self._close(item)

    def _read_end(self, response: JsonObject, how: str) -> None:
        output = as_objects(response.get("output"))
        for item in output[len(self._items) :]:  # what was told nowhere else
            self._read_item(self._item({}, item), item)
        usage = as_object(response.get("usage"))
        details = as_object(usage.get("input_tokens_details"))
        spoken = as_object(usage.get("output_tokens_details"))
        self._usage = Usage(
            input=as_count(usage, "input_tokens"),
            output=as_count(usage, "output_tokens"),
            cached=as_count(details, "cached_tokens"),
            written=as_count(details, "cache_write_tokens"),
            reasoning=as_count(spoken, "reasoning_tokens"),
        )
        if how in {"failed", "cancelled"}:
            raise refusal_in(self._provider, response.get("error") or how)
        if how == "incomplete":
            why = as_object(response.get("incomplete_details")).get("reason")
            self._reason = "content_filter" if why == "content_filter" else "length"
        self.done = how in {"completed", "incomplete"}

    def _close(self, item: _Item) -> None:
        if item.closed:
            return
        item.closed = True
        kept = self._kept(item) if item.complete else None
        for block in item.blocks.values():
            self._add(block, "", last=True)
            if block.kind == "text":
                self.parts.add(block.index, Text(text=block.text))
            else:
                self.parts.add(block.index, Thinking(text=block.text, opaque=kept))
                kept = None
        if item.call is not None:
            self._close_call(item.call, item)
        elif kept:
            self.parts.add(item.index, Thinking(text="", opaque=kept))

    def _close_call(self, call: CallBlock, item: _Item) -> None:
        given = item.given
        call.id = as_text(given.get("call_id")) or as_text(given.get("id")) or None
        call.name = call.name or as_text(given.get("name"))
        call.given = {k: v for k, v in given.items() if k not in _OF_A_CALL and v is not None}
        if item.kind == "custom_tool_call":
            call.given["type"] = item.kind
            if item.complete:  # its input is no JSON but text
                call.pieces = [encode({"input": call.text}).decode()]

    def _kept(self, item: _Item) -> JsonObject | None:
        """What goes back of an item besides its text."""
        if item.kind == "message":
            skeleton = [
                {k: v for k, v in content.items() if k not in {field, "logprobs"}}
                for content in as_objects(item.given.get("content"))
                if content.get(field := _FIELDS.get(as_text(content.get("type")), ""))
            ]
            message = item.given | {"content": skeleton}
            thought = any(other.kind == "reasoning" for other in self._items)
            noted = any(content.get("annotations") for content in skeleton)
            telling = thought or noted or message.get("phase")
            return self._own({"message": message}) if telling else None
        if item.kind in _CALLS or item.kind in _CLIENTS or not item.kind:
            return None
        return self._own({"item": item.given})
