"""A control group for one command: the kernel counts its memory and processes, where we may ask it.

Version 1 where its folders are ours to write (often as root), version 2 where one was delegated.
Elsewhere `watch` counts instead, less exactly.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from teahouse.core.ids import new_id
from teahouse.tools.sandbox.command import Limits

log = logging.getLogger(__name__)

_ATTEMPTS, _PAUSE_S = 100, 0.02
_PREFIX = "teahouse"
_ROOT = Path("/sys/fs/cgroup")
_V1 = {"memory": ("memory.limit_in_bytes", "memory.oom_control"), "pids": ("pids.max", "")}
_V2 = {"memory": ("memory.max", "memory.events"), "pids": ("pids.max", "")}


class Group(Struct, frozen=True):
    """`folders` to join, by controller; a controller that is missing was not to be had."""

    folders: dict[str, Path]
    events: Path | None = None

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended a process of it for want of memory."""
        if self.events is None:
            return False
        with suppress(OSError):
            for line in self.events.read_text().splitlines():
                word, _, count = line.partition(" ")
                if word == "oom_kill":
                    return int(count) > 0
        return False

    def remove(self) -> None:
        """Blocks for a moment: the kernel may still be burying the last processes."""
        for folder in set(self.folders.values()):
            for attempt in range(_ATTEMPTS):
                try:
                    folder.rmdir()
                    break
                except OSError as error:
                    if attempt == _ATTEMPTS - 1:
                        log.warning("Control group %s is left behind: %s", folder, error)
                _end_all(folder)
                time.sleep(_PAUSE_S)


def make(limits: Limits) -> Group:
    """Never raises: what the kernel or its owner refuses is left out."""
    name = new_id(f"{_PREFIX}{os.getpid()}")  # whose it is, for `sweep`
    folders: dict[str, Path] = {}
    events: Path | None = None
    most = {"memory": limits.memory, "pids": limits.processes}
    for controller, parent, files in _parents():
        limit, counter = files[controller]
        folder = parent / name
        if controller in folders or not _made(folder, limit, most[controller]):
            continue
        folders[controller] = folder
        events = folder / counter if counter else events
        if controller == "memory":
            _no_swap(folder, limits.memory)
    return Group(folders, events)


def sweep() -> None:
    """Remove what a server that was killed has left behind; one that runs may be about to use its
    own, also while they are empty."""
    for parent in {parent for _, parent, _ in _parents()}:
        with suppress(OSError):
            for folder in parent.glob(f"{_PREFIX}*_*"):
                maker = folder.name.removeprefix(_PREFIX).partition("_")[0]
                if not Path("/proc", maker).exists():
                    with suppress(OSError):
                        folder.rmdir()


def _parents() -> list[tuple[str, Path, dict[str, tuple[str, str]]]]:
    """Where groups of ours would lie: the controller, our own group of it, its files."""
    found: list[tuple[str, Path, dict[str, tuple[str, str]]]] = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            root = _ROOT / (controllers or "unified")
            parent = (root if root.is_dir() else _ROOT) / path.lstrip("/")
            files = _V1 if controllers else _V2
            found += [(one, parent, files) for one in files if controllers in (one, "")]
    return found


def _made(folder: Path, limit: str, most: int) -> bool:
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    try:
        if not (folder / limit).exists():  # the controller is not switched on for children
            raise FileNotFoundError(limit)
        (folder / limit).write_text(str(most))
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return False
    return True


def _no_swap(folder: Path, most: int) -> None:
    for name, value in (("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", most)):
        with suppress(OSError):
            if (folder / name).exists():
                (folder / name).write_text(str(value))


def _end_all(folder: Path) -> None:
    with suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
