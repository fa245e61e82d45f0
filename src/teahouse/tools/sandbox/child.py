"""Puts together what one command needs to start behind a wall, and starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from teahouse.tools.sandbox import cgroup, seccomp, view
from teahouse.tools.sandbox.command import INSIDE, Command, SandboxUnavailable, Wall

_LAUNCH = Path(__file__).with_name("launch.py")
_FIRST_USER, _USERS = 61184, 4336  # systemd keeps these for users that live as long as a service
_LOWEST = 3  # after stdin, stdout and stderr
# The trusted shell's only work: it knows single digits alone, and `launch` leaves none above them.
_CLOSE = 'exec "$@" 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-'


class Started(Struct, frozen=True):
    """A command that runs; `status` ends when its guard outside the wall does."""

    wall: Wall
    process: subprocess.Popen[bytes]
    status: int
    group: cgroup.Group


class Place(Struct, frozen=True):
    """The wall, and what was found out about it. `abi` is Landlock's."""

    wall: Wall
    bubblewrap: str
    abi: int
    python: view.Interpreter


def ready(place: Place, command: Command) -> Command:
    """Look at the workspace, and make it the commands' own; what is ready can be started.

    Raises `SandboxUnavailable` and OSError. Blocks as long as the workspace has many files.
    """
    workspace = command.workspace.resolve(strict=True)
    folder = place.python.folder
    for seen in (*view.SYSTEM, *([folder] if folder else ())):
        if workspace.is_relative_to(seen):  # and then the house around it is seen as well
            detail = f"the workspace lies in {seen}, which every command can read"
            raise SandboxUnavailable("sandbox_broken", detail=detail)
    if os.geteuid() == 0:
        hand_over(workspace, user_of(workspace))
    return structs.replace(command, workspace=workspace)


def start(place: Place, command: Command) -> Started:
    """Raises OSError. Blocks; the kernel ends the command with the thread that calls this."""
    user = user_of(command.workspace) if os.geteuid() == 0 else None
    group = cgroup.make(command.limits)
    try:
        with _Files() as files:
            status, theirs = os.pipe()
            try:
                options, argv = _words(place, command, user, files.keep(theirs), files)
                for folder in set(group.folders.values()):
                    options += ["--cgroup", str(folder)]
                process = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-I", "-S", str(_LAUNCH), *files.words, *options, "--", *argv],
                    stdin=files.stdin(command.stdin),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=files.passed,
                    cwd="/",
                    env=_environment(place, command),
                    start_new_session=True,
                )
            except BaseException:
                os.close(status)
                raise
            return Started(place.wall, process, status, group)
    except BaseException:
        group.remove()
        raise


def user_of(workspace: Path) -> int:
    """The user whom commands of a workspace run as when we are root: its own, always the same."""
    return _FIRST_USER + zlib.crc32(os.fsencode(workspace)) % _USERS


def hand_over(workspace: Path, user: int) -> None:
    """Let the workspace belong to the user its commands run as, with what root wrote meanwhile.

    By open folders and without following links: a command of the same workspace may run just now.
    """
    for _, folders, files, handle in os.fwalk(workspace, follow_symlinks=False):
        if os.fstat(handle).st_uid != user:
            os.fchown(handle, user, user)
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                if os.stat(name, dir_fd=handle, follow_symlinks=False).st_uid != user:
                    os.chown(name, user, user, dir_fd=handle, follow_symlinks=False)


class _Files:
    """Open files for the child, which it knows by low numbers; ours are closed when it has started.

    They are few enough for single digits.
    """

    def __init__(self) -> None:
        self._passed: list[int] = []
        self._stdin = subprocess.DEVNULL

    @property
    def passed(self) -> tuple[int, ...]:
        return tuple(self._passed)

    @property
    def words(self) -> list[str]:
        """What tells `launch` to renumber them."""
        return [word for handle in self._passed for word in ("--file", str(handle))]

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._passed:
            os.close(handle)
        if self._stdin != subprocess.DEVNULL:
            os.close(self._stdin)

    def keep(self, handle: int) -> int:
        """Returns the number by which the child knows it."""
        self._passed.append(handle)
        return _LOWEST + len(self._passed) - 1

    def path(self, path: Path) -> int:
        return self.keep(os.open(path, os.O_PATH))

    def hold(self, data: bytes) -> int:
        return self.keep(_sealed(data))

    def stdin(self, data: bytes | None) -> int:
        """What `Popen` takes as standard input."""
        if data is not None:
            self._stdin = _sealed(data)
        return self._stdin


