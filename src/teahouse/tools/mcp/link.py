"""Keeps one server connected: starts it, lists its tools, and begins again whenever that breaks.

One task per server, so that none waits for another. It never gives up: only the pauses grow.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final, cast

import anyio

from teahouse.core.errors import Problem, SettingsError, TeahouseError
from teahouse.core.ids import fraction
from teahouse.core.messages import JsonObject, text_of
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.mcp.definition import Definition, Pinned, standing, visible
from teahouse.tools.mcp.errors import McpFailed, ServerSaid
from teahouse.tools.mcp.names import tool_name
from teahouse.tools.mcp.ports import KEPT, House
from teahouse.tools.mcp.settings import ServerSettings, check
from teahouse.tools.mcp.state import Phase, ServerStatus, State, ToolStatus
from teahouse.tools.mcp.tool import McpTool

if TYPE_CHECKING:
    from teahouse.tools.mcp.connection import Connection, Listed
    from teahouse.tools.mcp.login import Login, Returned

log = logging.getLogger(__name__)

_HEAVY: Final = "teahouse.tools.mcp.connection"  # brings the SDK, which takes a second to import
_LOG_LINES: Final = 200
_STEADY_S: Final = 60.0  # a connection that held so long was a good one


class Link:
    """`changed` is called whenever `status` or `tools` are no longer what they were."""

    def __init__(
        self, name: str, settings: ServerSettings, house: House, changed: Callable[[], None]
    ) -> None:
        self.name, self.settings = name, settings
        self._house, self._changed = house, changed
        self._state = State(phase="starting" if settings.enabled else "off")
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._connection: Connection | None = None
        self._listed: Listed | None = None
        self._pinned: Pinned | None = None
        self._login: Login | None = None
        self._again, self._stirred = asyncio.Event(), asyncio.Event()
        self._calls = asyncio.Semaphore(house.limits.calls)

    async def run(self) -> None:
        """Until cancelled; returns only where nothing but other settings can help."""
        try:
            check(self.name, self.settings)
        except SettingsError as error:
            self._set(State(phase="failed", problem=error.problem()))
            return
        failures = 0
        while True:
            begun = self._house.clock.monotonic()
            self._set(State(phase="starting", failures=failures))
            try:
                await self._hold()
            except Exception as error:  # whatever a server of others made happen
                log.info("MCP server %s: %r", self.name, error)
                problem = self._problem(error)
            else:
                problem = McpFailed("mcp_lost", server=self.name).problem()
            finally:
                self._connection = None
            _leave_if_told()
            if self._house.clock.monotonic() - begun > _STEADY_S:
                failures = 0
            failures += 1
            await self._pause(problem, failures)

    def restart(self) -> None:
        """Try at once, if it waits for its next try."""
        self._again.set()

    def finish_login(self, returned: Returned) -> bool:
        return self._login is not None and self._login.finish(returned)

    async def accept(self, digests: dict[str, str]) -> None:
        """Let the tools be called whose present digests are these. Others stay as they are."""
        pinned = self._pinned
        if pinned is None:
            return
        present = {one.tool: one.digest for one in self._definitions()}
        taken = {tool: digest for tool, digest in digests.items() if present.get(tool) == digest}
        self._pinned = Pinned(place=pinned.place, tools={**pinned.tools, **taken})
        await self._house.pins.save(self.name, self._pinned)
        self._changed()

    async def forget(self) -> None:
        """The server has left the settings: nothing of it is trusted, or kept, any longer."""
        await self._house.pins.remove(self.name)
        for what in KEPT:
            await self._house.vault.remove(f"mcp/{self.name}/{what}")

    def tools(self) -> Iterator[McpTool]:
        """Those that can be called now."""
        if self._connection is not None and self._pinned is not None:
            for one in self._definitions():
                if standing(one, self._pinned) == "accepted":
                    yield McpTool(self.name, one, self.call)

    def status(self) -> ServerStatus:
        connection, pinned = self._connection, self._pinned
        info = connection.server if connection else None
        return ServerStatus(
            server=self.name,
            state=self._state,
            title=visible(info.title or info.name)[:200] if info else "",
            version=visible(info.version)[:100] if info else "",
            protocol=connection.protocol if connection else "",
            instructions=connection.instructions if connection else "",
            tools=tuple(self._told(one, pinned) for one in self._definitions()) if pinned else (),
            unfit=self._listed.unfit if self._listed else {},
            log=tuple(self._log),
        )

    def connection(self) -> Connection:
        """Raises `McpFailed` while there is none."""
        if self._connection is None:
            state = self._state
            reason = state.problem.message if state.problem else state.phase
            raise McpFailed("mcp_not_ready", server=self.name, reason=reason)
        return self._connection

    async def call(
        self, definition: Definition, arguments: JsonObject, context: ToolContext
    ) -> Content:
        """Permission is checked here, at the call: a run may hold a tool that has changed since."""
        connection, tool = self.connection(), definition.tool
        now = next((one for one in self._definitions() if one.tool == tool), None)
        if now is None:
            raise McpFailed("mcp_gone", server=self.name, tool=tool)
        accepted = self._pinned is not None and standing(now, self._pinned) == "accepted"
        if not accepted or now.digest != definition.digest:
            raise McpFailed("mcp_changed", server=self.name, tool=tool)

        def heard(done: float, total: float | None, message: str | None) -> None:
            if self._house.progress is not None:
                name = tool_name(self.name, tool)
                self._house.progress(context, name, done, total, visible(message or "")[:500])

        from teahouse.tools.mcp.content import of_result

        try:
            async with self._calls:
                result = await connection.call(tool, arguments, self.settings.timeout_s, heard)
        except McpFailed as error:
            if error.code != "mcp_refused":
                self._stirred.set()  # is it still there?
            raise
        content = await of_result(result, context, self._house.keep)
        if result.is_error:
            raise ServerSaid(text_of(content) or "error")
        return content

    def _told(self, one: Definition, pinned: Pinned) -> ToolStatus:
        return ToolStatus(
            name=tool_name(self.name, one.tool),
            tool=one.tool,
            description=one.description,
            standing=standing(one, pinned),
            digest=one.digest,
            hints=one.hints,
        )

    def _definitions(self) -> tuple[Definition, ...]:
        return self._listed.tools if self._listed else ()

    async def _hold(self) -> None:
        """One connection from its start to its end, which raises."""
        await asyncio.to_thread(importlib.import_module, _HEAVY)
        from teahouse.tools.mcp.connection import connected
        from teahouse.tools.mcp.login import Login

        limits, begun = self._house.limits, asyncio.get_running_loop().time
        clock, starting = asyncio.timeout(limits.start_s), True

        def waiting(url: str | None) -> None:
            """Who waits for a person is not measured by a server's clock."""
            if starting:
                clock.reschedule(None if url else begun() + limits.start_s)
            over: Phase = "starting" if starting else "ready"
            self._set(State(phase="login" if url else over, login_url=url))

        self._login = Login(self.name, self.settings, self._house, waiting)
        async with AsyncExitStack() as stack:
            try:
                async with clock:
                    connection = await stack.enter_async_context(
                        connected(
                            self.name,
                            self.settings,
                            self._house,
                            log=self._log,
                            login=self._login,
                            stir=self._stirred.set,
                        )
                    )
            except TimeoutError as error:
                seconds = f"{limits.start_s:g}"
                raise McpFailed("mcp_silent", server=self.name, seconds=seconds) from error
            finally:
                starting = False
            await self._attend(connection)

    async def _attend(self, connection: Connection) -> None:
        limits = self._house.limits
        async with anyio.create_task_group() as group:
            group.start_soon(connection.listen, self._stirred.set)
            while True:
                _leave_if_told()
                self._stirred.clear()
                await self._list(connection)
                await asyncio.sleep(limits.relist_s)
                with suppress(TimeoutError):
                    async with asyncio.timeout(limits.check_s if self.settings.url else None):
                        await self._stirred.wait()

    async def _list(self, connection: Connection) -> None:
        connection.check()
        listed = await connection.tools()
        pinned = self._pinned or await self._house.pins.load(self.name)
        if pinned is None or pinned.place != self.settings.place:
            # whoever entered this server has accepted what it offers now, and nothing later
            tools = {one.tool: one.digest for one in listed.tools}
            pinned = Pinned(place=self.settings.place, tools=tools)
            await self._house.pins.save(self.name, pinned)
        same = self._connection is connection and self._listed == listed
        self._listed, self._pinned, self._connection = listed, pinned, connection
        if not same:
            self._set(State(phase="ready"))

    async def _pause(self, problem: Problem, failures: int) -> None:
        limits = self._house.limits
        longest = min(limits.first_retry_s * 2 ** min(failures - 1, 30), limits.longest_retry_s)
        delay = longest * (1 + fraction()) / 2
        at = self._house.clock.now() + timedelta(seconds=delay)
        self._again.clear()
        self._set(State(phase="retrying", problem=problem, retry_at=at, failures=failures))
        with suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await self._again.wait()

    def _problem(self, error: Exception) -> Problem:
        found: BaseException = error
        while isinstance(found, BaseExceptionGroup):  # the SDK's tasks fail in groups
            found = cast("BaseExceptionGroup[BaseException]", found).exceptions[0]
        if isinstance(found, TeahouseError):
            return found.problem()
        detail = visible(str(found))[:500] or type(found).__name__
        return McpFailed("mcp_start", server=self.name, detail=detail).problem()

    def _set(self, state: State) -> None:
        self._state = state
        self._changed()


def _leave_if_told() -> None:
    """A group of tasks that fails while it is cancelled tells only of its failure."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
