"""Stands between us and a server of others that runs as a child, so that none of it outlives us.

Run by path with `python -I -S PARENT -- COMMAND …`, and imports nothing of ours. The kernel tells
it when the house dies, and hands it every orphan of the server; it ends them all when the server
ends, when it is told to, or when the house is gone.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time
from contextlib import suppress
from signal import SIG_DFL, SIG_IGN, SIGKILL, SIGPIPE, SIGTERM, signal
from types import FrameType

_DEATH_SIGNAL, _SUBREAPER = 1, 36
_GRACE_S, _LOOK_S = 1.5, 0.02

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    parent, argv = int(sys.argv[1]), sys.argv[3:]
    _libc.prctl(_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    signal(SIGTERM, _told)
    _die_with(parent, SIGTERM)
    guard = os.getpid()
    child = os.fork()
    if child == 0:
        signal(SIGTERM, SIG_DFL)
        signal(SIGPIPE, SIG_DFL)  # Python ignores it, and what is ignored is inherited
        _die_with(guard, SIGKILL)
        try:
            os.execvp(argv[0], argv)  # noqa: S606
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
            os._exit(127)
    os.close(0)
    os.close(1)  # its end is heard when the server closes it
    _, waited = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(waited)
    _end(128 - code if code < 0 else code)


def _told(_number: int, _frame: FrameType | None) -> None:
    _end(128 + SIGTERM)


def _die_with(parent: int, number: int) -> None:
    _libc.prctl(_DEATH_SIGNAL, ctypes.c_ulong(number), 0, 0, 0)
    if os.getppid() != parent:  # it is gone already
        os._exit(128 + SIGKILL)


def _end(code: int) -> None:
    """Ask all descendants to go, then see to it."""
    signal(SIGTERM, SIG_IGN)
    until = time.monotonic() + _GRACE_S
    number = SIGTERM
    asked: set[int] = set()
    while found := _descendants():
        if time.monotonic() > until:
            number = SIGKILL
            asked.clear()
        for pid in found - asked:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
            asked.add(pid)
        _bury()
        select.select((), (), (), _LOOK_S)
    os._exit(code)


def _bury() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _descendants() -> set[int]:
    _bury()
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib takes too long to import
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:  # noqa: PTH123
                    state, parent = file.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                parents[int(name)] = int(parent)
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours - {os.getpid()}


main()
