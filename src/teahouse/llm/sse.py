"""Server-sent events from bytes, however the network cut them.

Own code, because what exists decodes line by line (four to seven times the work) or breaks on line
ends that models' servers really send. Follows the WHATWG rules, except that an event at the very
end needs no blank line, and that events without data are left out.
"""

from __future__ import annotations

from msgspec import Struct

_BOM = b"\xef\xbb\xbf"
LONGEST_EVENT = 8 << 20


class SseEvent(Struct, frozen=True):
    """`name` is empty unless the stream gave one; `data` is never blank."""

    name: str
    data: bytes


class EventTooLong(ValueError):
    """An event is longer than the limit; nothing sane sends that."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"an event is longer than {limit} bytes")


class SseParser:
    """Feed it what a read brought, take the events that are complete.

    Lines end with LF, CR or CRLF. Each byte is looked at once. `comments` counts comment lines:
    they show that the other side lives, and nothing else.
    """

    def __init__(self, limit: int = LONGEST_EVENT) -> None:
        self.comments = 0
        self._limit = limit
        self._head: bytes | None = b""  # the first bytes, until they can't be a BOM any more
        self._after_cr = False  # a LF that comes next belongs to a line end already seen
        self._line = bytearray()  # the line that has no end yet
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0  # bytes of the event so far

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that `data` completes; raises `EventTooLong`."""
        data = self._without_bom(data)
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if not data:
            return []
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *lines = data.split(b"\n")
        self._grow(len(first))
        self._line += first
        if not lines:
            return []
        events: list[SseEvent] = []
        self._take(bytes(self._line), events)
        self._line = bytearray(lines.pop())
        for line in lines:
            if line:
                self._grow(len(line))
                self._take(line, events)
            else:
                self._dispatch(events)
        self._grow(len(self._line))
        return events

    def end(self) -> list[SseEvent]:
        """The stream has ended: return the event that lacks only its blank line, if any."""
        events = self.feed(b"") if self._head is None else self._flush_head()
        self._take(bytes(self._line), events)
        self._take(b"", events)
        self._line = bytearray()
        return events

    def _without_bom(self, data: bytes) -> bytes:
        if self._head is None:
            return data
        self._head += data
        if len(self._head) < len(_BOM) and _BOM.startswith(self._head):
            return b""
        data, self._head = self._head.removeprefix(_BOM), None
        return data

    def _flush_head(self) -> list[SseEvent]:
        head, self._head = self._head or b"", None
        return self.feed(head)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            raise EventTooLong(self._limit)

    def _take(self, line: bytes, events: list[SseEvent]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif not line:
            self._dispatch(events)
        elif line.startswith(b":"):
            self.comments += 1
        elif line.startswith(b"event:"):
            self._name = line[6:].strip().decode("utf-8", "replace")

    def _dispatch(self, events: list[SseEvent]) -> None:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        if data and not data.isspace():
            events.append(SseEvent(self._name, data))
        self._name, self._size = "", 0
        self._data.clear()
