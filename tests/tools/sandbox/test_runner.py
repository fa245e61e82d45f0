"""How a command starts, is heard and ends, and what it may use, behind each wall."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from teahouse.core.ids import new_bytes
from teahouse.tools.sandbox import probe
from teahouse.tools.sandbox.child import Place
from teahouse.tools.sandbox.command import (
    EGRESS,
    Command,
    Limits,
    Outcome,
    SandboxUnavailable,
    Stream,
    Wall,
)
from teahouse.tools.sandbox.runner import Sandbox
from tests.tools.sandbox.house import PYTHON, WALLS, on_linux, sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not on_linux, reason="Linux only")]

FORKS = """
import os, time
count = 0
try:
    while count < 150:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        count += 1
except OSError:
    pass
print(count, flush=True)
"""
HOLD = """
import time
held = bytearray(b"x") * {size}
print("held", flush=True)
time.sleep({seconds})
"""
DAEMON = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2): os.dup2(null, fd)
        os.execvp("sleep", ["sleep", sys.argv[1]])
    os._exit(0)
os.wait()
print("gone")
"""
SERVER = """
import asyncio, sys
from pathlib import Path
from teahouse.tools.sandbox.command import Command
from teahouse.tools.sandbox.runner import Sandbox
workspace, program, daemon, seconds = sys.argv[1:]
async def main():
    sandbox = Sandbox(program=program or None)
    stay = "import time; open('up', 'w').close(); time.sleep(600)"
    argv = ("/usr/bin/python3", "-c", daemon + stay, seconds)
    await sandbox.run(Command(argv=argv, workspace=Path(workspace)))
asyncio.run(main())
"""


@pytest.fixture(params=WALLS)
def wall(request: pytest.FixtureRequest) -> Wall:
    return request.param


@pytest.fixture
def seconds() -> str:
    """A time to sleep that no other process has: its mark."""
    return f"600.{int.from_bytes(new_bytes(6))}"


async def run(
    wall: Wall,
    workspace: Path,
    /,
    *argv: str,
    stdin: bytes | None = None,
    hear: Any = None,
    **limits: Any,
) -> Outcome:
    command = Command(argv=argv, workspace=workspace, stdin=stdin, limits=Limits(**limits))
    return await sandbox(wall).run(command, hear)


def processes(mark: str) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


async def none_left(mark: str) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(10):
            while processes(mark):
                await asyncio.sleep(0.05)
            return True
    return False


async def test_the_wall_that_stands_is_the_one_under_test(wall: Wall) -> None:
    state = await sandbox(wall).state()

    assert state.place is not None, state.reasons
    assert state.place.wall == wall


async def test_a_command_says_what_it_printed_and_how_it_ended(wall: Wall, tmp_path: Path) -> None:
    outcome = await run(wall, tmp_path, "/bin/sh", "-c", "echo out; echo err >&2; exit 7")

    assert (outcome.ending, outcome.status) == ("exit", 7)
    assert (outcome.stdout, outcome.stderr, outcome.cut) == (b"out\n", b"err\n", 0)


async def test_a_command_works_on_the_files_of_its_workspace(wall: Wall, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "in").write_text("a\n")

    script = "cat folder/in > out && echo b >> folder/in && mkdir new && touch new/file"
    outcome = await run(wall, tmp_path, "/bin/sh", "-c", script)

    assert (tmp_path / "out").read_text() == "a\n"
    assert (tmp_path / "folder" / "in").read_text() == "a\nb\n"
    assert (tmp_path / "new" / "file").exists()
    assert outcome.stderr == b"" or wall == "landlock"


async def test_a_signal_that_ends_a_command_is_told(wall: Wall, tmp_path: Path) -> None:
    outcome = await run(wall, tmp_path, "/bin/sh", "-c", "kill -SEGV $$")

    assert (outcome.ending, outcome.status) == ("exit", 128 + signal.SIGSEGV)


async def test_only_the_three_usual_files_are_open(wall: Wall, tmp_path: Path) -> None:
    """Also where the server has so many open that those for the child have high numbers."""
    code = """
import os
for fd in range(3, 2048):
    try: os.fstat(fd)
    except OSError: continue
    print("open", fd)
print("looked")
"""
    with ExitStack() as stack:
        for _ in range(40):
            handle = os.open(os.devnull, os.O_RDONLY)
            os.set_inheritable(handle, True)
            stack.callback(os.close, handle)
        outcome = await run(wall, tmp_path, PYTHON, "-c", code, stdin=b"x")

    assert outcome.stdout == b"looked\n"


