"""A request to the gateway, read with limits, and the key that came with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from teahouse.core.errors import Invalid, TooLarge, Unauthenticated
from teahouse.server.gate import Receive, Scope

MOST_BODY: Final = 32 << 20  # bytes: what the vendors themselves take, pictures included
READ_S = 10.0
_KEY_HEADERS = (b"x-api-key", b"api-key", b"x-goog-api-key")


class Gone(Exception):
    """The client has closed its connection: there is nobody to answer."""


class Incoming:
    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.receive = receive
        self._headers = scope["headers"]

    @cached_property
    def headers(self) -> Mapping[str, str]:
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self._headers}

    def key(self) -> str:
        """Where each vendor's client puts it; raises `Unauthenticated`, also for two that differ:
        whoever checks the one could be told the other."""
        found = set[str]()
        for name, value in self._headers:  # a header may stand there twice
            key = value.decode("latin-1")
            if name == b"authorization":
                scheme, _, key = key.partition(" ")
                if key and scheme.lower() != "bearer":
                    raise Unauthenticated("key_wrong")
            elif name not in _KEY_HEADERS:
                continue
            found.add(key.strip())
        found.discard("")
        if not found:
            raise Unauthenticated("key_missing")
        if len(found) > 1:
            raise Unauthenticated("keys_differ")
        return found.pop()

    async def body(self) -> bytes:
        """Raises `TooLarge`, `Invalid` when it comes too slowly or packed, and `Gone`."""
        packed = self.headers.get("content-encoding", "identity").strip().lower()
        if packed not in {"", "identity"}:
            raise Invalid("body_packed", found=packed)
        length = self.headers.get("content-length", "")
        if length.isdigit() and int(length) > MOST_BODY:
            raise TooLarge("request_too_large", megabytes=MOST_BODY >> 20)
        pieces: list[bytes] = []
        size = 0
        while True:
            try:
                async with asyncio.timeout(READ_S):
                    message = await self.receive()
            except TimeoutError:
                raise Invalid("body_too_slow", seconds=f"{READ_S:g}") from None
            if message["type"] == "http.disconnect":
                raise Gone
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > MOST_BODY:
                raise TooLarge("request_too_large", megabytes=MOST_BODY >> 20)
            pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(pieces)
