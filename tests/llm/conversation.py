"""Short ways to write a conversation down."""

from __future__ import annotations

from teahouse.core.messages import Blob, Message, Part, Role, Text, ToolCall, ToolResult


def said(role: Role, *parts: Part | str) -> Message:
    return Message(role=role, parts=tuple(Text(text=p) if isinstance(p, str) else p for p in parts))


def call(ref: str, /, **arguments: object) -> ToolCall:
    return ToolCall(id=ref, name="f", arguments=arguments)


def result(ref: str, *content: Text | Blob | str, is_error: bool = False) -> ToolResult:
    parts = tuple(Text(text=p) if isinstance(p, str) else p for p in content)
    return ToolResult(call=ref, content=parts, is_error=is_error)
