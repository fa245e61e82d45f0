"""A house to break out into: secrets, neighbours, a server and its sockets, and sandboxes in it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from teahouse.core.ids import new_secret
from teahouse.tools.sandbox import seccomp
from teahouse.tools.sandbox.command import Command, Limits, Outcome, Wall
from teahouse.tools.sandbox.runner import Sandbox

WALLS: tuple[Wall, ...] = ("bubblewrap", "landlock")
PYTHON = "/usr/bin/python3"
PRELUDE = Path(__file__).with_name("escape_prelude.py").read_text(encoding="utf-8")


@cache
def sandbox(wall: Wall) -> Sandbox:
    """One for all tests: which wall stands is found out once."""
    return Sandbox(program=None if wall == "bubblewrap" else "/nowhere/bwrap")


class House:
    def __init__(self, folder: Path) -> None:
        self.word = new_secret()
        self.home = folder / "home"
        self.workspace = self.home / "agents" / "a" / "files"
        self.outside = self.home / "agents" / "o" / "files"  # where controls run
        other = self.home / "agents" / "b" / "files"
        for one in (self.workspace, self.outside, other):
            one.mkdir(parents=True)
        for secret in (self.home / "secret.key", other / "private.txt"):
            secret.write_text(self.word)
        (self.home / "teahouse.db").write_bytes(b"SQLite format 3\0")
        self.marker = Path("/tmp") / f"teahouse-{self.word[:8]}"
        self.shared_memory = Path("/dev/shm") / self.word[:8]
        self.facts: dict[str, Any] = {}
        self._stack = ExitStack()

    def __enter__(self) -> House:
        environment = {**os.environ, "TEAHOUSE_WORD": self.word}
        victim = subprocess.Popen(["sleep", "600"], env=environment, cwd=self.home)
        self._stack.callback(victim.wait)
        self._stack.callback(victim.kill)
        tcp, tcp6 = socket.create_server(("127.0.0.1", 0)), self._ipv6()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        free = socket.create_server(("127.0.0.1", 0))
        hidden, door = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        abstract = f"teahouse-{self.word[:8]}"
        hidden.bind(f"\0{abstract}")
        hidden.listen(64)
        folder = self.home / "door"
        with _working_folder(self.home):  # the whole path may be longer than a socket's name
            door.bind("door")
        folder.chmod(0o666)
        door.listen(64)
        for one in (tcp, self.udp, hidden, door, *([tcp6] if tcp6 else [])):
            self._stack.callback(one.close)
        listen = free.getsockname()[1]
        free.close()
        shared = Path("/dev/shm") / f"teahouse-{self.word[:8]}"
        shared.write_text("shared")
        self._stack.callback(shared.unlink)
        held = os.open(self.home / "secret.key", os.O_RDONLY)
        os.set_inheritable(held, True)
        self._stack.callback(os.close, held)
        self.held = held
        column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
        self.facts = {
            "word": self.word,
            "home": str(self.home),
            "secret": str(self.home / "secret.key"),
            "other": str(self.home / "agents" / "b" / "files" / "private.txt"),
            "copy": str(self.home / "copy"),
            "inherited": "secret.key",
            "marker": str(self.marker),
            "shared": shared.name,
            "pid": victim.pid,
            "server": victim.pid,
            "port": tcp.getsockname()[1],
            "port6": tcp6.getsockname()[1] if tcp6 else 0,
            "udp": self.udp.getsockname()[1],
            "listen": listen,
            "abstract": abstract,
            "door": str(folder),
            "numbers": {name: both[column] for name, both in seccomp._CALLS.items()},
        }
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @staticmethod
    def _ipv6() -> socket.socket | None:
        try:
            return socket.create_server(("::1", 0), family=socket.AF_INET6)
        except OSError:
            return None

    def reset(self) -> None:
        (self.home / "copy").write_text("copy")
        self.marker.unlink(missing_ok=True)
        self.shared_memory.unlink(missing_ok=True)
        self.traces("datagram")

    def traces(self, kind: str) -> bool:
        """Whether an escape has left something outside."""
        if kind == "datagram":
            try:
                return self.word.encode() in self.udp.recv(1000)
            except BlockingIOError:
                return False
        return {"marker": self.marker, "shm": self.shared_memory}[kind].exists()

    async def inside(self, wall: Wall, code: str) -> Outcome:
        argv = (PYTHON, "-c", f"{PRELUDE}\n{code}", json.dumps(self.facts))
        limits = Limits(wall_s=20)
        command = Command(argv=argv, workspace=self.workspace, limits=limits)
        return await sandbox(wall).run(command)

    def control(self, code: str, *, keeps_files: bool = False) -> str:
        """Run the same outside, in mounts of its own where that can be had: it may change some."""
        argv = [PYTHON, "-c", f"{PRELUDE}\n{code}", json.dumps(self.facts)]
        if os.geteuid() == 0 and shutil.which("unshare"):
            argv = ["unshare", "--mount", "--uts", "--", *argv]
        done = subprocess.run(
            argv,
            cwd=self.outside,
            env={**os.environ, "TEAHOUSE_WORD": self.word},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
            pass_fds=(self.held,) if keeps_files else (),
        )
        return done.stdout.decode() + done.stderr.decode()


@contextmanager
def _working_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


on_linux = sys.platform == "linux"
