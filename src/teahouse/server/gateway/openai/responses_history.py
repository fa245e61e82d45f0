"""Reads the input of the OpenAI Responses dialect: its items, put together to messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from msgspec.structs import replace

from teahouse.core.errors import Invalid
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
from teahouse.llm.any_history import as_json
from teahouse.llm.tool_calls import read_call
from teahouse.server.gateway import carry
from teahouse.server.gateway.fields import Fields, shown
from teahouse.server.gateway.openai.responses_items import CALL, OPAQUE, THOUGHT
from teahouse.server.gateway.pictures import Media

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_TEXTS: Final = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_FILES: Final = ("input_image", "input_file")
_ITEMS: Final = ("message", "function_call", "function_call_output", "reasoning")


class History:
    """Puts items together to messages: those of one role that follow each other are one."""

    def __init__(self, media: Media) -> None:
        self._media = media
        self._turns: list[tuple[Role, list[Part]]] = []
        self._sealed: dict[str, JsonObject] = {}  # for calls that come, by their ids
        self._thoughts: dict[str, tuple[list[Part], int]] = {}  # where thoughts stand, by id

    def whole(self) -> tuple[Message, ...]:
        return tuple(Message(role=role, parts=tuple(parts)) for role, parts in self._turns if parts)

    def say(self, role: Role, parts: list[Part]) -> None:
        """Of a user each message stands for itself."""
        self._turns.append((role, parts))

    def read(self, item: Fields) -> None:
        if not item.has("type") and item.has("role"):
            self._message(item)
            return
        match item.need_text("type"):
            case "message":
                self._message(item)
            case "function_call":
                self._turn("assistant").append(self._call(item))
            case "function_call_output":
                result = ToolResult(call=item.need_text("call_id"), content=self._output(item))
                self._turn("tool").append(result)
            case "reasoning":
                self._reasoning(item)
            case _:
                item.choice("type", _ITEMS)

    def _turn(self, role: Role) -> list[Part]:
        if not self._turns or self._turns[-1][0] != role:
            self._turns.append((role, []))
        return self._turns[-1][1]

    def _message(self, item: Fields) -> None:
        item.need_text("role")
        role = _ROLES[item.choice("role", tuple(_ROLES)) or "user"]
        parts: list[Part] = list(self._content(item, "content", files=role != "assistant"))
        if role == "assistant":
            self._turn(role).extend(parts)
        else:
            self.say(role, parts)

    def _call(self, item: Fields) -> ToolCall:
        identity, name = item.need_text("call_id"), item.need_text("name")
        arguments = item.raw("arguments")
        if isinstance(arguments, dict):
            text = as_json(cast("JsonObject", arguments))
        else:
            text = item.text("arguments") or ""
        return read_call(identity, name, text, self._sealed.pop(identity, None))

    def _reasoning(self, item: Fields) -> None:
        carried = item.text("encrypted_content")
        opaque = carry.unpack(carried) if carried else None
        if opaque is not None and isinstance(inner := opaque.get(OPAQUE), dict):
            self._seal(opaque, cast("JsonObject", inner))
            return
        paragraphs = [*item.objects("summary"), *item.objects("content")]
        text = "\n\n".join(paragraph.text("text") or "" for paragraph in paragraphs)
        if text or opaque or not carried:  # what another server sealed, nobody can open
            parts = self._turn("assistant")
            self._thoughts[item.text("id") or ""] = parts, len(parts)
            parts.append(Thinking(text=text, opaque=opaque))

    def _seal(self, seal: JsonObject, opaque: JsonObject) -> None:
        if CALL in seal:
            self._sealed[str(seal[CALL])] = opaque
            return
        thought = self._thoughts.get(str(seal.get(THOUGHT)))
        if thought is None:  # the client has dropped it, or its id
            self._turn("assistant").append(Thinking(text="", opaque=opaque))
        else:
            parts, place = thought
            parts[place] = replace(cast("Thinking", parts[place]), opaque=opaque)

    def _output(self, item: Fields) -> tuple[Text | Blob, ...]:
        if not item.has("output"):
            item.missing("output")
        return tuple(self._content(item, "output", files=True))

    def _content(self, item: Fields, name: str, *, files: bool) -> Iterator[Text | Blob]:
        value = item.raw(name)
        if value is None:
            item.missing(name)
        if isinstance(value, str):
            yield Text(text=value)
            return
        if not isinstance(value, list):
            item.wrong(name, "string | object[]")
        for part in item.objects(name):
            kind = part.need_text("type")
            if kind in _TEXTS:
                text = part.text(_TEXTS[kind])
                yield Text(text=part.missing(_TEXTS[kind]) if text is None else text)
            elif files and kind in _FILES:
                yield self._file(part, kind)
            else:
                part.choice("type", (*_TEXTS, *_FILES) if files else tuple(_TEXTS))

    def _file(self, part: Fields, kind: str) -> Blob:
        if part.has("file_id"):
            raise Invalid(
                "file_elsewhere", field=part.at("file_id"), value=shown(part.raw("file_id"))
            )
        name = part.text("filename") or ""
        if kind == "input_image":
            return self._media.add_url(part.need_text("image_url"), part.at("image_url"), name=name)
        if part.has("file_url"):
            field = part.at("file_url")
            return self._media.add_url(
                part.need_text("file_url"), field, name=name, kind="application/pdf"
            )
        data, field = part.need_text("file_data"), part.at("file_data")
        if data[:5].lower() == "data:":
            return self._media.add_data_url(data, field, name=name, kind="application/pdf")
        return self._media.add_base64(data, field, kind="application/pdf", name=name)
