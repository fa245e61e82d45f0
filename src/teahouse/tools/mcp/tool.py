"""A tool of a server, as models and agents know it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from teahouse.core.events import Effect
from teahouse.core.messages import JsonObject
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.mcp.definition import Definition, Hints
from teahouse.tools.mcp.names import tool_name

Call = Callable[[Definition, JsonObject, ToolContext], Awaitable[Content]]


class McpTool:
    """What it returns was written by others; `server` and `hints` are for whoever grants it."""

    repeatable = False  # nobody knows what it does
    is_foreign = True
    effect: Effect = "external"  # whatever its server claims of it in `hints`

    def __init__(self, server: str, definition: Definition, call: Call) -> None:
        self.server, self.definition, self._call = server, definition, call
        self.spec = ToolSpec(
            name=tool_name(server, definition.tool),
            description=definition.description,
            parameters=definition.parameters,
        )

    @property
    def hints(self) -> Hints:
        return self.definition.hints

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        return await self._call(self.definition, arguments, context)
