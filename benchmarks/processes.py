"""Starting: `--help` against bare Python, the server against a bare one, and its idle weight."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.rows import Row, median
from teahouse.testing.house import House, free_port

HELPS, STARTS = 11, 7
BARE = [sys.executable, str(Path(__file__).with_name("bare.py"))]
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def help_rows() -> list[Row]:
    ours: list[tuple[float, float]] = []
    bare: list[tuple[float, float]] = []
    for _ in range(HELPS):
        ours.append(run([sys.executable, "-m", "teahouse", "--help"]))
        bare.append(run([sys.executable, "-c", "pass"]))
    seconds, bare_seconds = (median([s for s, _ in runs]) for runs in (ours, bare))
    detail = f"{seconds * 1000:.0f} ms against {bare_seconds * 1000:.0f} ms, median of {HELPS}"
    return [
        Row("`teahouse --help` against bare Python", seconds / bare_seconds, "×", 6, detail=detail),
        Row("`teahouse --help`, memory", median([mb for _, mb in ours]), "MB", 40),
    ]


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and megabytes of one process."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, env={"HOME": home, "PATH": os.defpath}
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return time.perf_counter() - started, used.ru_maxrss / 1024


async def start_rows(folder: Path) -> list[Row]:
    """The home exists already: a start as on every day but the first."""
    async with House(folder, "http://127.0.0.1:9/v1") as house:
        await house.start()
        await house.stop()
        ours: list[float] = []
        bare: list[float] = []
        weights: list[float] = []
        for _ in range(STARTS):
            started = time.perf_counter()
            await house.spawn()
            await first_200(house.port)
            ours.append(time.perf_counter() - started)
            await asyncio.sleep(1)
            weights.append(resident(house.pid))
            await house.stop()
            bare.append(await bare_start())
    detail = f"{median(ours):.2f} s against {median(bare):.2f} s, median of {STARTS}"
    return [
        Row(
            "start to the first 200, against a bare Litestar",
            median(ours) / median(bare),
            "×",
            1.3,
            detail=detail,
        ),
        Row("resident memory when idle", median(weights), "MB", 100),
    ]


async def bare_start() -> float:
    port = free_port()
    started = time.perf_counter()
    process = subprocess.Popen([*BARE, str(port)])
    await first_200(port)
    seconds = time.perf_counter() - started
    process.terminate()
    process.wait(10)
    return seconds


async def first_200(port: int) -> None:
    async with asyncio.timeout(60):
        while not await asyncio.to_thread(answers, port):
            await asyncio.sleep(0.002)


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as probe:
            probe.sendall(REQUEST)
            return b" 200 " in probe.recv(200)
    except OSError:
        return False


def resident(pid: int) -> float:
    """Megabytes of a process and of all its children."""
    waiting, kilobytes = [pid], 0
    while waiting:
        one = waiting.pop()
        for line in Path(f"/proc/{one}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                kilobytes += int(line.split()[1])
        for task in Path(f"/proc/{one}/task").iterdir():
            waiting += [int(child) for child in (task / "children").read_text("ascii").split()]
    return kilobytes / 1024
