"""Slows down a server that sends without end, so that others are heard too."""

from __future__ import annotations

import asyncio
from typing import Final

_WINDOW_S: Final = 0.25


class Pace:
    """At most `most` units within a quarter of a second; who brings more waits for the next one."""

    def __init__(self, most: int) -> None:
        self._most, self._left, self._since = most, most, float("-inf")

    async def take(self, units: int = 1) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() - self._since >= _WINDOW_S:
            self._since, self._left = loop.time(), self._most
        self._left -= units
        if self._left < 0:
            await asyncio.sleep(max(0.0, self._since + _WINDOW_S - loop.time()))
