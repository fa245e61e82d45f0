"""What a value must look like where it stands: in a path, a query, a header or a body.

A value is never more than a value: whatever it holds, it cannot add a segment, a parameter or a
header, nor leave the place that the template gave it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias
from urllib.parse import quote, quote_plus, unquote

import msgspec

from teahouse.tools.http.errors import HttpRefused
from teahouse.tools.http.holes import Hole

Escape: TypeAlias = Callable[[str, Hole, str], str]
"""Of a value, the hole it is for, and the text that stands before it in the template."""

_DECODINGS: Final = 3  # as often as a chain of servers may decode one path
_LONE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_DOTS: Final = frozenset({".", ".."})


def text_of(value: Any, hole: Hole) -> str:
    """What text cannot hold (halves of characters) is refused, not mended."""
    try:
        told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        told.encode()
    except UnicodeEncodeError:
        raise HttpRefused("http_value_text", parameter=hole) from None
    return told


def in_path(value: str, hole: Hole, before: str) -> str:
    """Part of one segment. Steps up are refused in every form, since some servers decode twice."""
    decoded = value
    for _ in range(_DECODINGS):
        _check_steps(decoded, hole)
        decoded = unquote(decoded)
    _check_steps(decoded, hole)
    return quote(value, safe="")


def check_segment(segment: str, hole: Hole) -> None:
    """A filled segment that vanished or became a step is no longer the template's."""
    if not segment:
        raise HttpRefused("http_value_path", parameter=hole)
    for _ in range(_DECODINGS):
        segment = unquote(segment)
        _check_steps(segment, hole)


def literal(text: str, safe: str) -> str:
    """A template's own text in a URL. A lone percent sign must not make an escape of the value
    that follows it."""
    return quote(_LONE_PERCENT.sub("%25", text), safe=f"{safe}%")


def in_query(value: str, hole: Hole, before: str) -> str:
    return quote(value, safe="")


def in_form(value: str, hole: Hole, before: str) -> str:
    return quote_plus(value)


def in_header(value: str, hole: Hole, before: str) -> str:
    """After `name*=` any text, as RFC 8187 has it; else what is printable ASCII, in quotes such
    that it cannot end them."""
    if before.endswith("*="):
        return f"UTF-8''{quote(value, safe='')}"
    if not value.isascii() or not value.isprintable():
        raise HttpRefused("http_value_header", parameter=hole)
    if before.count('"') % 2:
        return value.replace("\\", "\\\\").replace('"', '\\"')
    return value


def in_text(value: str, hole: Hole, before: str) -> str:
    return value


def in_markup(value: str, hole: Hole, before: str) -> str:
    return html.escape(value)


def _check_steps(value: str, hole: Hole) -> None:
    steps = {piece.partition(";")[0].strip() for piece in value.replace("\\", "/").split("/")}
    if steps & _DOTS or any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
        raise HttpRefused("http_value_path", parameter=hole)
