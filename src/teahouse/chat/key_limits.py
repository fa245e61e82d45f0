"""How often and how many at once: what a key's limits let through at this moment.

They are counted in memory, for this process alone serves a home. Whoever asks too much is told at
once when to come back: clients of a gateway know how to wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import ceil

from msgspec import Struct, field

from teahouse.chat.ports import ApiKey
from teahouse.core.clock import Clock
from teahouse.core.errors import TooManyAttempts

WINDOW_S = 60.0
COME_BACK_S = 1.0  # nobody knows when one of a key's requests will end
MOST_REMEMBERED = 1000  # keys, before those that rest are forgotten


class _Use(Struct):
    begun: deque[float] = field(default_factory=deque[float])  # within the last minute
    running: int = 0


class KeyLimits:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._uses: dict[str, _Use] = {}

    @asynccontextmanager
    async def pass_key(self, key: ApiKey | None) -> AsyncGenerator[None]:
        """Held while a request lasts; raises `TooManyAttempts` instead of letting it wait.

        A request that is refused counts for nothing. What is no key has no limits.
        """
        if key is None or key.rate is key.concurrent is None:
            yield
            return
        use = self._enter(key)
        try:
            yield
        finally:
            use.running -= 1

    def _enter(self, key: ApiKey) -> _Use:
        now = self._clock.monotonic()
        if len(self._uses) >= MOST_REMEMBERED:
            self._forget(now)
        use = self._uses.setdefault(key.id, _Use())
        while use.begun and use.begun[0] <= now - WINDOW_S:
            use.begun.popleft()
        if key.concurrent is not None and use.running >= key.concurrent:
            raise TooManyAttempts("key_concurrent", retry_after_s=COME_BACK_S, limit=key.concurrent)
        if key.rate is not None:
            if len(use.begun) >= key.rate:
                left = use.begun[-key.rate] + WINDOW_S - now
                raise TooManyAttempts("key_rate", retry_after_s=ceil(left), limit=key.rate)
            use.begun.append(now)
        use.running += 1
        return use

    def _forget(self, now: float) -> None:
        awake = now - WINDOW_S
        self._uses = {
            key: use
            for key, use in self._uses.items()
            if use.running or (use.begun and use.begun[-1] > awake)
        }
