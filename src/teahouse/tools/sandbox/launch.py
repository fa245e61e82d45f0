"""Goes before every sandboxed command, in the child: limits, another user, then the wall.

Run by path with `python -I -S`, so that it is quick, and imports nothing of ours. Threads of the
server may hold locks at the moment of a fork, so nothing of this can happen between fork and exec.
Its arguments are pairs (`--limit 7=256`) up to `--`, then the argv that it becomes or, behind
Landlock, guards. Whatever fails here ends it with a sentence on stderr, and nothing has run.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import SIG_DFL, SIG_IGN, signal
else:  # the public module makes enums of them, and that takes a third of this program's time
    from _signal import SIG_DFL, SIG_IGN, signal

_KILL, _PIPE, _TERM, _FILE_TOO_LARGE = 9, 13, 15, 25
_DEATH_SIGNAL, _SUBREAPER, _NO_NEW_PRIVILEGES, _SECCOMP = 1, 36, 38, 22
_NEW_MOUNTS, _PRIVATE, _BIND, _RECURSIVE = 0x20000, 1 << 18, 1 << 12, 1 << 14
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_FIRST_TO_GO = "500"  # when the machine is out of memory, before the server
_STAGE = "/tmp"  # noqa: S108  a mount of our own covers it

_libc = ctypes.CDLL(None, use_errno=True)
Options = dict[str, list[str]]


def _sure(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def _prctl(option: int, value: int, what: str, more: object = 0) -> None:
    _sure(_libc.prctl(option, ctypes.c_ulong(value), more, 0, 0), what)


def _die_with(parent: int) -> None:
    """The kernel's promise to end us with the thread that started us; it may be gone already."""
    _prctl(_DEATH_SIGNAL, _KILL, "death signal")
    if os.getppid() != parent:
        raise OSError("the server is gone")


def _renumber(handles: list[int]) -> None:
    """Make the files that were passed 3, 4, …, in their order, and close all others."""
    high = [fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 512) for handle in handles]
    for number, handle in enumerate(high, 3):
        os.dup2(handle, number)
    os.closerange(3 + len(high), 1024)


def _stage(pairs: list[str]) -> None:
    """Show folders that only root can reach to a user who cannot, in mounts that only we see."""
    _sure(_libc.unshare(_NEW_MOUNTS), "unshare")
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    parts = [pair.partition("=") for pair in pairs]
    opened = [(os.open(path, os.O_PATH | os.O_NOFOLLOW), name) for name, _, path in parts]
    _mount("tmpfs", _STAGE, "tmpfs", 0)
    for fd, name in opened:
        path = f"{_STAGE}/{name}"
        if os.path.isdir(f"/proc/self/fd/{fd}"):  # noqa: PTH112  pathlib takes too long to import
            os.mkdir(path)  # noqa: PTH102
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        _mount(f"/proc/self/fd/{fd}", path, None, _BIND)


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    words = [word.encode() if word else None for word in (source, target, kind)]
    _sure(_libc.mount(*words, ctypes.c_ulong(flags), None), f"mount {target}")


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _landlock(read: list[str], write: list[int]) -> None:
    """Leave only what is named: reading and running the one, everything in the other."""
    call = _libc.syscall
    abi = _sure(call(_LANDLOCK_CREATE, None, 0, 1), "landlock")
    everything = (1 << (13 + (abi >= 2) + (abi >= 3) + (abi >= 5))) - 1
    net, scope = (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)  # bind, connect; sockets, signals
    attributes = b"".join(bits.to_bytes(8, "little") for bits in (everything, net, scope))
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = _sure(call(_LANDLOCK_CREATE, attributes, size, 0), "landlock rules")
    execute_read_list, of_files = 1 | 4 | 8, 1 | 2 | 4 | 1 << 14
    for path in read:
        try:
            fd = os.open(path, os.O_PATH)
        except FileNotFoundError:
            continue
        bits = execute_read_list
        if path.startswith("/dev/"):
            bits = 2 | 4
        elif not os.path.isdir(path):  # noqa: PTH112
            bits &= of_files
        _allow(rules, fd, bits & everything)
        os.close(fd)
    for fd in write:
        _allow(rules, fd, everything)
    _sure(call(_LANDLOCK_RESTRICT, rules, 0), "landlock restrict")
    os.close(rules)


