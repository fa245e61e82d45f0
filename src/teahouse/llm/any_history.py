"""Histories as other programs keep them, to messages: total, whatever the JSON is.

Reads the forms of OpenAI (chat, Responses), Anthropic, Gemini, LangChain and the AI SDK, mixed and
broken; what comes out is not whole yet, `repair` makes it so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Final, cast

from teahouse.core.codec import encode
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
from teahouse.llm.repair import plain_object, plain_text
from teahouse.llm.tool_calls import read_call

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}
_CALLS: Final = frozenset(
    {"tool_use", "tool-call", "tool_call", "function_call", "custom_tool_call"}
)
_RESULTS: Final = frozenset(
    {
        "tool_result",
        "tool-result",
        "function_call_output",
        "custom_tool_call_output",
        "functionResponse",
    }
)
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_IDS: Final = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "id")
_NAMES: Final = ("name", "toolName", "tool_name")
_ARGUMENTS: Final = ("arguments", "input", "args")
_OUTPUTS: Final = ("content", "output", "result", "response")
_FILES: Final = (
    *("image_url", "source", "inlineData", "inline_data", "fileData", "file", "image"),
    "input_audio",
)
_DEEPEST: Final = 32


def messages_from(history: object) -> list[Message]:
    """What can be read of `history`: a list of messages, one of them, or a text."""
    reader = _Reader()
    reader.read(history)
    return reader.messages


class _Reader:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._waiting: list[tuple[str, str]] = []  # ids and names of calls without a result
        self._numbers = count(1)

    def read(self, value: object, depth: int = 0) -> None:
        match value:
            case str():
                self._add("user", [Text(text=value)])
            case list() if depth < _DEEPEST:
                for item in cast("list[object]", value):
                    self.read(item, depth + 1)
            case dict():
                self._read_message(cast("JsonObject", value))
            case _:
                pass

    def _add(self, role: Role, parts: Sequence[Part]) -> None:
        self.messages.append(Message(role=role, parts=tuple(parts)))

    def _read_message(self, fields: JsonObject) -> None:
        role = _role(fields)
        parts = list(self._parts(fields, role))
        if role == "assistant":
            parts += self._calls(fields.get("tool_calls"))
            parts += self._calls(fields.get("function_call"))
        if role == "tool" and not any(isinstance(part, ToolResult) for part in parts):
            parts = [self._result(fields)]
        self._add(role, parts)

    def _parts(self, fields: JsonObject, role: Role) -> Iterator[Part]:
        if _is_item(fields):
            yield from self._block(fields, role, 0)
            return
        found = False
        for key in ("content", "parts", "text", "value", "message"):
            if key in {"text", "value", "message"} and found:
                return
            for part in self._blocks(fields.get(key), role):
                found = True
                yield part
        if isinstance(fields.get("refusal"), str):
            yield Text(text=fields["refusal"])

    def _blocks(self, value: object, role: Role, depth: int = 0) -> Iterator[Part]:
        """The parts of content, be it a text, blocks, or something else that was said."""
        if isinstance(value, str):
            yield Text(text=value)
        elif isinstance(value, list):
            if depth < _DEEPEST:
                for item in cast("list[object]", value):
                    yield from self._blocks(item, role, depth + 1)
        elif isinstance(value, dict):
            yield from self._block(cast("JsonObject", value), role, depth)
        elif value is not None:
            yield Text(text=json.dumps(value))

    def _block(self, block: JsonObject, role: Role, depth: int) -> Iterator[Part]:
        kind = _kind(block)
        for key in ("functionResponse", "function_response"):
            if isinstance(block.get(key), dict):
                yield self._result(block[key])
                return
        if kind in _RESULTS:
            yield self._result(block)
            return
        if role == "assistant" and (kind in _CALLS or "functionCall" in block):
            yield from self._calls(block.get("functionCall") or block)
            return
        text = _text_in(block)
        if role == "assistant" and (kind in _THOUGHTS or block.get("thought") is True):
            yield Thinking(text=text or "")
            return
        if text is not None:
            yield Text(text=text)
        elif (blob := _blob(block)) is not None:
            yield blob
        elif depth < _DEEPEST:
            for key in ("content", "parts"):
                yield from self._blocks(block.get(key), role, depth + 1)

    def _calls(self, value: object) -> Iterator[ToolCall]:
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        for item in items:
            if not isinstance(item, dict):
                continue
            fields = cast("JsonObject", item)
            function = fields.get("function")
            said = cast("JsonObject", function) if isinstance(function, dict) else fields
            name = plain_text(str(_first(said, _NAMES) or ""))
            identity = _identity(fields) or f"call_{name[:32]}_{next(self._numbers)}"
            self._waiting.append((identity, name))
            yield _call(identity, name, _first(said, _ARGUMENTS))

    def _result(self, fields: JsonObject) -> ToolResult:
        """A result without an id is that of the first call of its name that waits."""
        identity = _identity(fields)
        name = plain_text(str(_first(fields, _NAMES) or ""))
        if identity is None:
            identity = next((i for i, n in self._waiting if name and n == name), "")
        self._waiting = [(i, n) for i, n in self._waiting if i != identity]
        output = _first(fields, _OUTPUTS)
        content = tuple(
            part for part in self._blocks(output, "user") if isinstance(part, Text | Blob)
        )
        if not content and isinstance(output, dict):
            content = (Text(text=as_json(cast("JsonObject", output))),)
        wrong = fields.get("is_error") is True
        return ToolResult(call=identity, content=content, is_error=wrong)


def _kind(fields: JsonObject) -> str:
    kind = fields.get("type")
    return kind if isinstance(kind, str) else ""


def _is_item(fields: JsonObject) -> bool:
    """Whether this is an item of Responses, which stands where messages do and has no role."""
    return "role" not in fields and _kind(fields) in _CALLS | _RESULTS | _THOUGHTS


def _role(fields: JsonObject) -> Role:
    if _is_item(fields):
        return "tool" if _kind(fields) in _RESULTS else "assistant"
    for key in ("role", "type", "from", "author"):
        role = _ROLES.get(str(fields.get(key)).strip().lower())
        if role is not None:
            return role
    if fields.get("tool_calls") or fields.get("function_call"):
        return "assistant"
    return "tool" if "tool_call_id" in fields else "user"


def _first(fields: JsonObject, names: Iterable[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _identity(fields: JsonObject) -> str | None:
    found = _first(fields, _IDS)
    text = str(found) if isinstance(found, str | int) else ""
    return text if text.strip() else None


def _call(identity: str, name: str, arguments: object) -> ToolCall:
    if isinstance(arguments, dict):
        return ToolCall(id=identity, name=name, arguments=cast("JsonObject", arguments))
    text = arguments if isinstance(arguments, str) else "" if arguments is None else "?"
    try:
        return read_call(identity, name, text)
    except RecursionError:
        return ToolCall(id=identity, name=name, arguments={}, malformed=text)


def as_json(fields: JsonObject) -> str:
    return encode(plain_object(fields)).decode()


def _text_in(block: JsonObject) -> str | None:
    for key in ("text", "thinking", "refusal", "input_text", "output_text", "value"):
        found = block.get(key)
        if isinstance(found, dict):
            found = cast("JsonObject", found).get("value")
        if isinstance(found, str):
            return found
    return None


def _blob(block: JsonObject) -> Blob | None:
    """A picture or file; it has no id here, `file` is where it lies."""
    fields = {"mimeType": "", **block}
    for key in _FILES:
        inner = block.get(key)
        if isinstance(inner, str):
            fields |= {"url": inner, "mimeType": "image/png" if "image" in key else ""}
        elif isinstance(inner, dict):
            fields |= cast("JsonObject", inner)
            fields["mimeType"] = fields["mimeType"] or ("image/png" if "image" in key else "")
    where = _first(fields, ("url", "fileUri", "file_data", "file_id"))
    kind = str(_first(fields, ("media_type", "mime_type")) or fields["mimeType"])
    if not kind and "format" in fields:
        kind = f"audio/{fields['format']}"
    data = fields.get("data")
    if not isinstance(where, str) and isinstance(data, str):
        where = f"data:{kind};base64,{data}"
    if not isinstance(where, str) or not where:
        return None
    name = str(fields.get("filename") or "file")
    return Blob(file=where, media_type=kind, name=name, size=0)
