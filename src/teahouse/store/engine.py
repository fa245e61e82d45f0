"""SQLite as the store sees it: how connections are opened and what its errors mean."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from teahouse.core.errors import Conflict, HomeInUse, StorageDamaged, StorageFull

# FULL, not NORMAL: with NORMAL a power cut takes posts that were acknowledged (`make powerloss`).
# A conversation that is deleted is overwritten, hence secure_delete.
WRITER_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA fullfsync=ON",  # on macOS a plain fsync stops at the drive's own cache
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA wal_autocheckpoint=1000",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-32000",
    "PRAGMA temp_store=MEMORY",
)
READER_PRAGMAS = (
    "PRAGMA query_only=ON",
    "PRAGMA cache_size=-8000",
    "PRAGMA temp_store=MEMORY",
)
_CACHED_STATEMENTS = 256
_BUSY_S = 5.0  # for a program outside that holds the database; we ourselves never contend


class Driver(Protocol):
    """Reaches SQLite through a DB-API module. The power-loss test puts a recording one here."""

    @property
    def module(self) -> Any: ...
    def connect(self, path: Path, *, read_only: bool) -> Any: ...


class StandardDriver:
    module: Any = sqlite3

    def connect(self, path: Path, *, read_only: bool) -> Any:
        # Readers open the file read-only: a single connection writes and checkpoints, ever.
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}",
            uri=True,
            timeout=_BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_CACHED_STATEMENTS,
        )


class WriterDialect(SQLiteDialect_pysqlite):
    """Begins by taking the write lock. (A listener for `begin` would double each statement's cost:
    SQLAlchemy leaves its fast path as soon as an engine has any listener at all.)"""

    supports_statement_cache = True

    def do_begin(self, dbapi_connection: Any) -> None:
        dbapi_connection.execute("BEGIN IMMEDIATE")


class ReaderDialect(SQLiteDialect_pysqlite):
    """Begins a snapshot."""

    supports_statement_cache = True

    def do_begin(self, dbapi_connection: Any) -> None:
        dbapi_connection.execute("BEGIN")


registry.register("sqlite.writer", __name__, "WriterDialect")
registry.register("sqlite.reader", __name__, "ReaderDialect")


def make_engine(path: Path, driver: Driver, *, read_only: bool) -> Engine:
    """An engine without a pool: each connection belongs to one thread for that thread's life."""
    pragmas = READER_PRAGMAS if read_only else WRITER_PRAGMAS

    def connect() -> Any:
        connection = driver.connect(path, read_only=read_only)
        for pragma in pragmas:
            connection.execute(pragma).fetchall()
        return connection

    return create_engine(
        "sqlite+reader://" if read_only else "sqlite+writer://",
        module=driver.module,
        creator=connect,
        poolclass=NullPool,
        hide_parameters=True,  # errors are logged, and what people say is in these
    )


def translated(error: Exception) -> Exception:
    """The error of ours that a database error means; any other comes back as it is."""
    original = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(original, "sqlite_errorcode", None)
    match code & 0xFF if isinstance(code, int) else None:
        case 5:  # SQLITE_BUSY
            ours = HomeInUse("home_locked")
        case 3 | 8 | 10 | 14:  # SQLITE_PERM, READONLY, CANTOPEN, and IOERR, which is also what a
            # full disk looks like to fsync or to a quota
            ours = StorageFull("storage_failed", detail=original)
        case 11 | 26:  # SQLITE_CORRUPT, SQLITE_NOTADB
            ours = StorageDamaged("storage_damaged", detail=original)
        case 13:  # SQLITE_FULL
            ours = StorageFull("storage_full")
        case 19:  # SQLITE_CONSTRAINT
            ours = Conflict("already_there", detail=original)
        case _:
            ours = error
    return ours
