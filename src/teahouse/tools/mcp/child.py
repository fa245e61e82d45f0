"""A server that runs as a child and is spoken to over its stdin and stdout, a message a line.

Not the SDK's own transport: that one takes lines of any length, hands on more of the environment,
and leaves the server behind when we are killed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from teahouse.core.tasks import Supervisor
from teahouse.tools.mcp.errors import McpFailed
from teahouse.tools.mcp.pace import Pace
from teahouse.tools.mcp.ports import House
from teahouse.tools.mcp.settings import ServerSettings

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Inbound = MemoryObjectSendStream[SessionMessage | Exception]
    Outbound = MemoryObjectReceiveStream[SessionMessage]
    Streams = tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]

_GUARD: Final = Path(__file__).with_name("guard.py")
_USUAL: Final = ("PATH", "HOME", "LANG")
_CHUNK: Final = 1 << 16
_MESSAGES, _WORDS = 250, 1 << 18  # within a quarter of a second: messages, bytes on stderr
_MOST_GARBAGE: Final = 200  # lines in a row
_LONGEST_LINE: Final = 500  # characters of a line in the log
_WRITE_S, _LEAVE_S, _END_S = 30.0, 2.0, 3.0


class Child:
    """The SDK's `Transport`. `why` says what ended it; `log` are its last words on stderr."""

    def __init__(
        self,
        name: str,
        settings: ServerSettings,
        house: House,
        log: deque[str],
        over: Callable[[], None],
    ) -> None:
        self._name, self._settings, self._house, self._log = name, settings, house, log
        self._over = over
        self._tasks = Supervisor()
        self._process: asyncio.subprocess.Process | None = None
        self.why: McpFailed | None = None

    async def __aenter__(self) -> Streams:
        process = self._process = await self._start()
        heard_in, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        said, said_out = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks.start(f"mcp {self._name}: stdout", self._hear(process, heard_in))
        self._tasks.start(f"mcp {self._name}: stdin", self._speak(process, said_out, heard_in))
        self._tasks.start(f"mcp {self._name}: stderr", self._note(process))
        return heard, said

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process = self._process
        assert process is not None
        try:
            await self._leave(process)
        finally:
            _signal(process, signal.SIGKILL)
            await self._tasks.__aexit__(None)

    async def _start(self) -> asyncio.subprocess.Process:
        settings = self._settings
        environment = {k: v for k, v in self._house.environment.items() if k in _USUAL}
        environment |= settings.env
        assert settings.command is not None
        command = settings.command
        found = shutil.which(command, path=environment.get("PATH", os.defpath))
        if found is None:
            detail = f"{command}: {os.strerror(2)}"
            raise McpFailed("mcp_start", server=self._name, detail=detail)
        argv = [found, *settings.args]
        if sys.platform == "linux":
            argv = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), "--", *argv]
        try:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=settings.cwd or self._house.folder,
                env=environment,
                start_new_session=True,
                limit=_CHUNK,
            )
        except (OSError, ValueError) as error:
            raise McpFailed("mcp_start", server=self._name, detail=error) from error

    async def _hear(self, process: asyncio.subprocess.Process, heard: Inbound) -> None:
        async with heard:  # closing it tells the session, so `why` is known before
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.why = await self._hear_all(process, heard)
                self._over()
        assert process.stdout is not None
        while await process.stdout.read(
            _CHUNK
        ):  # else it could not leave, nor be seen to have left
            pass

    async def _hear_all(self, process: asyncio.subprocess.Process, heard: Inbound) -> McpFailed:
        assert process.stdout is not None
        lines, pace, garbage = _Lines(self._house.limits.message), Pace(_MESSAGES), 0
        while chunk := await process.stdout.read(_CHUNK):
            for line in lines.feed(chunk):
                await pace.take()
                message = _read(line)
                if message is not None:
                    await heard.send(message)
                    garbage = 0
                    continue
                self._keep(line)
                garbage += 1
                if garbage > _MOST_GARBAGE:
                    return McpFailed("mcp_garbage", server=self._name, detail=self._last())
            if lines.too_long:
                limit = self._house.limits.message >> 10
                return McpFailed("mcp_too_large", server=self._name, limit_kb=limit)
        return await self._ended(process)

    async def _ended(self, process: asyncio.subprocess.Process) -> McpFailed:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_S):
                await process.wait()
        status = "?" if process.returncode is None else process.returncode
        return McpFailed("mcp_ended", server=self._name, status=status, detail=self._last())

    async def _speak(
        self,
        process: asyncio.subprocess.Process,
        said: Outbound,
        heard: Inbound,
    ) -> None:
        """A server that does not read any more is as good as gone."""
        assert process.stdin is not None
        async with said:
            try:
                async for message in said:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    process.stdin.write(text.encode() + b"\n")
                    async with asyncio.timeout(_WRITE_S):
                        await process.stdin.drain()
            except (OSError, TimeoutError):
                await heard.aclose()

    async def _note(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        lines, pace = _Lines(_CHUNK, cut=True), Pace(_WORDS)
        while chunk := await process.stderr.read(_CHUNK):
            await pace.take(len(chunk))
            for line in lines.feed(chunk):
                self._keep(line)

    def _keep(self, line: bytes) -> None:
        self._log.append(
            line[: 4 * _LONGEST_LINE].decode(errors="replace")[:_LONGEST_LINE].rstrip()
        )

    def _last(self) -> str:
        return self._log[-1] if self._log else "…"

    async def _leave(self, process: asyncio.subprocess.Process) -> None:
        """As the protocol has it: close stdin, wait, ask, wait, and then no more asking."""
        assert process.stdin is not None
        process.stdin.close()
        for seconds, number in (
            (_LEAVE_S, signal.SIGTERM),
            (_END_S, signal.SIGKILL),
            (_LEAVE_S, signal.SIGKILL),
        ):
            try:
                async with asyncio.timeout(seconds):
                    await process.wait()
                    return
            except TimeoutError:
                _signal(process, number)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """To the whole group, unless its leader is gone: then its guard has seen to the rest."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


def _read(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


class _Lines:
    """Splits what comes into lines; one that is longer than `most` ends it, or is `cut`."""

    def __init__(self, most: int, *, cut: bool = False) -> None:
        self._most, self._cut = most, cut
        self._rest = bytearray()
        self.too_long = False

    def feed(self, chunk: bytes) -> list[bytes]:
        *whole, rest = chunk.split(b"\n")
        found: list[bytes] = []
        for line in whole:
            self._rest += line
            found.append(bytes(self._rest))
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > self._most:
            self.too_long = not self._cut
            self._rest.clear()
        return [line for line in found if line.strip()]
