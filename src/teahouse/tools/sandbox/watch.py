"""Looks after what no kernel limit of ours covers: memory and processes without a control group,
and how much of the disk a workspace takes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from teahouse.tools.sandbox.command import Ending, Limits

_PERIOD_S = 0.2
_NOTICED = 32_000_000  # bytes the disk may lose before the workspace is measured
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


async def until_too_much(root: int, workspace: Path, limits: Limits, counted: set[str]) -> Ending:
    """Return what the process `root` and all below it have exceeded; until then, wait.

    `counted` are the limits that the kernel keeps itself: "memory", "pids".
    """
    free = _free(workspace)
    while True:
        await asyncio.sleep(_PERIOD_S)
        if not {"memory", "pids"} <= counted:
            processes, memory = await asyncio.to_thread(usage, root)
            if "memory" not in counted and memory > limits.memory:
                return "memory"
            if "pids" not in counted and processes > limits.processes:
                return "processes"
        now = _free(workspace)
        if now < free - _NOTICED or now < _NOTICED:
            free = now
            if now < _NOTICED or await asyncio.to_thread(size, workspace) > limits.workspace:
                return "disk"


def usage(root: int) -> tuple[int, int]:
    """How many processes `root` has below it, itself included, and their resident bytes."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  hundreds of names, several times a second
        if name.isdigit():
            words = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if words:
                parents[int(name)] = int(words[1])
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    statm = [_read(f"/proc/{pid}/statm").split() for pid in family]
    return len(family), sum(int(words[1]) for words in statm if words) * _PAGE


def size(folder: Path) -> int:
    """What the files below take on the disk, in bytes. Links are not followed."""
    total = 0
    for root, _, files, handle in os.fwalk(folder, onerror=None, follow_symlinks=False):
        del root
        for name in files:
            try:
                total += os.stat(name, dir_fd=handle, follow_symlinks=False).st_blocks * 512
            except OSError:
                continue
    return total


def _free(folder: Path) -> int:
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


def _read(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(handle, 4096)
    except OSError:
        return b""
    finally:
        os.close(handle)
