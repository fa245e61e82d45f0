"""What a file is by its own first bytes; a client's word for it is never believed."""

from __future__ import annotations

import codecs

LOOKS_AT = 4_096  # bytes

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
)
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body", b"<script", b"<svg", b"<?xml", b"<!--")
_UNWRITTEN = frozenset(range(32)) - frozenset(b"\t\n\f\r\x1b")


def media_type(start: bytes) -> str:
    """The type of a file that begins with `start`, which holds up to `LOOKS_AT` bytes of it.

    Whatever a browser could take for a page or a drawing that runs scripts is `text/html`.
    """
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    if not _is_text(start):
        return "application/octet-stream"
    words = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    return "text/html" if words.startswith(_MARKUP) else "text/plain"


def _is_text(start: bytes) -> bool:
    try:
        # not the final piece: a character may be cut at its end
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < LOOKS_AT)
    except UnicodeDecodeError:
        return False
    return not _UNWRITTEN.intersection(start)
