"""The home: one folder that holds everything, open to one process at a time."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from msgspec import Struct
from sqlalchemy import Connection

from teahouse.core.clock import Clock
from teahouse.core.disk import refused_by_disk, sync_folder
from teahouse.core.errors import HomeInUse, Invalid, StorageDamaged
from teahouse.core.ids import new_bytes
from teahouse.store.agents import SqlAgents
from teahouse.store.approvals import SqlApprovals
from teahouse.store.behind import Behind
from teahouse.store.database import Database
from teahouse.store.engine import Driver, StandardDriver, make_engine, translated
from teahouse.store.files import BlobFiles
from teahouse.store.ledger import SqlLedger
from teahouse.store.log import SqlLog
from teahouse.store.people import SqlPeople
from teahouse.store.purse import SqlPurse
from teahouse.store.queue import SqlRunQueue
from teahouse.store.reader import Reader
from teahouse.store.secrets import SealedSecrets
from teahouse.store.upgrade import bring_up_to_date, check_quickly, count_start
from teahouse.store.writer import Writer

DATABASE, LOCK, KEY, FILES = "teahouse.db", "lock", "secret.key", "files"
_KEY_BYTES = 32


class Store(Struct, frozen=True):
    """The open home. Each attribute implements one port; `boot` counts the starts."""

    log: SqlLog
    queue: SqlRunQueue
    people: SqlPeople
    agents: SqlAgents
    approvals: SqlApprovals
    files: BlobFiles
    secrets: SealedSecrets
    ledger: SqlLedger
    purse: SqlPurse
    behind: Behind
    boot: int


@asynccontextmanager
async def open_store(
    home: Path, clock: Clock, driver: Driver | None = None
) -> AsyncGenerator[Store]:
    """Open the home, making what is missing; it is ours until the block ends.

    Raises `HomeInUse` when another process has it, `StorageDamaged` when its database or key
    cannot be trusted, `StorageFull` when there is no room to open it, `Invalid` when no folder can
    be made or written there.
    """
    with _claimed(home):
        path, driver = home / DATABASE, driver or StandardDriver()
        with usable(home):
            key = await asyncio.to_thread(_secret_key, home / KEY)
            connection, boot = await asyncio.to_thread(_open_database, path, driver, clock)
        writer, reader = Writer(connection), Reader(make_engine(path, driver, read_only=True))
        database = Database(writer, reader, clock, boot)
        files, behind = BlobFiles(database, home / FILES), Behind(writer)
        purse = SqlPurse(database, behind)
        try:
            with usable(home):
                await files.tidy()
            await purse.tidy()
            yield Store(
                log=SqlLog(database, files.sweep),
                queue=SqlRunQueue(database),
                people=SqlPeople(database, files.sweep),
                agents=SqlAgents(database),
                approvals=SqlApprovals(database),
                files=files,
                secrets=SealedSecrets(database, key),
                ledger=SqlLedger(database, behind),
                purse=purse,
                behind=behind,
                boot=boot,
            )
        finally:
            await behind.close()
            await writer.close()
            await reader.close()
            await asyncio.to_thread(connection.close)


@contextmanager
def usable(home: Path) -> Generator[None]:
    """Say which file stands in the way: it belongs to somebody else, say, or is a folder."""
    try:
        with refused_by_disk():
            yield
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error
        raise Invalid("home_unusable", home=home, detail=what) from error


@contextmanager
def _claimed(home: Path) -> Generator[None]:
    """Hold the lock of the home. Its file is never removed: else two could hold one each."""
    with usable(home):
        _make(home)
        handle = os.open(home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
            raise HomeInUse("home_in_use", home=home, pid=holder or "?") from error
        with refused_by_disk():
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def _make(home: Path) -> None:
    """The folder, for its owner alone. One that holds something already keeps its mode: it may be
    anything, `/tmp` even, and what we put there is closed to others by itself."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(home.iterdir()):
        home.chmod(0o700)


def _secret_key(path: Path) -> bytes:
    """Read the key that seals secrets; at the first start make it, whole or not at all."""
    if not path.exists():
        fresh = path.with_suffix(".new")
        with refused_by_disk():
            fresh.unlink(missing_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, new_bytes(_KEY_BYTES))
                os.fsync(handle)
            finally:
                os.close(handle)
            fresh.rename(path)
            sync_folder(path.parent)
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise StorageDamaged("secret_key_damaged", path=path)
    return key


def _open_database(path: Path, driver: Driver, clock: Clock) -> tuple[Connection, int]:
    with refused_by_disk():  # and private from the start: SQLite would make it readable to all
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection: Connection | None = None
    try:
        connection = make_engine(path, driver, read_only=False).connect()
        check_quickly(connection, clock)
        bring_up_to_date(connection)
        boot = count_start(connection)
        sync_folder(path.parent)
    except Exception as error:
        if connection is not None:
            connection.close()
        ours = translated(error)
        if ours is error:
            raise
        raise ours from error
    return connection, boot
