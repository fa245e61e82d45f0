"""Repairs a history that came as JSON, and gives it back in OpenAI's chat form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from teahouse.core.messages import Blob, JsonObject, Message, Part, Text, ToolResult, text_of
from teahouse.llm.any_history import as_json, messages_from
from teahouse.llm.media import mention
from teahouse.llm.repair import repair


def repair_json(history: object) -> list[JsonObject]:
    """`repair` for a history that came as JSON."""
    messages = repair(messages_from(history))
    if messages and all(message.role == "system" for message in messages):
        kept = cast("list[JsonObject]", history) if isinstance(history, list) else []
        if [m.parts for m in messages_from(kept)] == [m.parts for m in messages]:
            return list(kept)  # nothing to ask yet, so nothing to repair
    return [written for message in messages for written in _written(message)]


def _written(message: Message) -> list[JsonObject]:
    match message.role:
        case "tool":
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            return [
                {"role": "tool", "tool_call_id": r.call, "content": _said(r.content)}
                for r in results
            ]
        case "assistant":
            return [_reply(message)]
        case _:
            plain = len(message.parts) == 1 and bool(message.text)
            content = message.text if plain else [_shown(part) for part in message.parts]
            return [{"role": message.role, "content": content}]


def _reply(message: Message) -> JsonObject:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": as_json(call.arguments)},
        }
        for call in message.tool_calls
    ]
    written: JsonObject = {"role": "assistant", "content": message.text or None}
    return written | ({"tool_calls": calls} if calls else {})


def _said(content: Sequence[Text | Blob]) -> str:
    return "\n".join(part.text if isinstance(part, Text) else mention(part) for part in content)


def _shown(part: Part) -> JsonObject:
    if not isinstance(part, Blob):
        return {"type": "text", "text": text_of((part,))}
    if part.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": part.file}}
    return {"type": "file", "file": {"file_data": part.file, "filename": part.name}}
