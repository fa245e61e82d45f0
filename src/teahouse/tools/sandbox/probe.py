"""Finds out which wall stands on this machine, by trying to get through it.

A wall that is there by its version number may still have a hole: a container without namespaces, a
distribution's switch, a file system that refuses. So the same escapes are run behind each, best
first, and the first that holds them all is used. None is the answer where none does.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from teahouse.core.ids import new_secret
from teahouse.tools.sandbox import seccomp, view
from teahouse.tools.sandbox.child import Place
from teahouse.tools.sandbox.command import Command, Limits, Outcome, SandboxUnavailable

_LANDLOCK_VERSION = 444
_LEAST_LANDLOCK = 3  # before that, a file that may not be written can be truncated
_LIMITS = Limits(wall_s=10, cpu_s=5, processes=32)

# Each prints its name when it gets through, and does no harm then. The last must work, or nothing
# else means anything.
_ESCAPES = r"""
secret=$1 server=$2 word=$3
try() { name=$1; shift; if ("$@") >/dev/null 2>&1; then echo "$name"; fi; }
try read_secret cat "$secret"
try link_secret sh -c 'ln -sf "$0" link && cat link' "$secret"
try root_of_init cat "/proc/1/root$secret"
try write_secret sh -c ': >> "$0"' "$secret"
try write_system sh -c ': >> "$0" && rm "$0"' /usr/teahouse-escape
try write_root sh -c ': >> "$0" && rm "$0"' /teahouse-escape
try write_settings sh -c ': >> "$0" && rm "$0"' /etc/teahouse-escape
try read_shadow cat /etc/shadow
try environment grep -qs "$word" /proc/1/environ /proc/self/environ /proc/$PPID/environ
try server_signal kill -0 "$server"
try server_memory cat "/proc/$server/environ"
try namespaces unshare -Ur true
try mount sh -c 'mkdir m && mount -t tmpfs none m && umount m'
try kernel sh -c ': >> /proc/sys/kernel/core_pattern'
try devices sh -c 'head -c1 /dev/mem || head -c1 /dev/kmsg'
[ "$(ulimit -c)" = 0 ] || echo core_dumps
echo kept > kept && [ "$(cat kept)" = kept ] && echo done
"""

Run = Callable[[Place, Command], Awaitable[Outcome]]


class State(Struct, frozen=True):
    """`place` is None where nothing may run. `reasons` say why not, or why not the better wall."""

    place: Place | None
    reasons: tuple[SandboxUnavailable, ...] = ()


async def state(run: Run, program: str | None = None) -> State:
    if sys.platform != "linux":
        system = platform.system()
        return State(None, (SandboxUnavailable("sandbox_linux_only", system=system),))
    if not seccomp.known():
        machine = platform.machine()
        return State(None, (SandboxUnavailable("sandbox_no_filter", machine=machine),))
    reasons: list[SandboxUnavailable] = []
    for find in (lambda: _bubblewrap(program), _landlock):
        try:
            place = find()
            await _attack(run, place)
        except SandboxUnavailable as error:
            reasons.append(error)
        else:
            return State(place, tuple(reasons))
    return State(None, tuple(reasons))


def _bubblewrap(program: str | None) -> Place:
    found = program or shutil.which("bwrap", path=view.PATH)
    if found is None:
        raise SandboxUnavailable("sandbox_no_bubblewrap")
    return Place("bubblewrap", found, 0, view.interpreter())


def _landlock() -> Place:
    version = ctypes.CDLL(None, use_errno=True).syscall(_LANDLOCK_VERSION, None, 0, 1)
    if version < _LEAST_LANDLOCK:
        raise SandboxUnavailable("sandbox_no_landlock")
    return Place("landlock", "", version, view.interpreter())


async def _attack(run: Run, place: Place) -> None:
    """Raises `SandboxUnavailable` where something gets through, or nothing runs at all."""
    with tempfile.TemporaryDirectory(prefix="teahouse-") as folder:
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        word = new_secret()
        secret = Path(folder) / "secret"
        secret.write_text(word)
        command = Command(
            argv=("/bin/sh", "-c", _ESCAPES, "sh", str(secret), str(os.getpid()), word),
            workspace=workspace,
            limits=_LIMITS,
        )
        outcome = await run(place, command)
    lines = outcome.stdout.decode("utf-8", "replace").split()
    if lines == ["done"]:
        return
    if lines[-1:] == ["done"]:
        through = ", ".join(lines[:-1])
        raise SandboxUnavailable("sandbox_hole", wall=place.wall, through=through)
    said = outcome.stderr.decode("utf-8", "replace").strip()
    raise SandboxUnavailable("sandbox_broken", detail=said or outcome.ending)
