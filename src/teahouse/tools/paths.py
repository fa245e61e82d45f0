"""Walks a path below a folder that nothing leads out of, whoever swaps links meanwhile.

Every step is taken by hand, from one open folder to the next, and no call of the system follows a
link for us: what was checked is what is used. A link is read and walked like the rest of the path,
so one that stays inside is as good as what it points to.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from teahouse.tools.refusal import Refused

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS: Final = 40
_MOST_STEPS: Final = 256  # each holds a folder open
_LONGEST: Final = 4096
_SHOWN: Final = 200


class PathRefused(Refused):
    def __init__(self, code: str, path: str, /, **values: object) -> None:
        shown = path[:_SHOWN] if path.isprintable() else ascii(path[:_SHOWN])[1:-1]
        super().__init__(code, path=shown, **values)


class Place(Struct, frozen=True):
    """A name in an open folder; `.` is the folder itself. `found` is None where nothing is."""

    folder: int
    name: str
    found: os.stat_result | None


@contextmanager
def reach(root: Path, path: str, *, make: bool = False) -> Generator[Place]:
    """Walk to where `path` leads in the end; `make` makes the folders on the way."""
    with ExitStack() as opened:
        walk = _Walk(root, path, opened, make=make)
        while (place := walk.step()) is None:
            pass
        yield place


class _Walk:
    """`way` holds the open folders from the root to here, `rest` the steps that are still to go."""

    def __init__(self, root: Path, path: str, opened: ExitStack, *, make: bool) -> None:
        self._root, self._path, self._opened, self._make = root, path, opened, make
        self._links = self._steps = 0
        self._rest = _parts(root, path)
        self._way: list[int] = []
        self._enter(os.path.realpath(root), None)

    def step(self) -> Place | None:
        """Go on by one step, and return where the walk has ended."""
        name = self._rest.popleft() if self._rest else "."
        if name == "..":
            if len(self._way) == 1:
                raise PathRefused("path_outside", self._path)
            self._way.pop()
        elif name != "." or not self._rest:
            here = self._way[-1]
            found = _look(name, here)
            if found and stat.S_ISLNK(found.st_mode):
                self._follow(os.readlink(name, dir_fd=here))
            elif not self._rest:
                return Place(here, name, found)
            else:
                if found is None and self._make and not {".", ".."} & set(self._rest):
                    os.mkdir(name, 0o700, dir_fd=here)
                self._enter(name, here)
        return None

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, "")
        if target.startswith("/"):
            del self._way[1:]
        self._rest.extendleft(reversed(_parts(self._root, target)))

    def _enter(self, name: str, folder: int | None) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise OSError(errno.ELOOP, "")
        handle = os.open(name, FOLDER, dir_fd=folder)
        self._opened.callback(os.close, handle)
        self._way.append(handle)


def _parts(root: Path, path: str) -> deque[str]:
    """The steps from the root; a last `.` stands for a slash at the end."""
    if not path or "\0" in path or len(os.fsencode(path)) > _LONGEST:
        raise ValueError("path")
    steps = [step for step in path.split("/") if step not in {"", "."}]
    if path.endswith(("/", "/.")):
        steps.append(".")
    if path.startswith("/"):
        for start in (str(root.absolute()), os.path.realpath(root)):
            above = [step for step in start.split("/") if step]
            if steps[: len(above)] == above:
                return deque(steps[len(above) :])
        raise PathRefused("path_outside", path)
    return deque(steps)


def _look(name: str, folder: int) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    return None


@contextmanager
def explained(path: str) -> Generator[None]:
    """Turn what the system says into words about the path as it was given."""
    try:
        yield
    except FileNotFoundError as error:
        raise PathRefused("path_missing", path) from error
    except NotADirectoryError as error:
        raise PathRefused("path_not_folder", path) from error
    except IsADirectoryError as error:
        raise PathRefused("path_is_folder", path) from error
    except ValueError as error:
        raise PathRefused("path_unfit", path) from error
    except OSError as error:
        unfit = error.errno in {errno.ENAMETOOLONG, errno.ELOOP}
        detail = error.strerror or str(error)
        raise PathRefused("path_unfit" if unfit else "path_failed", path, detail=detail) from error