def _sealed(data: bytes) -> int:
    """A file that lies nowhere, and that who reads it cannot change."""
    import fcntl

    handle = os.memfd_create("teahouse", os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(data)
    os.lseek(handle, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK
    fcntl.fcntl(handle, fcntl.F_ADD_SEALS, seals)
    return handle


def _words(
    place: Place, command: Command, user: int | None, status: int, files: _Files
) -> tuple[list[str], list[str]]:
    """What `launch` is told: options, and the argv that it becomes or guards."""
    options = ["--parent", str(os.getpid()), *_limits(command, user)]
    if user is not None:
        options += ["--user", str(user)]
    filter_code = files.hold(seccomp.program(place.wall, place.abi))
    if place.wall == "landlock":
        options += ["--filter", str(filter_code), "--status", str(status)]
        options += ["--write", str(files.path(command.workspace))]
        folder = place.python.folder
        for path in (*view.SYSTEM, *view.DEVICES, *([str(folder)] if folder else ())):
            options += ["--read", path]
        return options, list(command.argv)
    sources = {"workspace": command.workspace}
    if command.egress is not None:
        sources["egress"] = command.egress
    if place.python.folder is not None:
        sources["python"] = place.python.folder
    if user is None:
        where = {name: str(path) for name, path in sources.items()}
    else:  # their own way there may be closed to the new user
        where = {name: f"/tmp/{name}" for name in sources}  # noqa: S108  a mount of its own
        for name, path in sources.items():
            options += ["--stage", f"{name}={path}"]
    copies = [(files.hold(data), path) for path, data in view.FILES]
    shown = [(where["python"], place.python.folder)] if place.python.folder else []
    argv = view.bubblewrap(
        place.bubblewrap,
        shown,
        where["workspace"],
        where.get("egress"),
        copies,
        command.limits.scratch,
    )
    argv += ["--json-status-fd", str(status), "--seccomp", str(filter_code)]
    return options, [*argv, "--", "/bin/sh", "-c", _CLOSE, "sh", *command.argv]


def _limits(command: Command, user: int | None) -> list[str]:
    import resource  # there is none on Windows

    most = command.limits
    values = {
        resource.RLIMIT_CORE: "0",
        resource.RLIMIT_CPU: f"{most.cpu_s}:{most.cpu_s + 2}",
        resource.RLIMIT_AS: str(most.memory * 4),  # address space is cheap, and runtimes reserve it
        resource.RLIMIT_FSIZE: str(most.file_size),
        resource.RLIMIT_NOFILE: str(most.files),
        resource.RLIMIT_NPROC: str(most.processes + (_tasks_of_ours() if user is None else 8)),
        resource.RLIMIT_MEMLOCK: "65536",
        resource.RLIMIT_MSGQUEUE: "65536",
    }
    return [word for number, value in values.items() for word in ("--limit", f"{number}={value}")]


def _tasks_of_ours() -> int:
    """How many threads our own user runs already: the kernel's limit counts them too."""
    us, count = os.getuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                if entry.stat().st_uid == us:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))  # noqa: PTH208
    return count


def _environment(place: Place, command: Command) -> Mapping[str, str]:
    """Nothing of ours: these few, and what was given on purpose."""
    home = INSIDE if place.wall == "bubblewrap" else str(command.workspace)
    scratch = "/tmp" if place.wall == "bubblewrap" else home  # noqa: S108  its own
    usual = {
        "PATH": view.PATH,
        "HOME": home,
        "PWD": home,
        "TMPDIR": scratch,
        "USER": "agent",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {**usual, **command.environment}