def _allow(rules: int, fd: int, bits: int) -> None:
    beneath = bits.to_bytes(8, "little") + fd.to_bytes(4, "little")
    _sure(_libc.syscall(_LANDLOCK_ADD, rules, 1, beneath, 0), "landlock rule")


def _filter(fd: int) -> None:
    code = os.read(fd, 1 << 16)
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program(len(code) // 8, ctypes.addressof(buffer))
    _prctl(_SECCOMP, 2, "seccomp", ctypes.byref(program))


def _guard(argv: list[str], options: Options) -> None:
    """Behind Landlock no namespace ends with its first process: this one stays outside, adopts
    every orphan, and ends them all when the command ends or it is told to."""
    status, workspace = int(options["status"][0]), int(options["write"][0])
    _prctl(_SUBREAPER, 1, "subreaper")
    signal(_TERM, _told_to_end)
    _prctl(_DEATH_SIGNAL, _TERM, "death signal")
    guard = os.getpid()
    hears, tells = os.pipe()  # closed by exec: what comes through says that it came to none
    child = os.fork()
    if child == 0:
        try:
            signal(_TERM, SIG_DFL)
            _die_with(guard)
            os.fchdir(workspace)
            _landlock(options.get("read", []), [int(fd) for fd in options["write"]])
            _filter(int(options["filter"][0]))
            os.closerange(3, tells)
            os.closerange(tells + 1, 1024)
            _command(argv)
        except OSError as error:
            os.write(tells, b"!")
            _fail(error)
    os.close(tells)
    if os.read(hears, 1):
        _end_all(code=125)
    _, waited = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(waited)
    _end_all(status, 128 - code if code < 0 else code)


def _command(argv: list[str]) -> None:
    """As a shell would do and say it: what does not exist is the command's failure, not the wall's.

    Python's own search imports a module, and its files can no longer be read.
    """
    name, reason = argv[0], "not found"
    folders = os.environ["PATH"].split(":")  # noqa: TID251  made for this command
    for path in [name] if "/" in name else [f"{folder}/{name}" for folder in folders]:
        try:
            os.execv(path, argv)  # noqa: S606
        except FileNotFoundError:
            continue
        except OSError as error:
            reason = error.strerror
    os.write(2, f"{name}: {reason}\n".encode())
    os._exit(127)


def _told_to_end(number: int, frame: object) -> None:
    _end_all()


def _end_all(status: int = -1, code: int = 137) -> None:
    signal(_TERM, SIG_IGN)
    while True:
        for pid in _descendants():
            try:  # noqa: SIM105  contextlib takes too long to import
                os.kill(pid, _KILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, 0):
                break
        except ChildProcessError:
            break
    if status >= 0:
        os.write(status, b'{"exit-code": %d}\n' % code)
    os._exit(code)


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:  # noqa: PTH123
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return [pid for pid in ours if pid != os.getpid()]


def _fail(error: OSError) -> None:
    os.write(2, f"teahouse-sandbox: {error.strerror or error}\n".encode())
    os._exit(125)


def _options(words: list[str]) -> tuple[Options, list[str]]:
    end = words.index("--")
    options: Options = {}
    for name, value in zip(words[:end:2], words[1:end:2], strict=True):
        options.setdefault(name.removeprefix("--"), []).append(value)
    return options, words[end + 1 :]


def main() -> None:
    options, argv = _options(sys.argv[1:])
    try:
        parent = int(options["parent"][0])
        _die_with(parent)
        _renumber([int(handle) for handle in options["file"]])
        for group in options.get("cgroup", []):
            with open(f"{group}/cgroup.procs", "w") as file:  # noqa: PTH123
                file.write(str(os.getpid()))
        with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
            file.write(_FIRST_TO_GO)
        if "stage" in options:
            _stage(options["stage"])
        for limit in options.get("limit", []):
            number, _, most = limit.partition("=")
            soft, _, hard = most.partition(":")
            resource.setrlimit(int(number), (int(soft), int(hard or soft)))
        if "user" in options:
            _become(int(options["user"][0]))
            _die_with(parent)  # another user is another life: the kernel has forgotten its promise
        _prctl(_NO_NEW_PRIVILEGES, 1, "no new privileges")
        os.umask(0o022)
        for number in (_PIPE, _FILE_TOO_LARGE):
            signal(number, SIG_DFL)  # Python ignores them, and what is ignored is inherited
        if "filter" in options:
            _guard(argv, options)
        os.execv(argv[0], argv)  # noqa: S606
    except OSError as error:
        _fail(error)


main()
