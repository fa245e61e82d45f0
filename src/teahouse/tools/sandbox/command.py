"""The words of the sandbox: a command, its limits, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field

from teahouse.core.errors import TeahouseError

Stream: TypeAlias = Literal["stdout", "stderr"]
Hear: TypeAlias = Callable[[Stream, bytes], None]
"""Called with what a command prints, as it comes, in the loop's thread; it must not block."""

Wall: TypeAlias = Literal["bubblewrap", "landlock"]
Ending: TypeAlias = Literal["exit", "time", "cpu", "memory", "processes", "disk", "output"]

INSIDE = "/workspace"  # where bubblewrap shows the workspace
EGRESS = "/run/egress.sock"


class SandboxUnavailable(TeahouseError):
    """Nothing was run: no wall stands here, or this one command could not be put behind it."""


class Limits(Struct, frozen=True, kw_only=True):
    """What one command may use at most. Memory and processes are those of all it starts."""

    wall_s: float = 60
    cpu_s: int = 60
    memory: int = 1 << 30
    processes: int = 128
    files: int = 256  # open at once, per process
    file_size: int = 100_000_000
    workspace: int = 2_000_000_000  # what may lie in it before a command that fills it is ended
    scratch: int = 256_000_000  # the private /tmp
    kept_output: int = 1_000_000  # bytes; the rest is counted
    output: int = 50_000_000  # a command that prints more is ended


class Command(Struct, frozen=True, kw_only=True):
    """`egress` is a unix socket of ours that the command may talk to, as `EGRESS`: the one way out.

    `stdin` of None is closed (/dev/null). `environment` comes on top of the few usual names.
    """

    argv: tuple[str, ...]
    workspace: Path
    stdin: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    egress: Path | None = None
    limits: Limits = Limits()


class Outcome(Struct, frozen=True, kw_only=True):
    """`status` is the exit status, 128 and the signal where one ended it, None where we did.

    `cut` counts the bytes that were printed and not kept.
    """

    ending: Ending
    status: int | None
    stdout: bytes
    stderr: bytes
    cut: int
    elapsed_s: float
