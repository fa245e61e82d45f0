"""The files of a workspace: reading, writing and listing, with no way out of its folder."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from teahouse.core.disk import refused_by_disk
from teahouse.core.ids import new_id
from teahouse.tools.paths import FOLDER, PathRefused, Place, explained, reach

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_NAMES: Final = 20_000  # looked at for the other names of a file

Kind: TypeAlias = Literal["file", "folder", "link", "other"]


class Entry(Struct, frozen=True):
    """`name` is a path where whole trees are told."""

    name: str
    kind: Kind
    size: int


class Enclosure:
    """The files below `root`. Every method blocks (use a thread) and raises `PathRefused`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str, *, most: int) -> bytes:
        """A plain file of at most `most` bytes."""
        with explained(path), reach(self._root, path) as place:
            handle = _open_file(place, path)
            with os.fdopen(handle, "rb") as file:
                found = os.fstat(handle)
                if not stat.S_ISREG(found.st_mode):
                    raise PathRefused("path_special", path)
                if found.st_nlink > 1 and not self._holds_all_names(found):
                    raise PathRefused("path_shared", path)
                data = file.read(most + 1)
        if len(data) > most:
            raise PathRefused("path_too_large", path, limit_kb=most // 1024)
        return data

    def write(self, path: str, data: bytes) -> bool:
        """Put `data` there, whole or not at all; returns whether the file is new.

        Missing folders are made. The old file's other names, if it has any, keep the old content.
        """
        with explained(path), reach(self._root, path, make=True) as place:
            if place.found is not None and not stat.S_ISREG(place.found.st_mode):
                raise PathRefused(_not_a_file(place.found), path)
            mode = stat.S_IMODE(place.found.st_mode) & 0o777 if place.found else 0o600
            with refused_by_disk():
                _replace(place, data, mode)
            return place.found is None

    def entries(self, path: str) -> list[Entry]:
        """What lies in a folder, by name."""
        with explained(path), self._opened_folder(path) as folder, os.scandir(folder) as found:
            entries: list[Entry] = []
            for one in found:
                with suppress(FileNotFoundError):  # it went away meanwhile
                    entries.append(_entry(one.name, one.stat(follow_symlinks=False)))
            return sorted(entries, key=lambda entry: entry.name)

    def texts(self, path: str, *, most: int) -> Iterator[tuple[str, bytes]]:
        """Every plain file of at most `most` bytes below a folder, with its path from there.

        Links are not followed; repositories' own folders and files of several names are left out.
        """
        with explained(path), self._opened_folder(path) as top:
            for at, folders, files, folder in os.fwalk(".", dir_fd=top):
                folders[:] = sorted(name for name in folders if name != ".git")
                for name in sorted(files):
                    with suppress(OSError, PathRefused):
                        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                        fits = found.st_size <= most and found.st_nlink == 1
                        if stat.S_ISREG(found.st_mode) and fits:
                            inner = os.path.normpath(f"{at}/{name}")
                            yield inner, self.read(f"{path}/{inner}", most=most)

    @contextmanager
    def _opened_folder(self, path: str) -> Generator[int]:
        with reach(self._root, path) as place:
            if place.found is None:
                raise FileNotFoundError(errno.ENOENT, "")
            handle = os.open(place.name, FOLDER, dir_fd=place.folder)
            try:
                yield handle
            finally:
                os.close(handle)

    def _holds_all_names(self, found: os.stat_result) -> bool:
        """Whether no name of a file with several lies elsewhere: then it is no window to there."""
        seen = names = 0
        for _, _, files, folder in os.fwalk(os.path.realpath(self._root)):
            for name in files:
                seen += 1
                with suppress(OSError):
                    other = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    names += (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino)
            if seen > _MOST_NAMES:
                return False
        return names >= found.st_nlink


def _open_file(place: Place, path: str) -> int:
    """Looked at before it is opened: opening a device can do things."""
    if place.found is not None and not stat.S_ISREG(place.found.st_mode):
        raise PathRefused(_not_a_file(place.found), path)
    return os.open(place.name, _FILE, dir_fd=place.folder)


def _replace(place: Place, data: bytes, mode: int) -> None:
    """As `core.disk.replace_file`, but in a folder that is held open."""
    draft = f".{new_id('draft')}"
    handle = os.open(draft, _NEW, mode, dir_fd=place.folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(draft, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=place.folder)
        raise
    os.fsync(place.folder)


def _entry(name: str, found: os.stat_result) -> Entry:
    kinds: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    return Entry(name, kinds.get(stat.S_IFMT(found.st_mode), "other"), found.st_size)


def _not_a_file(found: os.stat_result) -> str:
    return "path_is_folder" if stat.S_ISDIR(found.st_mode) else "path_special"
