"""`config.toml`: read with the line of each key, and written whole or not at all."""

from __future__ import annotations

import logging
import os
import re
import stat
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teahouse.config.keys import Key
from teahouse.core.disk import NO_ROOM, replace_file
from teahouse.core.errors import SettingsError, StorageFull

if TYPE_CHECKING:
    import tomlkit

log = logging.getLogger(__name__)

PREVIOUS = ".previous"
OWNER_ONLY = 0o600
_HEADING = "# Settings of Teahouse. The environment (TEAHOUSE_…) wins over this file.\n\n"


class SettingsFile:
    """The text of the file and where its keys stand. A file that is not there is empty."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = self._read()
        try:
            self.tree: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError("settings_file_broken", path=self.path, detail=error) from error

    def _read(self) -> str:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise SettingsError(
                "settings_file_unreadable", path=self.path, detail=error.strerror
            ) from error
        self._tighten()
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise SettingsError("settings_file_broken", path=self.path, detail=error) from error

    def _tighten(self) -> None:
        mode = stat.S_IMODE(self.path.stat().st_mode)
        if os.name == "posix" and mode & 0o077:
            log.warning("%s was readable by others (%o); now it is not", self.path, mode)
            with suppress(OSError):
                self.path.chmod(OWNER_ONLY)

    def source(self, key: Key) -> str:
        """`/home/me/.teahouse/config.toml:3`."""
        line = line_of(self.text, key)
        return f"{self.path}:{line}" if line else str(self.path)

    def edited(self, changes: dict[Key, Any]) -> str:
        """The text with these leaves set, or gone where the value is None; comments stay.

        It is read again before it is let out: what could not be read would keep the house shut.
        """
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            document = tomlkit.parse(self.text or _HEADING)
            for key, value in changes.items():
                if value is None:
                    _remove(document, key)
                else:
                    _put(document, key, value)
            text = tomlkit.dumps(document)
            tomllib.loads(text)
            tomlkit.parse(text)
        except (TOMLKitError, ValueError, RecursionError) as error:
            raise SettingsError("settings_file_broken", path=self.path, detail=error) from error
        return text

    def write(self, text: str) -> None:
        """Replace the file; the text before stays beside it for `undo`."""
        write_atomically(self._previous, self.text)
        write_atomically(self.path, text)
        self.text, self.tree = text, tomllib.loads(text)

    def secrets(self) -> frozenset[str]:
        """The sealed values that the file names, now or after an undo."""
        before = ""
        with suppress(OSError):
            before = self._previous.read_text("utf-8", "replace")
        return frozenset(_SECRET.findall(self.text + before))

    @property
    def _previous(self) -> Path:
        return _previous(self.path)


def undo(path: Path) -> None:
    """Swap the file with the version before; twice is as never. It may be broken: that is when
    this is needed most."""
    previous = _previous(path)
    try:
        before = previous.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError("settings_nothing_to_undo", path=path) from error
    now = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
    write_atomically(previous, now)
    write_atomically(path, before)


def _previous(path: Path) -> Path:
    return path.with_name(path.name + PREVIOUS)


def _put(document: tomlkit.TOMLDocument, key: Key, value: Any) -> None:
    import tomlkit

    table: Any = document
    for depth, name in enumerate(key[:-1]):
        if name not in table:
            branch = tomlkit.table(is_super_table=depth < len(key) - 2)
            table.append(name, branch)
        table = table[name]
    if isinstance(value, dict):
        inline: Any = tomlkit.inline_table()
        inline.update(value)
        value = inline
    table[key[-1]] = value


def _remove(document: tomlkit.TOMLDocument, key: Key) -> None:
    table: Any = document
    for name in key[:-1]:
        if name not in table:
            return
        table = table[name]
    if key[-1] in table:
        table.remove(key[-1])


def write_atomically(path: Path, text: str) -> None:
    """Write so that a crash leaves the old text or the new one, durably, for its owner alone."""
    target = path.resolve()  # a link stays a link
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode())
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StorageFull("settings_disk_full", path=path) from error
        raise SettingsError(
            "settings_file_unwritable", path=path, detail=error.strerror or error
        ) from error


_SECRET = re.compile(r'secret\s*=\s*"([^"]+)"')
_TABLE = re.compile(r"\s*\[\[?(?P<key>[^\]]+)\]\]?")
_PAIR = re.compile(
    r"""\s*(?P<key>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def line_of(text: str, key: Key) -> int | None:
    """The line at which a key is set, or the nearest branch above it; for people, not for parsing.

    Python's TOML reader tells no lines, and the one that edits is too heavy to load at each start.
    """
    table: Key = ()
    best, best_depth = None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _TABLE.match(line):
            found = table = _parts(heading["key"])
        elif pair := _PAIR.match(line):
            found = table + _parts(pair["key"])
        else:
            continue
        if len(found) > best_depth and key[: len(found)] == found:
            best, best_depth = number, len(found)
    return best


def _parts(text: str) -> Key:
    return tuple(part.strip("\"'") for part in _PART.findall(text))
