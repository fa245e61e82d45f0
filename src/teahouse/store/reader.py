"""A few threads that read, each with its own read-only connection and a snapshot per call."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine

from teahouse.store.engine import translated
from teahouse.store.writer import Work

T = TypeVar("T")

THREADS = 3
WAITING = 1_024  # reads that may queue up; further callers wait for room


class Reader:
    """`await reader(work)` runs `work` on one consistent snapshot of all that was committed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._own = threading.local()
        self._opened: list[Connection] = []
        self._room = asyncio.Semaphore(WAITING)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store reader")

    async def __call__(self, work: Work[T]) -> T:
        async with self._room:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, work)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._opened:
            connection.close()

    def _read(self, work: Work[T]) -> T:
        try:
            connection: Connection | None = getattr(self._own, "connection", None)
            if connection is None:
                connection = self._own.connection = self._engine.connect()
                self._opened.append(connection)
            with connection.begin():
                return work(connection)
        except Exception as error:
            ours = translated(error)
            if ours is error:
                raise
            raise ours from error