async def test_a_workspace_that_every_command_can_read_is_refused(wall: Wall) -> None:
    with pytest.raises(SandboxUnavailable, match="/usr"):
        await run(wall, Path("/usr/share"), "/bin/true")


async def test_a_program_that_is_not_there_is_said(wall: Wall, tmp_path: Path) -> None:
    outcome = await run(wall, tmp_path, "no-such-program")

    assert outcome.status == 127
    assert b"no-such-program" in outcome.stderr


async def test_a_workspace_that_is_not_there_is_said(wall: Wall, tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="No such file"):
        await run(wall, tmp_path / "nowhere", "/bin/true")


async def test_input_is_closed_or_what_was_given(wall: Wall, tmp_path: Path) -> None:
    closed = await run(wall, tmp_path, "/bin/cat", wall_s=10)
    given = await run(wall, tmp_path, "/bin/cat", stdin="茶".encode() * 100_000)

    assert (closed.ending, closed.stdout) == ("exit", b"")
    assert given.stdout == "茶".encode() * 100_000


async def test_the_environment_holds_nothing_of_ours(
    wall: Wall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hidden")

    outcome = await run(wall, tmp_path, "/usr/bin/env")

    names = {line.partition(b"=")[0].decode() for line in outcome.stdout.splitlines()}
    usual = {"PATH", "HOME", "PWD", "TMPDIR", "USER", "LANG", "TERM", "PYTHONDONTWRITEBYTECODE"}
    assert usual <= names <= usual | {"SHLVL", "OLDPWD", "_", "LC_CTYPE"}


async def test_what_is_printed_is_heard_while_the_command_runs(wall: Wall, tmp_path: Path) -> None:
    heard: list[tuple[Stream, bytes]] = []

    def hear(stream: Stream, data: bytes) -> None:
        heard.append((stream, data))
        (tmp_path / "heard").touch()

    script = "echo first; until [ -e heard ]; do sleep 0.05; done; echo second >&2"
    outcome = await run(wall, tmp_path, "/bin/sh", "-c", script, hear=hear, wall_s=20)

    assert outcome.ending == "exit"
    assert heard == [("stdout", b"first\n"), ("stderr", b"second\n")]


async def test_a_command_that_takes_too_long_is_ended(
    wall: Wall, tmp_path: Path, seconds: str
) -> None:
    outcome = await run(wall, tmp_path, "sleep", seconds, wall_s=0.5)

    assert (outcome.ending, outcome.status) == ("time", None)
    assert await none_left(seconds)


async def test_a_command_that_only_counts_is_ended(wall: Wall, tmp_path: Path) -> None:
    outcome = await run(wall, tmp_path, PYTHON, "-c", "while True: pass", cpu_s=1, wall_s=60)

    assert outcome.ending == "cpu"


async def test_a_flood_of_output_ends_the_command_and_is_counted(
    wall: Wall, tmp_path: Path
) -> None:
    outcome = await run(
        wall, tmp_path, "/bin/sh", "-c", "yes", kept_output=1000, output=2_000_000, wall_s=30
    )

    assert outcome.ending == "output"
    assert len(outcome.stdout) == 1000
    assert outcome.cut > 1_000_000


async def test_what_is_too_much_to_keep_is_counted(wall: Wall, tmp_path: Path) -> None:
    outcome = await run(wall, tmp_path, "/bin/sh", "-c", "yes | head -c 5000", kept_output=100)

    assert (outcome.ending, len(outcome.stdout), outcome.cut) == ("exit", 100, 4900)


async def test_a_fork_bomb_meets_its_limit(wall: Wall, tmp_path: Path) -> None:
    few = await run(wall, tmp_path, PYTHON, "-c", FORKS, processes=40, wall_s=30)
    many = await run(wall, tmp_path, PYTHON, "-c", FORKS, processes=300, wall_s=30)

    assert few.ending == "processes" or int(few.stdout) < 50
    assert int(many.stdout) == 150


async def test_memory_has_a_limit_for_one_process(wall: Wall, tmp_path: Path) -> None:
    code = HOLD.format(size=300_000_000, seconds=3)
    over = await run(wall, tmp_path, PYTHON, "-c", code, memory=100_000_000, wall_s=30)
    under = await run(wall, tmp_path, PYTHON, "-c", HOLD.format(size=1_000_000, seconds=0))

    assert over.ending == "memory" or b"MemoryError" in over.stderr
    assert under.stdout == b"held\n"


async def test_memory_has_a_limit_for_all_processes_together(wall: Wall, tmp_path: Path) -> None:
    code = HOLD.format(size=60_000_000, seconds=4)
    script = 'for _ in 1 2 3 4; do python3 -c "$0" & done; wait; echo all'
    over = await run(wall, tmp_path, "/bin/sh", "-c", script, code, memory=130_000_000, wall_s=30)
    under = await run(
        wall, tmp_path, "/bin/sh", "-c", script, code.replace("(4)", "(0)"), wall_s=60
    )

    assert over.ending == "memory"
    assert under.stdout.endswith(b"all\n")


async def test_many_files_cannot_fill_the_disk(wall: Wall, tmp_path: Path) -> None:
    script = "for i in $(seq 40); do head -c 10000000 /dev/zero > f$i; sleep 0.05; done; echo all"
    over = await run(wall, tmp_path, "/bin/sh", "-c", script, workspace=60_000_000, wall_s=60)
    shutil.rmtree(tmp_path)

    assert over.ending == "disk"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
async def test_scratch_folders_are_small_and_private(folder: str, tmp_path: Path) -> None:
    script = f"head -c 80000000 /dev/zero > {folder}/big; ls {folder}; echo ok > {folder}/small"
    over = await run("bubblewrap", tmp_path, "/bin/sh", "-c", script, scratch=64_000_000)
    again = await run("bubblewrap", tmp_path, "/bin/ls", folder)

    assert b"No space left" in over.stderr
    assert over.stdout == b"big\n"
    assert again.stdout == b""


async def test_a_file_has_a_limit(wall: Wall, tmp_path: Path) -> None:
    script = "head -c 3000000 /dev/zero > big"
    over = await run(wall, tmp_path, "/bin/sh", "-c", script, file_size=1_000_000)

    assert over.status != 0
    assert (tmp_path / "big").stat().st_size == 1_000_000


async def test_no_child_outlives_its_command(wall: Wall, tmp_path: Path, seconds: str) -> None:
    outcome = await run(wall, tmp_path, PYTHON, "-c", DAEMON, seconds, wall_s=30)

    assert (outcome.ending, outcome.stdout) == ("exit", b"gone\n")
    assert await none_left(seconds)


async def test_a_child_that_holds_the_pipes_holds_nobody_up(
    wall: Wall, tmp_path: Path, seconds: str
) -> None:
    script = f"(trap '' TERM HUP; sleep {seconds}) & echo started"
    outcome = await run(wall, tmp_path, "/bin/sh", "-c", script, wall_s=30)

    assert (outcome.ending, outcome.stdout) == ("exit", b"started\n")
    assert await none_left(seconds)


async def test_a_cancelled_command_is_ended(wall: Wall, tmp_path: Path, seconds: str) -> None:
    script = f"touch up; exec sleep {seconds}"
    with suppress(TimeoutError):
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            task = group.create_task(run(wall, tmp_path, "/bin/sh", "-c", script))
            while not processes(seconds):
                await asyncio.sleep(0.02)
            task.cancel()

    assert task.cancelled()
    assert await none_left(seconds)


async def test_a_command_that_is_cancelled_as_it_starts_leaves_nothing(
    wall: Wall, tmp_path: Path, seconds: str
) -> None:
    await sandbox(wall).state()
    for turn in range(5):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(run(wall, tmp_path, "sleep", seconds))
            for _ in range(turn + 1):
                await asyncio.sleep(0)
            task.cancel()

    assert await none_left(seconds)


async def test_the_death_of_the_server_ends_its_commands(
    wall: Wall, tmp_path: Path, seconds: str
) -> None:
    program = "" if wall == "bubblewrap" else "/nowhere/bwrap"
    argv = [sys.executable, "-c", SERVER, str(tmp_path), program, DAEMON, seconds]
    with subprocess.Popen(argv) as server:  # noqa: ASYNC220  it starts at once
        try:
            async with asyncio.timeout(30):
                while not (tmp_path / "up").exists():
                    await asyncio.sleep(0.05)
            assert len(processes(seconds)) >= 2
        finally:
            server.kill()

    assert await none_left(seconds)


async def test_commands_of_one_workspace_run_side_by_side(wall: Wall, tmp_path: Path) -> None:
    meet = "touch $0; until [ -e a ] && [ -e b ]; do sleep 0.02; done; echo met"
    async with asyncio.TaskGroup() as group:
        both = [
            group.create_task(run(wall, tmp_path, "/bin/sh", "-c", meet, name, wall_s=20))
            for name in ("a", "b")
        ]

    assert [one.result().stdout for one in both] == [b"met\n", b"met\n"]


async def test_a_file_that_root_writes_later_can_be_changed(wall: Wall, tmp_path: Path) -> None:
    await run(wall, tmp_path, "/bin/sh", "-c", "echo a > mine")
    (tmp_path / "theirs").write_text("a\n")
    (tmp_path / "theirs").chmod(0o600)

    outcome = await run(wall, tmp_path, "/bin/sh", "-c", "echo b >> theirs && cat theirs mine")

    assert outcome.stdout == b"a\nb\na\n"


async def test_a_link_in_the_workspace_gives_nothing_away(wall: Wall, tmp_path: Path) -> None:
    """The workspace is handed over to another user when we are root; what links lead to is not."""
    workspace, secret = tmp_path / "workspace", tmp_path / "secret"
    workspace.mkdir()
    secret.write_text("secret")
    (workspace / "link").symlink_to(secret)
    (workspace / "folder").symlink_to(tmp_path)

    outcome = await run(wall, workspace, "/bin/cat", "link", "folder/secret")

    assert outcome.stdout == b""
    owners = {os.stat(one).st_uid for one in (secret, tmp_path)}  # noqa: PTH116
    assert owners == {os.getuid()}


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Path]:
    """A socket that answers what it hears, as the way out will stand there."""
    folder = tmp_path / "e"
    folder.mkdir()
    path = folder / "s"
    door = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(folder)
    door.bind("s")
    os.chdir(before)
    path.chmod(0o666)
    door.listen()
    door.settimeout(20)

    def answer() -> None:
        with suppress(OSError):
            one, _ = door.accept()
            with one:
                one.sendall(b"heard " + one.recv(100))

    thread = threading.Thread(target=answer)
    thread.start()
    yield path
    with suppress(OSError):
        door.shutdown(socket.SHUT_RDWR)
    door.close()
    thread.join()


