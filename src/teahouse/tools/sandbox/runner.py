"""Runs one command behind the wall: starts it, hears it, ends it, and says what came of it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress

from teahouse.core.clock import Clock, SystemClock
from teahouse.tools.sandbox import cgroup, child, probe, watch
from teahouse.tools.sandbox.command import (
    Command,
    Ending,
    Hear,
    Outcome,
    SandboxUnavailable,
    Stream,
)

log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_GRACE_S = 5.0  # from our kill to the end of all pipes
_SIGNALLED = 128


class Sandbox:
    """Where commands run. Children are started from one thread that lives as long as this does: the
    kernel ends them with it. `close` ends what still runs."""

    def __init__(self, clock: Clock | None = None, *, program: str | None = None) -> None:
        self._clock = clock or SystemClock()
        self._program = program
        self._thread = ThreadPoolExecutor(1, "sandbox")
        self._state: probe.State | None = None
        self._probing = asyncio.Lock()

    async def state(self) -> probe.State:
        """What wall stands here, found out once by trying to get through it."""
        async with self._probing:
            if self._state is None:
                await asyncio.to_thread(cgroup.sweep)
                self._state = await probe.state(self._run, self._program)
            return self._state

    async def run(self, command: Command, hear: Hear | None = None) -> Outcome:
        """Raises `SandboxUnavailable`, also when the wall could not be built for this one command;
        then nothing has run. Cancelling ends the command and all that it started."""
        state = await self.state()
        if state.place is None:
            first = state.reasons[0]  # what has to be done is said of the better wall
            raise SandboxUnavailable(first.code, **first.values)
        return await self._run(state.place, command, hear)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, place: child.Place, command: Command, hear: Hear | None = None) -> Outcome:
        begun = self._clock.monotonic()
        async with self._started(place, command) as started:
            run = _Running(started, command, hear)
            await run.end()
            status = run.status()
        if status is None and run.ending == "exit":
            said = bytes(run.heard["stderr"]).decode("utf-8", "replace").strip()
            raise SandboxUnavailable("sandbox_broken", detail=said or "no reason was given")
        return Outcome(
            ending=run.ending,
            status=status if run.ending in ("exit", "cpu", "memory") else None,
            stdout=bytes(run.heard["stdout"]),
            stderr=bytes(run.heard["stderr"]),
            cut=run.cut,
            elapsed_s=self._clock.monotonic() - begun,
        )

    @asynccontextmanager
    async def _started(self, place: child.Place, command: Command) -> AsyncGenerator[child.Started]:
        loop = asyncio.get_running_loop()
        try:
            command = await asyncio.to_thread(child.ready, place, command)
        except OSError as error:
            raise _broken(error) from error
        starting = loop.run_in_executor(self._thread, child.start, place, command)
        try:
            started = await asyncio.shield(starting)
        except asyncio.CancelledError:
            await _buried(await starting)
            raise
        except OSError as error:
            raise _broken(error) from error
        try:
            yield started
        finally:
            await _buried(started)


def _broken(error: OSError) -> SandboxUnavailable:
    return SandboxUnavailable("sandbox_broken", detail=error.strerror or error)


class _Running:
    def __init__(self, started: child.Started, command: Command, hear: Hear | None) -> None:
        self._started, self._command, self._hear = started, command, hear
        self._told = bytearray()  # by the guard, in lines of JSON
        self._printed = 0
        self.heard: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self.cut = 0
        self.ending: Ending = "exit"

    async def end(self) -> None:
        """Wait until the command has ended and all it printed is heard."""
        limits = self._command.limits
        process = self._started.process
        assert process.stdout is not None
        assert process.stderr is not None
        pipes = {
            "stdout": process.stdout.fileno(),
            "stderr": process.stderr.fileno(),
            "status": self._started.status,
        }
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch())
            reading = [group.create_task(self._read(name, fd)) for name, fd in pipes.items()]
            _, late = await asyncio.wait(reading, timeout=limits.wall_s)
            if late:
                self._stop("time")
                _, late = await asyncio.wait(late, timeout=_GRACE_S)
            for task in (watching, *late):
                task.cancel()

    async def _watch(self) -> None:
        ending = await watch.until_too_much(
            self._started.process.pid,
            self._command.workspace,
            self._command.limits,
            set(self._started.group.folders),
        )
        self._stop(ending)

    async def _read(self, name: str, fd: int) -> None:
        reader = asyncio.StreamReader(_CHUNK)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(os.dup(fd), "rb", 0)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while data := await reader.read(_CHUNK):
                if name == "status":
                    self._told += data[:_CHUNK]
                else:
                    self._take("stdout" if name == "stdout" else "stderr", data)
        finally:
            transport.close()

    def _take(self, stream: Stream, data: bytes) -> None:
        limits = self._command.limits
        room = max(0, limits.kept_output - sum(len(heard) for heard in self.heard.values()))
        self.heard[stream] += data[:room]
        self.cut += max(0, len(data) - room)
        self._printed += len(data)
        if self._printed > limits.output:
            self._stop("output")
        elif self._hear is not None:
            self._hear(stream, data)

    def _stop(self, ending: Ending) -> None:
        if self.ending == "exit" and b'"exit-code"' not in self._told:
            self.ending = ending
        _kill(self._started)

    def status(self) -> int | None:
        """The exit status; None when the command has not run, or we have ended it."""
        _, found, rest = self._told.partition(b'"exit-code":')
        if not found:
            return None
        status = int(rest.split(b"}")[0])
        if self.ending == "exit" and self._started.group.out_of_memory():
            self.ending = "memory"
        elif self.ending == "exit" and status == _SIGNALLED + signal.SIGXCPU:
            self.ending = "cpu"
        return status


def _kill(started: child.Started) -> None:
    """Behind Landlock the guard ends the others before itself; bubblewrap's death is theirs."""
    if started.process.returncode is None:
        word = signal.SIGTERM if started.wall == "landlock" else signal.SIGKILL
        with suppress(ProcessLookupError):
            os.kill(started.process.pid, word)


async def _buried(started: child.Started) -> None:
    """Leave nothing: the process is killed and reaped, pipes are closed, the group is removed."""
    _kill(started)
    await asyncio.shield(asyncio.to_thread(_bury, started))


def _bury(started: child.Started) -> None:
    process = started.process
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_GRACE_S)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    os.close(started.status)
    started.group.remove()
