"""JSON objects from bytes, however the network cut them: a line each, or the items of one array."""

from __future__ import annotations

import re
from typing import Final

from teahouse.llm.sse import LONGEST_EVENT, EventTooLong, SseEvent

_BOM: Final = b"\xef\xbb\xbf"
_BETWEEN: Final = re.compile(rb"[\s,\[\]\x1e]*")
_STRAY: Final = re.compile(rb"[\n{]")
_OUTSIDE: Final = re.compile(rb'["{}]')
_INSIDE: Final = re.compile(rb'["\\]')  # of a string


class JsonObjects:
    """Feed it what a read brought, take the objects that are complete. Each byte is looked at once.

    What stands between two objects and is no separator comes out as it is, to be refused.
    """

    def __init__(self, limit: int = LONGEST_EVENT) -> None:
        self._limit = limit
        self._begun = False
        self._buffer = bytearray()  # from the start of the object that is not complete
        self._at = 0  # what has been looked at
        self._depth = 0
        self._quoted = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the objects that `data` completes; raises `EventTooLong`."""
        self._buffer += data
        events: list[SseEvent] = []
        while self._next(events) if self._depth == 0 else self._walk(events):
            pass
        if len(self._buffer) > self._limit:
            raise EventTooLong(self._limit)
        return events

    def end(self) -> list[SseEvent]:
        """The stream has ended: return what is there of an object that was cut, if any."""
        rest = bytes(self._buffer).strip()
        self._buffer.clear()
        return [SseEvent("", rest)] if rest else []

    def _next(self, events: list[SseEvent]) -> bool:
        """Go to where the next object begins; returns whether to look further."""
        if not self._begun:
            if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
                return False
            self._begun = True
            if self._buffer.startswith(_BOM):
                del self._buffer[: len(_BOM)]
        between = _BETWEEN.match(self._buffer)
        del self._buffer[: between.end() if between else 0]
        if self._buffer.startswith(b"{"):
            self._depth = self._at = 1
            return True
        stray = _STRAY.search(self._buffer)
        if stray is None:
            return False
        events.append(SseEvent("", bytes(self._buffer[: stray.start()])))
        del self._buffer[: stray.start()]
        return True

    def _walk(self, events: list[SseEvent]) -> bool:
        """Go to the next mark inside of an object; returns whether to look further."""
        found = (_INSIDE if self._quoted else _OUTSIDE).search(self._buffer, self._at)
        if found is None:
            self._at = len(self._buffer)
            return False
        self._at = found.end()
        match found[0]:
            case b'"':
                self._quoted = not self._quoted
            case b"\\":
                if self._at == len(self._buffer):  # what it escapes is still to come
                    self._at = found.start()
                    return False
                self._at += 1
            case b"{":
                self._depth += 1
            case _:
                self._depth -= 1
                if self._depth == 0:
                    events.append(SseEvent("", bytes(self._buffer[: self._at])))
                    del self._buffer[: self._at]
        return True
