"""Bytes that people bring: content-addressed files under the home, with a row for each upload."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sqlalchemy import Connection, bindparam, delete, insert, select

from teahouse.chat.ports import FileRecord, Files
from teahouse.core.disk import refused_by_disk, sync_folder
from teahouse.core.errors import NotFound, TooLarge
from teahouse.core.ids import new_id
from teahouse.store.database import Database
from teahouse.store.posts import sees_file
from teahouse.store.schema import doomed_blob, file
from teahouse.store.sniff import LOOKS_AT, media_type

PIECE = 256 << 10  # bytes that are written or read at once
_MAX_NAME = 255

_FIELDS = FileRecord.__struct_fields__
_BY_ID = select(*(file.c[name] for name in _FIELDS)).where(file.c.id == bindparam("of"))
_DOOMED = select(doomed_blob.c.sha256)


class BlobFiles(Files):
    def __init__(self, database: Database, folder: Path) -> None:
        """`folder` holds `incoming/` and the blobs as `aa/HASH`."""
        self._write, self._read, self._clock = database.write, database.read, database.clock
        self._folder, self._incoming = folder, folder / "incoming"
        # Between a blob's arrival and its row none may be swept away, nor the other way round.
        self._settling = asyncio.Lock()

    async def put(
        self, person: str, name: str, chunks: AsyncIterator[bytes], /, *, limit: int
    ) -> FileRecord:
        upload = await asyncio.to_thread(_Upload, self._incoming)
        try:
            await upload.take(chunks, limit)
            record = FileRecord(
                id=new_id("f"),
                person=person,
                agent=None,
                name=_clean(name),
                media_type=media_type(upload.start),
                size=upload.size,
                sha256=upload.digest.hexdigest(),
                created_at=self._clock.now(),
            )
            async with self._settling:
                await asyncio.to_thread(upload.settle, self._path(record.sha256))
                await self._write(lambda c: _insert(c, record))
        finally:
            await asyncio.to_thread(upload.discard)
        return record

    async def get(self, person: str, file: str, /) -> FileRecord:
        def work(connection: Connection) -> FileRecord:
            if not sees_file(connection, person, file):
                raise NotFound("no_such_file", id=file)
            return _load(connection, file)

        return await self._read(work)

    async def record(self, file: str, /) -> FileRecord:
        """For a model's call, not for a person: whoever posted the file could see it."""
        return await self._read(lambda connection: _load(connection, file))

    async def read(self, record: FileRecord, /) -> AsyncIterator[bytes]:
        try:
            source = await asyncio.to_thread(self._path(record.sha256).open, "rb")
        except FileNotFoundError as error:
            raise NotFound("file_lost", name=record.name) from error
        try:
            while piece := await asyncio.to_thread(source.read, PIECE):
                yield piece
        finally:
            source.close()  # at once: a reader that went away cancels whatever would wait here

    async def sweep(self) -> None:
        """Remove the bytes that no row names any more."""
        doomed = await self._read(lambda c: list(c.execute(_DOOMED).scalars()))
        for sha256 in doomed:
            async with self._settling:
                if not await self._read(lambda c, sha256=sha256: _in_use(c, sha256)):
                    await asyncio.to_thread(self._remove, sha256)
                done = delete(doomed_blob).where(doomed_blob.c.sha256 == sha256)
                await self._write(lambda c, done=done: c.execute(done).rowcount)

    async def tidy(self) -> None:
        """At start: remove uploads that a crash cut off, and what was doomed before it."""

        def remove_cut_off() -> None:
            with refused_by_disk():
                for folder in (self._folder, self._incoming):
                    folder.mkdir(mode=0o700, exist_ok=True)
            for path in self._incoming.iterdir():
                path.unlink()

        await asyncio.to_thread(remove_cut_off)
        await self.sweep()

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256

    def _remove(self, sha256: str) -> None:
        path = self._path(sha256)
        path.unlink(missing_ok=True)
        if path.parent.exists():
            sync_folder(path.parent)


class _Upload:
    """A file on its way in."""

    def __init__(self, folder: Path) -> None:
        with refused_by_disk():
            handle, name = tempfile.mkstemp(dir=folder)
        self.path = Path(name)
        self._file: BinaryIO = os.fdopen(handle, "wb")
        self.digest = hashlib.sha256()
        self.size, self.start = 0, b""

    async def take(self, chunks: AsyncIterator[bytes], limit: int) -> None:
        waiting = bytearray()
        async for chunk in chunks:
            self.size += len(chunk)
            if self.size > limit:
                raise TooLarge("file_too_large", limit=limit)
            if len(self.start) < LOOKS_AT:
                self.start += chunk[: LOOKS_AT - len(self.start)]
            waiting += chunk
            if len(waiting) >= PIECE:
                await asyncio.to_thread(self._append, bytes(waiting))
                waiting.clear()
        await asyncio.to_thread(self._append, bytes(waiting))

    def settle(self, path: Path) -> None:
        """Put the bytes in their place, so that they are there after a power cut."""
        with refused_by_disk():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if not path.parent.exists():
                path.parent.mkdir(mode=0o700)
                sync_folder(path.parent.parent)
            self.path.replace(path)
            sync_folder(path.parent)

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        with suppress(OSError):  # what was still buffered does not fit either
            self._file.close()

    def _append(self, data: bytes) -> None:
        self.digest.update(data)
        with refused_by_disk():
            self._file.write(data)


def _load(connection: Connection, file: str) -> FileRecord:
    row = connection.execute(_BY_ID, {"of": file}).first()
    if row is None:
        raise NotFound("no_such_file", id=file)
    return FileRecord(**dict(zip(_FIELDS, row, strict=True)))


def _insert(connection: Connection, record: FileRecord) -> None:
    values = {name: getattr(record, name) for name in _FIELDS}
    connection.execute(insert(file), values)


def _in_use(connection: Connection, sha256: str) -> bool:
    return connection.execute(select(file.c.id).where(file.c.sha256 == sha256)).first() is not None


def _clean(name: str) -> str:
    """The last piece of a path, without what cannot be shown."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(character for character in last if character.isprintable())
    return shown.strip()[:_MAX_NAME] or "file"
