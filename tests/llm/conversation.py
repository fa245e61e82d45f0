"""Short ways to write a conversation down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest

Write: TypeAlias = Callable[..., Awaitable[JsonObject]]


def said(role: Role, *parts: Part | str) -> Message:
    return Message(role=role, parts=tuple(Text(text=p) if isinstance(p, str) else p for p in parts))


def call(ref: str, /, **arguments: object) -> ToolCall:
    return ToolCall(id=ref, name="f", arguments=arguments)


def result(ref: str, *content: Text | Blob | str, is_error: bool = False) -> ToolResult:
    parts = tuple(Text(text=p) if isinstance(p, str) else p for p in content)
    return ToolResult(call=ref, content=parts, is_error=is_error)


async def body_of(
    write: Write, *messages: Message, profile: Profile | None = None, **request: Any
) -> JsonObject:
    """What a dialect's writer makes of a request to `m` of `acme`; a file's bytes are its id."""
    asked = ModelRequest(model="m", messages=messages, **request)

    async def read(file: str) -> bytes:
        return file.encode()

    return await write(asked, profile or Profile(), origin="acme/m", files=read)
