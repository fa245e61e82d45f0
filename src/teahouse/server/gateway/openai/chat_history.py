"""The messages of OpenAI's chat dialect, ours again: also what was told of a reply before.

A thought that its vendor wants back travels in `reasoning_details`, a call's own in
`extra_content`: clients give both back with the message though they know nothing of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final, cast

from msgspec import Struct

from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from teahouse.llm.tool_calls import arguments_text, read_call
from teahouse.llm.wire.fields import as_object, as_objects
from teahouse.server.gateway.carry import pack, unpack
from teahouse.server.gateway.fields import Fields
from teahouse.server.gateway.pictures import Media

MARK: Final = "teahouse"
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_KINDS: Final = ("text", "refusal", "image_url", "input_audio", "file")
_SOUNDS: Final = {"mp3": "audio/mpeg", "wav": "audio/wav"}


class Place(Struct, frozen=True, kw_only=True):
    """Where a thought stands in its message: after how many characters of text and how many
    calls, and where it begins in all that was thought."""

    text: int
    calls: int
    start: int


class _Thought(Struct, frozen=True, kw_only=True):
    place: Place
    end: int
    checksum: int
    opaque: JsonObject


def thought_detail(index: int, place: Place, thought: Thinking) -> JsonObject:
    """`index` lets clients tell the details of a stream apart when they put it together."""
    end = place.start + len(thought.text)
    at = [place.text, place.calls, place.start, end, _checksum(thought.text)]
    return {"type": MARK, "index": index, "data": pack({"at": at, "opaque": thought.opaque})}


class ChatHistory:
    """`media` holds what the messages brought along."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.media = Media()
        self._waiting: dict[str, str] = {}  # ids of the calls that were made before there were any

    def read(self, fields: Fields) -> None:
        if not fields.has("messages"):
            fields.missing("messages")
        messages = list(fields.objects("messages"))
        if not messages:
            fields.wrong("messages", "object[] (length ≥ 1)")
        speakers = {m.text("name") for m in messages if m.raw("role") == "user"}
        for message in messages:
            self._read(message, several=len(speakers) > 1)

    def _read(self, message: Fields, *, several: bool) -> None:
        if not message.has("role"):
            message.missing("role")
        name = message.choice("role", tuple(_ROLES))
        role = _ROLES[str(name)]
        if role == "assistant":
            parts = self._spoken(message)
        elif role == "tool":
            parts = [self._result(message, old=name == "function")]
        else:
            if not message.has("content"):
                message.missing("content")
            parts = list(self._content(message))
            speaker = message.text("name")
            if several and speaker and role == "user":  # else nobody knows who said what
                parts.insert(0, Text(text=f"{speaker}: "))
        self.messages.append(Message(role=role, parts=tuple(parts)))

    def _content(self, message: Fields) -> Iterator[Text | Blob]:
        content = message.raw("content")
        if isinstance(content, str):
            if content:
                yield Text(text=content)
        elif isinstance(content, list):
            for block in message.objects("content"):
                part = self._block(block)
                if part != Text(text=""):
                    yield part
        elif content is not None:
            message.wrong("content", "string | object[]")

    def _block(self, block: Fields) -> Text | Blob:
        match block.choice("type", _KINDS):
            case "image_url":
                if isinstance(block.raw("image_url"), str):
                    return self.media.add_url(block.need_text("image_url"), block.at("image_url"))
                image = block.need_object("image_url")
                return self.media.add_url(image.need_text("url"), image.at("url"))
            case "input_audio":
                audio = block.need_object("input_audio")
                form = audio.need_text("format")
                kind = _SOUNDS.get(form, f"audio/{form}")
                return self.media.add_base64(audio.need_text("data"), audio.at("data"), kind=kind)
            case "file":
                return self._file(block.need_object("file"))
            case "refusal":
                return Text(text=block.text("refusal") or "")
            case _:
                if not block.has("text"):
                    block.missing("text")
                return Text(text=block.text("text") or "")

    def _file(self, file: Fields) -> Blob:
        if file.has("file_id"):  # nothing was uploaded here, and the house's own are not for this
            file.wrong("file_id", "undefined (file_data)")
        data, name = file.need_text("file_data"), file.text("filename") or ""
        kind = "application/pdf" if name.lower().endswith(".pdf") else "application/octet-stream"
        at = file.at("file_data")
        if data[:5].lower() == "data:" or data[:4].lower() == "http":
            return self.media.add_url(data, at, name=name, kind=kind)
        return self.media.add_base64(data, at, name=name, kind=kind)

    def _result(self, message: Fields, *, old: bool) -> ToolResult:
        if old:
            call = self._waiting.get(message.need_text("name"), "")
        else:
            call = message.need_text("tool_call_id")
        return ToolResult(call=call, content=tuple(self._content(message)))

    def _spoken(self, message: Fields) -> list[Part]:
        content = list(self._content(message))
        refusal = message.text("refusal")
        if refusal:
            content.append(Text(text=refusal))
        calls = [self._call(call) for call in message.objects("tool_calls")]
        old = message.object("function_call")
        if old is not None:
            call = _called(None, old, None)
            self._waiting[call.name] = call.id
            calls.append(call)
        thought = message.raw("reasoning_content") or message.raw("reasoning")
        aside = as_object(message.raw("provider_specific_fields"))  # where litellm keeps them
        details = as_objects(message.raw("reasoning_details") or aside.get("reasoning_details"))
        return _in_place(content, calls, thought if isinstance(thought, str) else "", details)

    def _call(self, call: Fields) -> ToolCall:
        call.choice("type", ("function",))
        carried = as_object(call.raw("extra_content")).get(MARK)
        opaque = unpack(carried) if isinstance(carried, str) else None
        return _called(call.text("id") or None, call.need_object("function"), opaque)


