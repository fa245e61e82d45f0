"""The conversation in Anthropic's Messages: blocks in turns become the house's messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn, cast

import msgspec

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
from teahouse.llm.media import PDF
from teahouse.server.gateway.anthropic.sealed import unseal
from teahouse.server.gateway.broken_call import read_arguments
from teahouse.server.gateway.carry import unpack
from teahouse.server.gateway.fields import Fields, shown
from teahouse.server.gateway.pictures import Media

_SHOWN: Final = ("text", "image", "document", "search_result")
_SAID: Final = ("text", "thinking", "redacted_thinking", "tool_use")
_RAN_THERE: Final = ("server_tool_use", "mcp_tool_use")
_RESULTS_THERE: Final = "_tool_result"  # how the types of their results end
_SEALED_FIELDS: Final = frozenset({"type", "tool_use_id", "cache_control", "encrypted_content"})


def read_history(given: Fields, media: Media) -> Iterator[Message]:
    """`media` takes the bytes of what was sent along."""
    parts = tuple(_texts(given, "system"))
    if parts:
        yield Message(role="system", parts=parts)
    yield from _messages(given, media)


def _texts(fields: Fields, name: str) -> Iterator[Text]:
    for block in _blocks(fields, name):
        block.choice("type", ("text",))
        yield Text(text=_needed(block, "text"))


def _blocks(fields: Fields, name: str = "content") -> Iterator[Fields]:
    """A text may stand for a list of one block."""
    value = fields.raw(name)
    if isinstance(value, str):
        yield Fields({"type": "text", "text": value}, fields.at(name))
    elif value is not None and not isinstance(value, list):
        fields.wrong(name, "string | object[]")
    else:
        yield from fields.objects(name)


def _needed(fields: Fields, name: str) -> str:
    """A text that must be given but may be empty."""
    value = fields.text(name)
    return fields.missing(name) if value is None else value


def _messages(given: Fields, media: Media) -> Iterator[Message]:
    if not given.has("messages"):
        given.missing("messages")
    turns = list(given.objects("messages"))
    if not turns:
        given.wrong("messages", "object[] (length ≥ 1)")
    for turn in turns:
        if not turn.has("content"):
            turn.missing("content")
        match turn.choice("role", ("user", "assistant", "system")):
            case "user":
                yield from _user(turn, media)
            case "assistant":
                yield Message(role="assistant", parts=_Said(turn).parts())
            case "system":
                yield Message(role="system", parts=tuple(_texts(turn, "content")))
            case _:
                turn.missing("role")


def _user(turn: Fields, media: Media) -> Iterator[Message]:
    """Results stand among a user's words there; here they are a message of their own."""
    role: Role = "user"
    parts: list[Part] = []
    for block in _blocks(turn):
        result = block.raw("type") == "tool_result"
        if parts and result != (role == "tool"):
            yield Message(role=role, parts=tuple(parts))
            parts = []
        role = "tool" if result else "user"
        parts += [_result(block, media)] if result else _shown(block, media)
    yield Message(role=role, parts=tuple(parts))


def _result(block: Fields, media: Media) -> ToolResult:
    content: list[Text | Blob] = []
    for inner in _blocks(block):
        match inner.raw("type"):
            case "tool_reference":
                content.append(Text(text=inner.need_text("tool_name")))
            case "browser_state":
                content.append(_as_text(inner))
            case _:
                content += _shown(inner, media)
    return ToolResult(
        call=block.need_text("tool_use_id"),
        content=tuple(content),
        is_error=block.flag("is_error") or False,
    )


def _shown(block: Fields, media: Media) -> Iterator[Text | Blob]:
    """What a user or a tool shows to a model."""
    match block.choice("type", (*_SHOWN, "tool_result")):
        case "text":
            yield Text(text=_needed(block, "text"))
        case "image":
            yield _picture(block.need_object("source"), media)
        case "document":
            yield from _document(block, media)
        case "search_result":
            heads = (block.text("title"), block.text("source"))
            texts = (part.text for part in _texts(block, "content"))
            yield Text(text="\n".join(filter(None, (*heads, *texts))))
        case "tool_result":  # one within another
            block.wrong("type", " | ".join(f'"{kind}"' for kind in _SHOWN))
        case _:
            block.missing("type")


