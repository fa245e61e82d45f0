"""An agent's folder, which any editor may change: today its SOUL.md, in whatever encoding."""

from __future__ import annotations

import logging
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from teahouse.core.disk import refused_by_disk, replace_file
from teahouse.core.errors import Invalid, NotFound, TooLarge

log = logging.getLogger(__name__)

SOUL = "SOUL.md"
MAX_SOUL_BYTES = 256 * 1024
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\u202a-\u202e\u2066-\u2069]+')


def folder_name(name: str, taken: set[str]) -> str:
    """Make a folder name from an agent's name that every file system takes and nobody has yet."""
    stem = _UNSAFE.sub("-", unicodedata.normalize("NFC", name)).strip(" .-")[:48] or "agent"
    candidates = (stem, *(f"{stem}-{number}" for number in range(2, 10_000)))
    folded = {other.casefold() for other in taken}
    return next(candidate for candidate in candidates if candidate.casefold() not in folded)


class Workspaces:
    """The folders of all agents, below the home's `agents/`. Every method blocks: use a thread."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self) -> set[str]:
        return {path.name for path in self._root.iterdir()} if self._root.is_dir() else set()

    def create(self, workspace: str, soul: str) -> None:
        """Whole or not at all."""
        folder = self._folder(workspace)
        with _unwritable(folder):
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.mkdir(mode=0o700)
        try:
            with _unwritable(folder):
                (folder / "files").mkdir(mode=0o700)
            self.write_soul(workspace, soul)
        except BaseException:
            self.remove(workspace)
            raise

    def soul(self, workspace: str) -> str:
        """Read SOUL.md as it lies there now; raises `NotFound` when it is gone, `TooLarge`, and
        `Invalid` when it cannot be read."""
        path = self._folder(workspace) / SOUL
        try:
            data = _read(path, MAX_SOUL_BYTES + 1)
        except FileNotFoundError as error:
            raise NotFound("soul_missing", path=path) from error
        except OSError as error:
            raise Invalid("file_unreadable", path=path, detail=error.strerror or error) from error
        if len(data) > MAX_SOUL_BYTES:
            raise TooLarge("soul_too_large", path=path, limit_kb=MAX_SOUL_BYTES // 1024)
        return decode_text(data, path)

    def write_soul(self, workspace: str, soul: str) -> None:
        """Raises `TooLarge`, `StorageFull`, and `Invalid` where no such file can be written."""
        check_soul(soul)
        path = self._folder(workspace) / SOUL
        with _unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(path, soul.encode())

    def remove(self, workspace: str) -> None:
        """What cannot be removed stays, with a line in the log: its agent is gone already."""
        folder = self._folder(workspace)
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("The workspace %s could not be removed: %s", folder, error)

    def _folder(self, workspace: str) -> Path:
        folder = self._root / workspace
        if folder.parent != self._root or workspace in ("", ".", ".."):
            raise Invalid("workspace_name", name=workspace)
        return folder


def check_soul(soul: str) -> None:
    """Raises `TooLarge`."""
    if len(soul.encode()) > MAX_SOUL_BYTES:
        raise TooLarge("soul_too_large", path=SOUL, limit_kb=MAX_SOUL_BYTES // 1024)


def _read(path: Path, most: int) -> bytes:
    """Read a plain file. Anything else, a pipe or a device, could keep us waiting for ever."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a plain file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


@contextmanager
def _unwritable(path: Path) -> Generator[None]:
    """Say in words why a file cannot be written; a full disk has words of its own."""
    try:
        with refused_by_disk():
            yield
    except OSError as error:
        raise Invalid("file_unwritable", path=path, detail=error.strerror or error) from error


def decode_text(data: bytes, path: Path) -> str:
    """Decode a hand-edited text: UTF-8 with or without BOM, UTF-16 with BOM, GB18030, or others.

    Raises `Invalid` when no encoding fits.
    """
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    with suppress(UnicodeDecodeError):
        return data.decode("utf-16" if marked else "utf-8-sig")
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=["gb18030", "big5", "shift_jis", "cp1252"]).best()
    for encoding in (best.encoding if best else "gb18030", "gb18030"):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise Invalid("text_encoding", path=path)
