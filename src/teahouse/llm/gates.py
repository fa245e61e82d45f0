"""How many calls a provider gets at once and in a minute; who comes too many waits a while."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from teahouse.core.clock import Clock
from teahouse.llm.errors import Busy
from teahouse.llm.settings import RateLimits

MINUTE_S = 60.0


def no_limits(_: str) -> RateLimits:
    return RateLimits()


class Gates:
    """`limits` is asked at each call, so that a changed setting counts at once."""

    def __init__(
        self,
        clock: Clock,
        limits: Callable[[str], RateLimits],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._limits, self._sleep = clock, limits, sleep
        self._gates: dict[str, _Gate] = {}

    @asynccontextmanager
    async def pass_through(self, provider: str) -> AsyncGenerator[None]:
        """Hold one of the provider's places. Raises `Busy` when none gets free in time."""
        limits = self._limits(provider)
        if limits.concurrent is None and limits.per_minute is None:
            yield
            return
        gate = self._gates.get(provider)
        if gate is None or gate.limits != limits:
            gate = self._gates[provider] = _Gate(limits, self._clock, self._sleep)
        try:
            async with asyncio.timeout(limits.wait_s):
                await gate.enter()
        except TimeoutError:
            raise Busy(provider, limits.wait_s) from None
        try:
            yield
        finally:
            gate.leave()


class _Gate:
    def __init__(
        self, limits: RateLimits, clock: Clock, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self.limits = limits
        self._clock, self._sleep = clock, sleep
        self._places = asyncio.Semaphore(limits.concurrent) if limits.concurrent else None
        self._starts: deque[float] = deque(maxlen=limits.per_minute)

    async def enter(self) -> None:
        if self._places is not None:
            await self._places.acquire()
        try:
            await self._turn()
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        if self._places is not None:
            self._places.release()

    async def _turn(self) -> None:
        """Wait until fewer than the allowed calls have begun in the last minute."""
        if self.limits.per_minute is None:
            return
        while True:
            now = self._clock.monotonic()
            while self._starts and self._starts[0] <= now - MINUTE_S:
                self._starts.popleft()
            if len(self._starts) < self.limits.per_minute:
                self._starts.append(now)
                return
            await self._sleep(self._starts[0] + MINUTE_S - now)
