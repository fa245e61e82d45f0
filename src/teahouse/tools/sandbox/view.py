"""What a sandboxed command sees: the system, its workspace, and nothing else of this house."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from teahouse.tools.sandbox.command import EGRESS, INSIDE

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
_LINKS = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")
_ETC = (  # libraries, certificates, the time; no names of people or of machines
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone"),
    *("mime.types", "ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "magic"),
    *("fonts", "terminfo"),
)
FILES = (  # copied in: what programs ask about the user they run as
    ("/etc/passwd", b"agent:x:1000:1000:agent:/workspace:/bin/sh\n"),
    ("/etc/group", b"agent:x:1000:\n"),
    ("/etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n"),
)
SYSTEM = ("/usr", *(f"/{name}" for name in _LINKS), *(f"/etc/{name}" for name in _ETC))
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))


class Interpreter(Struct, frozen=True):
    """A Python that commands may use, and the folder that has to be shown for it, if any."""

    program: str
    folder: Path | None = None


def interpreter() -> Interpreter:
    """The system's, where there is one, else that which runs Teahouse, without its packages."""
    system = shutil.which("python3", path=PATH)
    if system is not None:
        return Interpreter(system)
    base = Path(sys.base_prefix).resolve()
    program = str(base / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    return Interpreter(program, None if base.is_relative_to("/usr") else base)


def shell() -> str:
    return shutil.which("bash", path=PATH) or "/bin/sh"


def bubblewrap(  # noqa: PLR0917
    program: str,
    shown: Iterable[tuple[str, Path]],
    workspace: str,
    egress: str | None,
    copies: Iterable[tuple[int, str]],
    scratch: int,
) -> list[str]:
    """The command line up to what runs inside. `shown` are folders (where they lie, what they are
    called inside), `copies` open files that are copied in."""
    argv = [program, "--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent"]
    argv += ["--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"]
    argv += ["--hostname", "sandbox", "--ro-bind", "/usr", "/usr"]
    for name in _LINKS:
        host = Path("/") / name
        if host.is_symlink():
            argv += ["--symlink", str(host.readlink()), f"/{name}"]
        elif host.exists():
            argv += ["--ro-bind", f"/{name}", f"/{name}"]
    for name in _ETC:
        argv += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for fd, path in copies:
        argv += ["--perms", "0444", "--file", str(fd), path]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    for path, size in (("/dev/shm", 64_000_000), ("/tmp", scratch)):  # noqa: S108  inside
        argv += ["--perms", "1777", "--size", str(size), "--tmpfs", path]
    for path, name in shown:
        argv += ["--ro-bind", path, str(name)]
    argv += ["--bind", workspace, INSIDE, "--chdir", INSIDE]
    if egress is not None:
        argv += ["--bind", egress, EGRESS]
    return [*argv, "--remount-ro", "/dev", "--remount-ro", "/"]
