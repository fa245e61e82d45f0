"""A clock that a test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from teahouse.core.clock import Clock

_START = datetime(2026, 4, 5, 6, 7, 8, 90_000, tzinfo=UTC)


class FakeClock(Clock):
    """Moves on by `tick_s` each time it is read, so that no two instants are the same."""

    def __init__(self, now: datetime = _START, *, tick_s: float = 0.001) -> None:
        self._start = self._now = now
        self._tick = timedelta(seconds=tick_s)

    def now(self) -> datetime:
        self._now += self._tick
        return self._now

    def monotonic(self) -> float:
        return (self._now - self._start).total_seconds()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