def _called(identity: str | None, function: Fields, opaque: JsonObject | None) -> ToolCall:
    arguments = arguments_text(function.raw("arguments"))
    return read_call(identity, function.need_text("name"), arguments, opaque)


def _in_place(
    content: list[Text | Blob], calls: list[ToolCall], thought: str, details: list[JsonObject]
) -> list[Part]:
    """The parts in the order in which they were told."""
    marked = sorted(_told(details), key=lambda told: (told.place.start, told.end))
    text = "".join(part.text for part in content if isinstance(part, Text))
    if not marked or any(isinstance(part, Blob) for part in content):
        lone: list[Part] = [Thinking(text=thought)] if thought else []
        return [*lone, *content, *calls]
    parts: list[Part] = []
    said = called = thought_to = 0

    def tell(text_to: int, calls_to: int, thoughts_to: int) -> None:
        nonlocal said, called, thought_to
        if thought[thought_to:thoughts_to]:
            parts.append(Thinking(text=thought[thought_to:thoughts_to]))
        if text[said:text_to]:
            parts.append(Text(text=text[said:text_to]))
        parts.extend(calls[called:calls_to])
        said, called = max(said, text_to), max(called, calls_to)
        thought_to = max(thought_to, thoughts_to)

    for told in marked:
        tell(told.place.text, told.place.calls, told.place.start)
        own = thought[told.place.start : told.end]
        if _checksum(own) == told.checksum:  # else its vendor would refuse what has changed
            parts.append(Thinking(text=own, opaque=told.opaque))
            thought_to = max(thought_to, told.end)
    tell(len(text), len(calls), len(thought))
    return parts


def _told(details: list[JsonObject]) -> Iterator[_Thought]:
    """Those that were told here: what another vendor gave can go to none as its own."""
    for detail in details:
        data = detail.get("data")
        carried = unpack(data) if detail.get("type") == MARK and isinstance(data, str) else None
        opaque = as_object(carried.get("opaque")) if carried else None
        at: Any = carried.get("at") if carried else None
        if not opaque or not isinstance(at, list):
            continue
        numbers = [n for n in cast("list[object]", at) if isinstance(n, int) and n >= 0]
        if len(numbers) == 5:
            place = Place(text=numbers[0], calls=numbers[1], start=numbers[2])
            yield _Thought(place=place, end=numbers[3], checksum=numbers[4], opaque=opaque)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
