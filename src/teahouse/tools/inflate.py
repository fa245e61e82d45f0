"""Unpacks what servers pack, never beyond a limit: a few bytes can hold gigabytes."""

from __future__ import annotations

import zlib


class Inflater:
    """Knows gzip and deflate, the two that every server has. Raises `ValueError` for others, and
    for what is damaged or cut. Gives back at most `limit` bytes in all."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding = encoding.strip().lower()
        self._left = limit
        self._gzip = self._encoding in {"gzip", "x-gzip"}
        if not self._gzip and self._encoding not in {"", "identity", "deflate"}:
            raise ValueError(f"Content-Encoding: {self._encoding}")
        self._unpack = zlib.decompressobj(31) if self._gzip else None
        self._begun = False

    def feed(self, data: bytes) -> bytes:
        if self._encoding in {"", "identity"}:
            return self._taken(data)
        unpacked = bytearray()
        while data and self._left > 0:
            unpacked += self._taken(self._step(data))
            assert self._unpack is not None
            if self._unpack.eof:
                data = self._unpack.unused_data if self._gzip else b""
                if data:  # several files in one, which gzip allows
                    self._unpack = zlib.decompressobj(31)
            else:
                data = self._unpack.unconsumed_tail
        return bytes(unpacked)

    def end(self) -> None:
        if self._begun and self._unpack is not None and not self._unpack.eof:
            raise ValueError("the packed body is cut")

    def _step(self, data: bytes) -> bytes:
        if self._unpack is None:  # some servers send deflate bare, without its wrapping
            wrapped = data[0] & 15 == 8
            self._unpack = zlib.decompressobj(15 if wrapped else -15)
        self._begun = True
        try:
            return self._unpack.decompress(data, self._left)
        except zlib.error as error:
            raise ValueError(f"the packed body is damaged: {error}") from error

    def _taken(self, data: bytes) -> bytes:
        taken = data[: self._left]
        self._left -= len(taken)
        return taken