def _picture(source: Fields, media: Media) -> Blob:
    match source.choice("type", ("base64", "url", "file")):
        case "base64":
            kind = source.text("media_type") or "image/jpeg"
            return media.add_base64(source.need_text("data"), source.at("data"), kind=kind)
        case "url":
            return media.add_url(source.need_text("url"), source.at("url"))
        case None:
            return source.missing("type")
        case _:
            return _elsewhere(source)


def _document(block: Fields, media: Media) -> Iterator[Text | Blob]:
    source, name = block.need_object("source"), block.text("title") or ""
    context = block.text("context")
    if context:
        yield Text(text=context)
    match source.choice("type", ("base64", "text", "content", "url", "file")):
        case "base64":
            kind = source.text("media_type") or PDF
            data, place = source.need_text("data"), source.at("data")
            yield media.add_base64(data, place, kind=kind, name=name)
        case "url":
            yield media.add_url(source.need_text("url"), source.at("url"), name=name, kind=PDF)
        case "text":
            yield Text(text="\n\n".join(filter(None, (name, _needed(source, "data")))))
        case "content":
            if name:
                yield Text(text=name)
            for inner in _blocks(source):
                yield from _shown(inner, media)
        case "file":
            _elsewhere(source)
        case _:
            source.missing("type")


def _elsewhere(source: Fields) -> NoReturn:
    value = shown(source.raw("file_id"))
    raise Invalid("file_elsewhere", field=source.at("file_id"), value=value)


class _Said:
    """An earlier reply. What was sealed for a part comes in a block of its own, before or after."""

    def __init__(self, turn: Fields) -> None:
        self._turn = turn
        self._parts: list[Part] = []
        self._thoughts: list[int] = []  # where the thoughts with a block of their own stand
        self._for_calls: dict[str, JsonObject] = {}
        self._for_thoughts: dict[int, JsonObject] = {}

    def parts(self) -> tuple[Part, ...]:
        for block in _blocks(self._turn):
            self._add(block)
        found = self._parts
        for place, opaque in self._for_thoughts.items():
            if place < len(self._thoughts):
                at = self._thoughts[place]
                found[at] = msgspec.structs.replace(cast("Thinking", found[at]), opaque=opaque)
            else:  # the client has left the thought out
                found.append(Thinking(text="", opaque=opaque))
        for at, part in enumerate(found):
            if isinstance(part, ToolCall) and part.id in self._for_calls:
                found[at] = msgspec.structs.replace(part, opaque=self._for_calls[part.id])
        return tuple(found)

    def _add(self, block: Fields) -> None:
        kind = block.raw("type")
        if kind in _RAN_THERE or (isinstance(kind, str) and kind.endswith(_RESULTS_THERE)):
            self._parts.append(_as_text(block))
            return
        match block.choice("type", _SAID):
            case "text":
                self._parts.append(Text(text=_needed(block, "text")))
            case "thinking":
                self._thoughts.append(len(self._parts))
                # a vendor's own signature goes: nobody knows to which endpoint it belongs
                opaque = unpack(block.text("signature") or "") or None
                self._parts.append(Thinking(text=block.text("thinking") or "", opaque=opaque))
            case "redacted_thinking":
                self._unseal(block.text("data") or "")
            case "tool_use":
                self._parts.append(_call(block))
            case _:
                block.missing("type")

    def _unseal(self, data: str) -> None:
        sealed = unseal(data)
        if sealed is None:
            return
        if sealed.call is not None:
            self._for_calls[sealed.call] = sealed.opaque
        elif sealed.thought is not None:
            self._for_thoughts[sealed.thought] = sealed.opaque
        else:
            self._parts.append(Thinking(text="", opaque=sealed.opaque))


def _call(block: Fields) -> ToolCall:
    given = block.object("input")
    arguments, malformed = read_arguments(given.values if given else {})
    return ToolCall(
        id=block.need_text("id"),
        name=block.need_text("name"),
        arguments=arguments,
        malformed=malformed,
    )


def _as_text(block: Fields) -> Text:
    """What a vendor's own tool did, for models that have none such: its type, then what is known
    of it as JSON."""
    data = msgspec.json.encode(_open_to_all(block.values)).decode()
    return Text(text=f"[{block.raw('type')} {data}]")


def _open_to_all(value: Any) -> Any:
    if isinstance(value, list):
        return [_open_to_all(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("JsonObject", value)
        return {k: _open_to_all(v) for k, v in fields.items() if k not in _SEALED_FIELDS}
    return value
