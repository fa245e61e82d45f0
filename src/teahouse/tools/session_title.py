"""The tool `session_title`: an agent names the conversation it is in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import JsonObject, Text
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext

MAX_TITLE = 60
Rename: TypeAlias = Callable[[ToolContext, str], Awaitable[str]]
"""Names the conversation and returns what it is called: a title that a person chose stays."""


class SessionTitle:
    repeatable = True
    effect = "write"
    spec = ToolSpec(
        name="session_title",
        description="Give this conversation a short title.",
        parameters={
            "type": "object",
            "properties": {"title": {"type": "string", "maxLength": MAX_TITLE}},
            "required": ["title"],
        },
    )

    def __init__(self, rename: Rename) -> None:
        self._rename = rename

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        title = " ".join(str(arguments.get("title", "")).split())
        if not 0 < len(title) <= MAX_TITLE:
            raise ToolFailed(f"A title has 1 to {MAX_TITLE} characters, this one {len(title)}.")
        called = await self._rename(context, title)
        if called != title:
            return (Text(text=f"A person has named this conversation, and that stays: {called}"),)
        return (Text(text=f"The conversation is now called: {title}"),)