async def test_the_one_way_out_is_a_socket_that_was_given(echo: Path, tmp_path: Path) -> None:
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        " s.send(b'tea'); print(s.recv(100).decode())"
    )
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    argv = (PYTHON, "-c", code, EGRESS)
    without = await sandbox("bubblewrap").run(Command(argv=argv, workspace=workspace))
    outcome = await sandbox("bubblewrap").run(Command(argv=argv, workspace=workspace, egress=echo))

    assert without.status == 1
    assert outcome.stdout == b"heard tea\n", outcome.stderr


def test_the_loop_of_the_server_hears_commands_as_well(tmp_path: Path) -> None:
    import uvloop

    async def both() -> tuple[Outcome, Outcome]:
        house = Sandbox()
        command = Command(argv=("/bin/sh", "-c", "echo out; echo err >&2"), workspace=tmp_path)
        slow = Command(argv=("sleep", "60"), workspace=tmp_path, limits=Limits(wall_s=0.5))
        return await house.run(command), await house.run(slow)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        done, stopped = runner.run(both())

    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
    assert stopped.ending == "time"


async def test_where_no_wall_stands_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    bare = Sandbox()

    with pytest.raises(SandboxUnavailable, match="Linux only"):
        await bare.run(Command(argv=("/bin/touch", "ran"), workspace=tmp_path))
    assert not (tmp_path / "ran").exists()


