"""The time that a run may take. It stands still while the run waits for a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

_TICK_S = 0.01  # timers may fire this much early, and nothing can be done in what is left


class Wall:
    """Made inside the event loop. `late` says whether the time is used up."""

    def __init__(self, seconds: float) -> None:
        self._time = asyncio.get_running_loop().time
        self._until = self._time() + seconds
        self._waiting = 0
        self._since = 0.0  # when the waiting began
        self._limits: set[asyncio.Timeout] = set()

    @property
    def late(self) -> bool:
        return not self._waiting and self._until - self._time() < _TICK_S

    @asynccontextmanager
    async def limit(self) -> AsyncGenerator[asyncio.Timeout]:
        """As `asyncio.timeout`, for work that must end with the run's time."""
        async with asyncio.timeout_at(None if self._waiting else self._until) as limit:
            self._limits.add(limit)
            try:
                yield limit
            finally:
                self._limits.discard(limit)

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Stop the clock for the length of the block. Blocks may lie side by side."""
        if not self._waiting:
            self._since = self._time()
            self._set(None)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._until += self._time() - self._since
                self._set(self._until)

    def _set(self, until: float | None) -> None:
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(until)
