"""What waits to be sent to one reader: never more than a fixed number of bytes.

Past the soft limit deltas are left out; past the hard limit the reader is given up, and comes back
with `after`. What a reader asked for itself, its backlog, is on top of that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from teahouse.core.bus import Frame

SOFT_BYTES = 1 << 20
HARD_BYTES = 4 << 20


class Pending:
    def __init__(self, soft: int = SOFT_BYTES, hard: int = HARD_BYTES) -> None:
        self._soft, self._hard = soft, hard
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._owed = 0  # bytes of backlogs, which do not count until all is sent

    def __bool__(self) -> bool:
        return bool(self._frames)

    def add(self, frames: Iterable[Frame], *, owed: bool = False) -> bool:
        """Queue `frames`; False when the reader is hopelessly behind: then nothing waits."""
        for frame in frames:
            size = len(frame.data)
            if owed:
                self._owed += size
            elif frame.droppable and self._bytes - self._owed > self._soft:
                continue
            self._frames.append(frame)
            self._bytes += size
        if self._bytes - self._owed > self._hard:
            self.clear()
            return False
        return True

    def take(self) -> Frame:
        frame = self._frames.popleft()
        self._bytes -= len(frame.data)
        if not self._frames:
            self._owed = 0
        return frame

    def clear(self) -> None:
        self._frames.clear()
        self._bytes = self._owed = 0
