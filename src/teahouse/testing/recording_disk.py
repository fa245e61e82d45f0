"""A disk that remembers each write and sync, and can show what a power cut would leave of it.

SQLite writes through APSW's VFS door. `RecordingDriver` makes APSW look like Python's own `sqlite3`
as far as SQLAlchemy needs it, so that the store's engine, statements and writer run unchanged.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias, cast

import apsw
from msgspec import Struct

_SECTOR = 512  # what a disk writes whole; a longer write may be torn between sectors


class Written(Struct, frozen=True):
    file: str
    offset: int
    data: bytes


class Truncated(Struct, frozen=True):
    file: str
    size: int


class Deleted(Struct, frozen=True):
    file: str


class Synced(Struct, frozen=True):
    file: str


class Acknowledged(Struct, frozen=True):
    """From here on each of these facts must hold, or not hold; None means that either may be."""

    facts: Mapping[str, bool | None]


Change: TypeAlias = Written | Truncated
Operation: TypeAlias = Change | Deleted | Synced | Acknowledged


def rows(connection: apsw.Connection, statement: str) -> list[tuple[Any, ...]]:
    untyped = cast(Any, connection)  # its own types do not name what a buffer is
    return list(untyped.execute(statement))


class RecordingDriver:
    """The store's `Driver`. `replace` gives statements to run instead of others."""

    def __init__(self, name: str, operations: list[Operation], replace: Mapping[str, str]) -> None:
        self._vfs = _RecordingVfs(name, operations)
        self._name, self._replace = name, replace
        self.replaced: set[str] = set()
        self.module: Any = SimpleNamespace(
            Error=apsw.Error,
            Binary=memoryview,
            paramstyle="qmark",
            sqlite_version_info=tuple(int(part) for part in apsw.sqlite_lib_version().split(".")),
        )

    def connect(self, path: Path, *, read_only: bool) -> Any:
        access = (
            apsw.SQLITE_OPEN_READONLY
            if read_only
            else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        return _Connection(apsw.Connection(str(path), flags=access, vfs=self._name), self._instead)

    def _instead(self, statement: str) -> str:
        if statement in self._replace:
            self.replaced.add(statement)
        return self._replace.get(statement, statement)


class _RecordingVfs(apsw.VFS):
    def __init__(self, name: str, operations: list[Operation]) -> None:
        super().__init__(name, "")
        self._operations = operations

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  SQLite's name
        return _RecordingFile(name, flags, self._operations)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self._operations.append(Deleted(Path(filename).name))


class _RecordingFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], operations: list[Operation]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary"
        self._file, self._operations = Path(path).name, operations
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._operations.append(Written(self._file, offset, bytes(data)))
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType]

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._operations.append(Truncated(self._file, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._operations.append(Synced(self._file))


class _Connection:
    """The part of `sqlite3.Connection` that SQLAlchemy and the store use."""

    def __init__(self, connection: apsw.Connection, instead: Any) -> None:
        self._connection, self._instead = connection, instead
        self.close = connection.close
        self.set_progress_handler = connection.set_progress_handler

    @property
    def total_changes(self) -> int:
        return self._connection.total_changes()

    def cursor(self) -> _Cursor:
        return _Cursor(self._connection, self._instead)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> _Cursor:
        cursor = self.cursor()
        cursor.execute(statement, values)
        return cursor

    def commit(self) -> None:
        if self._connection.in_transaction:
            rows(self._connection, "COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            rows(self._connection, "ROLLBACK")

    def create_function(self, *_: Any, **__: Any) -> None:
        """SQLAlchemy offers a regexp function, which the store does not use."""


class _Cursor:
    """Reads all rows at once, for APSW forgets a statement when it has ended."""

    arraysize = 1

    def __init__(self, connection: apsw.Connection, instead: Any) -> None:
        self._connection, self._instead = connection, instead
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount, self.lastrowid = -1, None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        cursor = self._connection.cursor()
        cursor.exec_trace = self._note_description
        before = self._connection.total_changes()
        self._rows = list(cast(Any, cursor).execute(self._instead(statement), tuple(values)))
        changed = self._connection.total_changes() > before
        self.rowcount = self._connection.changes() if changed else 0
        self.lastrowid = self._connection.last_insert_rowid()

    def executemany(self, statement: str, many: Sequence[Sequence[Any]]) -> None:
        for values in many:
            self.execute(statement, values)

    def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int = arraysize) -> list[Any]:
        taken, self._rows = self._rows[:size], self._rows[size:]
        return taken

    def fetchall(self) -> list[Any]:
        taken, self._rows = self._rows, []
        return taken

    def close(self) -> None:
        self._rows = []

    def _note_description(self, cursor: apsw.Cursor, _statement: str, _values: Any) -> bool:
        columns = cursor.get_description()
        self.description = [(*column, *[None] * 5) for column in columns] or None
        return True


class Disk:
    """What is on the disk, and what is still on its way there, while operations are played."""

    def __init__(self) -> None:
        self._durable: dict[str, bytearray] = {}
        self._pending: dict[str, list[Change]] = {}
        self.facts: dict[str, bool | None] = {}

    def play(self, operation: Operation) -> None:
        match operation:
            case Acknowledged():
                self.facts.update(operation.facts)
            case Deleted():  # SQLite syncs the folder with it
                self._durable.pop(operation.file, None)
                self._pending.pop(operation.file, None)
            case Synced():
                for change in self._pending.pop(operation.file, ()):
                    _apply(self._durable, change)
            case Written() | Truncated():
                self._pending.setdefault(operation.file, []).append(operation)

    def after_power_cut(self, chance: random.Random) -> dict[str, bytearray]:
        """Synced bytes, and of the others what chance lets through: whole, torn or not at all."""
        files = {name: bytearray(data) for name, data in self._durable.items()}
        for changes in self._pending.values():
            mode: Literal["lost", "all", "some", "first"] = chance.choice(
                ("lost", "all", "some", "first")
            )
            first = chance.randint(0, len(changes))
            for number, change in enumerate(changes):
                if mode == "all":
                    _apply(files, change)
                elif (mode == "some" and chance.random() < 0.5) or (
                    mode == "first" and number < first
                ):
                    _apply(files, _perhaps_torn(change, chance))
        return files


def _perhaps_torn(change: Change, chance: random.Random) -> Change:
    if isinstance(change, Truncated) or chance.random() > 0.3:
        return change
    kept = chance.randrange(0, len(change.data) + 1, _SECTOR)
    return Written(change.file, change.offset, change.data[:kept])


def _apply(files: dict[str, bytearray], change: Change) -> None:
    data = files.setdefault(change.file, bytearray())
    if isinstance(change, Truncated):
        del data[change.size :]
        return
    if len(data) < change.offset:
        data.extend(bytes(change.offset - len(data)))
    data[change.offset : change.offset + len(change.data)] = change.data
