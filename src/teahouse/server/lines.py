"""JSON as one line of a stream, for whoever writes events: the page's and the gateway's alike."""

from __future__ import annotations

from typing import Final

# some readers of a stream take these for the end of a line; in JSON they stand only in strings
_BREAKS: Final = (
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
    (b"\xc2\x85", b"\\u0085"),
)


def one_line(data: bytes) -> bytes:
    """JSON as one line, whatever its reader takes for the end of one."""
    if data.isascii():
        return data
    for found, escaped in _BREAKS:
        data = data.replace(found, escaped)
    return data
