"""Takes secrets out of recorded bytes, in every form in which they travel, and moves nothing else.

A secret is struck out character by character, so that lengths, offsets and the cuts between reads
stay what they were. Struck out is any piece of eight characters and more: whole keys, halves that
an error quotes, base64 and percent forms, and a key that a model streams in small pieces.
"""

from __future__ import annotations

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from urllib.parse import quote

PIECE = 8  # characters; what is shorter than this tells nobody anything
_SHORTEST = 4
_MASKED = re.compile(
    rb"(?:[*.]{3}|\xe2\x80[\xa2\xa6]|\\u202[26])+[*.]*"
)  # sk-a…: how vendors quote a key
_FIELD = re.compile(rb'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_CAREFUL = re.compile(r"[<>&='+]")  # what some escape though JSON does not ask for it
_Span = tuple[int, int]


class Scrubber:
    """`learn` may come at any time; it counts from then on."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[bytes] = set()
        self._pieces: set[bytes] = set()
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        secret = secret.strip()
        if len(secret) < _SHORTEST:
            return
        self._secrets.add(secret.encode())
        for form in _forms(secret):
            starts = range(max(1, len(form) - PIECE + 1))
            self._pieces.update(form[start : start + PIECE] for start in starts)

    def clean(self, data: bytes) -> bytes:
        """`data` with every secret struck out; as long as it was."""
        spans = [*self._spans(data), *self._quoted(data), *self._streamed(data)]
        if not spans:
            return data
        found = bytearray(data)
        for start, end in spans:
            found[start:end] = b"*" * (end - start)
        return bytes(found)

    def clean_text(self, text: str) -> str:
        return self.clean(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def _spans(self, data: bytes) -> Iterator[_Span]:
        for piece in self._pieces:
            at = data.find(piece)
            while at >= 0:
                yield at, at + len(piece)
                at = data.find(piece, at + 1)

    def _quoted(self, data: bytes) -> Iterator[_Span]:
        """Both ends of a key that was masked by somebody else."""
        for mask in _MASKED.finditer(data):
            before, after = data[: mask.start()], data[mask.end() : mask.end() + PIECE]
            for secret in self._secrets:
                heads = (n for n in range(PIECE, 2, -1) if before.endswith(secret[:n]))
                tails = (n for n in range(PIECE, 1, -1) if after.startswith(secret[-n:]))
                head, tail = next(heads, 0), next(tails, 0)
                if head or tail:
                    yield mask.start() - head, mask.end() + tail

    def _streamed(self, data: bytes) -> Iterator[_Span]:
        """Secrets that are whole only when all values of one field are read one after the other."""
        fields: dict[bytes, list[_Span]] = defaultdict(list)
        for match in _FIELD.finditer(data):
            if match.end(2) > match.start(2):
                fields[match[1]].append(match.span(2))
        for places in fields.values():
            if len(places) < 2:
                continue
            joined = b"".join(data[start:end] for start, end in places)
            struck = sorted(self._spans(joined))
            if struck:
                yield from _placed(struck, places)


def _placed(struck: Iterable[_Span], places: Iterable[_Span]) -> Iterator[_Span]:
    """Where spans of the joined values lie in the data."""
    marks = sorted(struck)
    offset = 0
    for start, end in places:
        size = end - start
        for first, last in marks:
            low, high = max(first, offset), min(last, offset + size)
            if low < high:
                yield start + low - offset, start + high - offset
        offset += size


def _forms(secret: str) -> Iterator[bytes]:
    raw = secret.encode()
    yield raw
    yield quote(secret, safe="").encode()
    for escaped in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        yield escaped.encode()
        yield escaped.replace("/", "\\/").encode()  # as PHP writes it
        yield _CAREFUL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", escaped).encode()
    yield raw.hex().encode()
    for shift in range(3):  # wherever it stands within what was encoded
        whole = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
        inner = whole[(0, 2, 3)[shift] :]
        if (shift + len(raw)) % 3:
            inner = inner[:-1]
        yield inner
        yield inner.replace(b"+", b"-").replace(b"/", b"_")
