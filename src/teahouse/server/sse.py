"""A run's events as server-sent events, for programs that would rather not open a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from teahouse.core.bus import Frame
from teahouse.core.messages import Person, RunId
from teahouse.server.credentials import Credential
from teahouse.server.lines import one_line
from teahouse.server.pending import Pending
from teahouse.server.readers import Readers

if TYPE_CHECKING:
    from teahouse.chat.service import Chat

HEARTBEAT_S = 15.0
HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
LAST = "stream_end"
_HELLO = b"retry: 1000\n\n"
_HEARTBEAT = b": still here\n\n"


class _Typed(msgspec.Struct):
    type: str


class _Head(msgspec.Struct):
    event: _Typed


_head = msgspec.json.Decoder(_Head)


async def stream(
    chat: Chat,
    readers: Readers,
    reader: tuple[Credential, Person],
    run: RunId,
    after: int | None,
) -> AsyncGenerator[bytes]:
    """Yield the run's frames until its end, or until the reader loses its rights or lags."""
    feed = _Feed()
    _, person = reader
    leave = readers.enter(*reader, feed.end)
    subscription = None
    try:
        subscription, backlog = await chat.follow(person, run, feed.push, after=after)
        chunk, ended = _render(backlog)
        yield _HELLO + chunk
        while subscription is not None and not ended:
            frames = await feed.next()
            if frames is None:
                return
            chunk, ended = _render(frames)
            yield chunk or _HEARTBEAT
    finally:
        leave()
        if subscription is not None:
            subscription.close()


class _Feed:
    """Frames between the bus, which never waits, and one response, which does."""

    def __init__(self) -> None:
        self._pending = Pending()
        self._news = asyncio.Event()
        self._ended = False

    def push(self, frames: Sequence[Frame]) -> None:
        if not self._ended and not self._pending.add(frames):
            self._ended = True  # it comes back with Last-Event-ID
        self._news.set()

    def end(self, _code: int) -> None:
        self._pending.clear()
        self._ended = True
        self._news.set()

    async def next(self) -> list[Frame] | None:
        """What has come since; an empty list when nothing came for a while, None at the end."""
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                await self._news.wait()
        except TimeoutError:
            return []
        self._news.clear()
        if self._ended:
            return None
        frames: list[Frame] = []
        while self._pending:
            frames.append(self._pending.take())
        return frames


def _render(frames: Iterable[Frame]) -> tuple[bytes, bool]:
    chunks: list[bytes] = []
    for frame in frames:
        kind = _head.decode(frame.data).event.type
        data = one_line(frame.data)
        chunks.append(b"id: %d\nevent: %s\ndata: %s\n\n" % (frame.seq, kind.encode(), data))
        if kind == LAST:
            return b"".join(chunks), True
    return b"".join(chunks), False
