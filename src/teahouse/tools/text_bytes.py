"""Reads text in whatever encoding it was saved, so that it can be saved in the same again."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import Final

from msgspec import Struct

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OTHERS: Final = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252"]
_NO_TEXT: Final = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_SHORT: Final = 256  # bytes outside of ASCII that are too few to tell encodings apart by counting


class TextBytes(Struct, frozen=True, kw_only=True):
    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def save(self, text: str) -> bytes:
        """Raises `UnicodeEncodeError` where the encoding lacks a character."""
        return self.mark + text.encode(self.encoding)


def read_text(data: bytes) -> TextBytes | None:
    """None for what is no text, or would not come out the same when it is saved again."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _read(data.removeprefix(mark), encoding, mark)
    if b"\0" in data:
        return None
    return _read(data, "utf-8") or _guessed(data)


def _guessed(data: bytes) -> TextBytes | None:
    from charset_normalizer import from_bytes

    foreign = sum(byte > 127 for byte in data)
    if foreign < _SHORT and _read(data, "gb2312"):
        return _read(data, "gb18030")
    best = from_bytes(data, cp_isolation=_OTHERS).best()
    return (_read(data, best.encoding) if best else None) or _read(data, "gb18030")


def _read(data: bytes, encoding: str, mark: bytes = b"") -> TextBytes | None:
    with suppress(UnicodeError):
        text = data.decode(encoding)
        if not _NO_TEXT.search(text) and text.encode(encoding) == data:
            return TextBytes(text=text, encoding=encoding, mark=mark)
    return None