async def test_a_wall_with_a_hole_is_not_used() -> None:
    async def leaky(place: Place, command: Command) -> Outcome:
        printed = b"read_secret\ndone\n" if place.wall == "bubblewrap" else b""
        return Outcome(ending="exit", status=0, stdout=printed, stderr=b"", cut=0, elapsed_s=0)

    state = await probe.state(leaky)

    assert state.place is None
    assert "read_secret" in str(state.reasons[0])


async def test_the_self_test_sees_what_gets_through_where_there_is_no_wall() -> None:
    """The same escapes, run bare, must succeed: else the self-test proves nothing."""
    reported: list[str] = []

    async def bare(place: Place, command: Command) -> Outcome:
        apart = ("unshare", "--mount", "--") if os.geteuid() == 0 else ()
        done = await asyncio.to_thread(
            subprocess.run,
            (*apart, *command.argv),
            cwd=command.workspace,
            capture_output=True,
            check=False,
        )
        reported.append(done.stdout.decode())
        return Outcome(ending="exit", status=0, stdout=done.stdout, stderr=b"", cut=0, elapsed_s=0)

    state = await probe.state(bare)

    assert state.place is None
    assert {"read_secret", "link_secret", "write_secret", "server_signal"} <= set(
        reported[0].split()
    )
