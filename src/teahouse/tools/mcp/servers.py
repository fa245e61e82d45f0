"""All MCP servers of the house: started, changed and stopped as the settings say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from teahouse.core.errors import NotFound
from teahouse.core.messages import JsonObject
from teahouse.core.tasks import Supervisor
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.mcp.definition import visible
from teahouse.tools.mcp.link import Link
from teahouse.tools.mcp.ports import House
from teahouse.tools.mcp.settings import ServerSettings
from teahouse.tools.mcp.state import ServerStatus
from teahouse.tools.mcp.tool import McpTool

if TYPE_CHECKING:
    from teahouse.tools.mcp.login import Returned

_MOST_WORDS = 1_000


class Resource(Struct, frozen=True, kw_only=True):
    """Something that can be read by its `uri`; of a template `uri` has holes like `{name}`."""

    uri: str
    name: str
    description: str = ""
    media_type: str | None = None
    size: int | None = None
    is_template: bool = False


class PromptArgument(Struct, frozen=True, kw_only=True):
    name: str
    description: str = ""
    required: bool = False


class Prompt(Struct, frozen=True, kw_only=True):
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class PromptMessage(Struct, frozen=True, kw_only=True):
    role: str  # user, assistant
    content: Content


class McpServers:
    """One per house. `changed` is called whenever a server's state or tools have changed.

    Leaving `tasks`' block stops all servers and ends their processes.
    """

    def __init__(
        self, house: House, tasks: Supervisor, changed: Callable[[], None] = lambda: None
    ) -> None:
        self._house, self._tasks, self._changed = house, tasks, changed
        self._links: dict[str, tuple[Link, asyncio.Task[None] | None]] = {}
        self._applying = asyncio.Lock()

    async def apply(self, servers: Mapping[str, ServerSettings]) -> None:
        """Have exactly these, and leave alone those that stay as they were. Returns when the others
        have ended; nobody waits for a server to start."""
        async with self._applying:
            gone = {
                name: task
                for name, (link, task) in self._links.items()
                if servers.get(name) != link.settings
            }
            for task in (running := [task for task in gone.values() if task is not None]):
                task.cancel()
            if running:
                await asyncio.wait(running)
            for name in gone:
                link, _ = self._links.pop(name)
                if name not in servers:
                    await link.forget()
            for name, settings in servers.items():
                if name not in self._links:
                    link = Link(name, settings, self._house, self._changed)
                    task = (
                        self._tasks.start(f"mcp {name}", link.run()) if settings.enabled else None
                    )
                    self._links[name] = link, task
        self._changed()

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(link.status() for link, _ in self._links.values())

    def tools(self) -> tuple[McpTool, ...]:
        """All that can be called now, in the order of the settings."""
        return tuple(tool for link, _ in self._links.values() for tool in link.tools())

    async def accept(self, server: str, digests: dict[str, str]) -> None:
        """A person has read these definitions, by tool and digest, and takes them; others stay."""
        await self._link(server).accept(digests)

    def restart(self, server: str) -> None:
        """Do not wait for the next try."""
        self._link(server).restart()

    def finish_login(self, returned: Returned) -> bool:
        """Hand over what a person's browser brought; False where nobody waits for it."""
        return any(link.finish_login(returned) for link, _ in self._links.values())

    async def resources(self, server: str) -> tuple[Resource, ...]:
        connection = self._link(server).connection()
        plain = [
            Resource(
                uri=one.uri,
                name=_words(one.title or one.name),
                description=_words(one.description),
                media_type=one.mime_type,
                size=one.size,
            )
            for one in await connection.resources()
        ]
        templates = [
            Resource(
                uri=one.uri_template,
                name=_words(one.title or one.name),
                description=_words(one.description),
                media_type=one.mime_type,
                is_template=True,
            )
            for one in await connection.resource_templates()
        ]
        return (*plain, *templates)

    async def read(self, server: str, uri: str, context: ToolContext) -> Content:
        from teahouse.tools.mcp.content import of_resource

        link = self._link(server)
        found = await link.connection().read(uri, link.settings.timeout_s)
        return await of_resource(found, context, self._house.keep)

    async def prompts(self, server: str) -> tuple[Prompt, ...]:
        return tuple(
            Prompt(
                name=one.name,
                description=_words(one.description or one.title),
                arguments=tuple(
                    PromptArgument(
                        name=argument.name,
                        description=_words(argument.description),
                        required=argument.required is True,
                    )
                    for argument in one.arguments or ()
                ),
            )
            for one in await self._link(server).connection().prompts()
        )

    async def prompt(
        self, server: str, name: str, arguments: JsonObject, context: ToolContext
    ) -> tuple[PromptMessage, ...]:
        from teahouse.tools.mcp.content import of_message

        link = self._link(server)
        given = {key: str(value) for key, value in arguments.items()}
        found = await link.connection().prompt(name, given, link.settings.timeout_s)
        return tuple(
            [
                PromptMessage(
                    role=one.role,
                    content=(await of_message(one.content, context, self._house.keep),),
                )
                for one in found.messages
            ]
        )

    def _link(self, server: str) -> Link:
        if server not in self._links:
            raise NotFound("mcp_unknown", server=server)
        return self._links[server][0]


def _words(text: str | None) -> str:
    return visible(text or "")[:_MOST_WORDS]
