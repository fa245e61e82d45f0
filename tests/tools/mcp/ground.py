"""The ground that MCP tests stand on: a house for servers, and waiting for what they come to."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import structs

from teahouse.core.clock import SystemClock
from teahouse.core.messages import Blob
from teahouse.core.tasks import Supervisor
from teahouse.llm.tool import ToolContext
from teahouse.tools.mcp.definition import Pinned
from teahouse.tools.mcp.ports import House, Limits
from teahouse.tools.mcp.servers import McpServers
from teahouse.tools.mcp.settings import ServerSettings
from teahouse.tools.mcp.state import Phase, ServerStatus
from teahouse.tools.mcp.tool import McpTool

FAKE = Path(__file__).with_name("fake_server.py")
DEADLINE_S = 60.0
HERE = ToolContext(conversation="c_1")
QUICK = Limits(first_retry_s=0.02, longest_retry_s=0.1, relist_s=0.02)


class MemoryPins:
    def __init__(self) -> None:
        self.kept: dict[str, Pinned] = {}

    async def load(self, server: str, /) -> Pinned | None:
        return self.kept.get(server)

    async def save(self, server: str, pinned: Pinned, /) -> None:
        self.kept[server] = pinned

    async def remove(self, server: str, /) -> None:
        self.kept.pop(server, None)


class MemoryVault:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def get(self, name: str, /) -> str | None:
        return self.kept.get(name)

    async def put(self, name: str, value: str, /) -> None:
        self.kept[name] = value

    async def remove(self, name: str, /) -> None:
        self.kept.pop(name, None)


class MemoryBlobs:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def __call__(
        self, data: bytes, media_type: str, name: str, context: ToolContext, /
    ) -> Blob:
        file = f"f_{len(self.kept)}"
        self.kept[file] = data
        return Blob(file=file, media_type=media_type, name=name, size=len(data))


class Ground:
    """A house, its servers, and what became of them."""

    def __init__(self, tasks: Supervisor, folder: Path, house: House) -> None:
        self.folder, self.house = folder, house
        self._changed = asyncio.Event()
        self.servers = McpServers(house, tasks, self._changed.set)

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    def status(self, server: str = "fake") -> ServerStatus:
        return next(one for one in self.servers.statuses() if one.server == server)

    async def comes_to(self, phase: Phase, server: str = "fake") -> ServerStatus:
        await self.until(lambda: self.status(server).state.phase == phase)
        return self.status(server)

    def tool(self, tool: str = "echo", server: str = "fake") -> McpTool:
        return next(
            one
            for one in self.servers.tools()
            if (one.server, one.definition.tool) == (server, tool)
        )


@asynccontextmanager
async def ground(folder: Path, *, limits: Limits = QUICK, **more: object) -> AsyncGenerator[Ground]:
    house = House(
        clock=SystemClock(),
        pins=MemoryPins(),
        vault=MemoryVault(),
        keep=MemoryBlobs(),
        environment={"PATH": os.environ["PATH"], "HOME": str(folder), "SECRET": "of the house"},
        folder=folder,
        limits=limits,
    )
    async with Supervisor() as tasks:
        yield Ground(tasks, folder, structs.replace(house, **more))


def fake(way: str, *more: str | Path, **settings: object) -> ServerSettings:
    arguments = (str(FAKE), way, *map(str, more))
    return structs.replace(
        ServerSettings(command=sys.executable, args=arguments, timeout_s=30.0), **settings
    )
