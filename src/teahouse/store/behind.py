"""Writes behind the callers' backs: what is noted is kept in order and written together."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence

from sqlalchemy import Connection

from teahouse.core.errors import StorageFull, TeahouseError
from teahouse.store.writer import Work, Writer

log = logging.getLogger(__name__)

MOST_WAITING = 10_000  # notes that a full disk may keep waiting
BATCH = 256
TRY_AGAIN_S = 5.0
GATHER_S = 0.03  # what is noted meanwhile is written with it: a commit costs more than a row


class Behind:
    """For what nobody has to wait for. A crash takes what was noted in the last moment."""

    def __init__(self, write: Writer) -> None:
        self._write = write
        self._waiting: deque[Work[object]] = deque(maxlen=MOST_WAITING)
        self._lost = 0
        self._more = asyncio.Event()

    def note(self, work: Work[object]) -> None:
        if len(self._waiting) == MOST_WAITING:
            self._lost += 1  # the oldest
        self._waiting.append(work)
        self._more.set()

    async def work(self) -> None:
        """Write what is noted, for ever. While the disk is full it waits here."""
        while True:
            await self._more.wait()
            await asyncio.sleep(GATHER_S)
            self._more.clear()
            try:
                await self.flush()
            except TeahouseError as error:
                log.warning("%d records can't be written: %s", len(self._waiting), error)
                self._more.set()
                await asyncio.sleep(TRY_AGAIN_S)

    async def flush(self) -> None:
        """Write all that waits. On a full disk it waits on; what is refused for another reason
        is left out, so that it does not keep all others waiting."""
        if self._lost:
            log.error("%d records are lost: they could not be written", self._lost)
            self._lost = 0
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            try:
                await self._write(lambda c, batch=batch: _do(c, batch))
            except StorageFull:
                self._waiting.extendleft(reversed(batch))
                raise
            except asyncio.CancelledError:
                raise  # the writer has it already, and finishes it
            except Exception:  # whatever it is, it is one record's: the others are written
                await self._each(batch)

    async def close(self) -> None:
        """Write what waits, before the store closes."""
        try:
            await self.flush()
        except TeahouseError as error:
            log.error("%d records are lost: %s", len(self._waiting), error)

    async def _each(self, batch: Sequence[Work[object]]) -> None:
        for place, work in enumerate(batch):
            try:
                await self._write(work)
            except StorageFull:
                self._waiting.extendleft(reversed(batch[place:]))
                raise
            except Exception:
                log.exception("A record could not be written")


def _do(connection: Connection, batch: Sequence[Work[object]]) -> None:
    for work in batch:
        work(connection)
