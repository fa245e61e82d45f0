"""Starting: `--help` against bare Python, the server against a bare one, and its idle weight."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.rows import Row, median
from teahouse.testing.house import House, free_port

HELPS, STARTS = 11, 7
BARE = [sys.executable, str(Path(__file__).with_name("bare.py"))]
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


# A process tells its own peak at its end: what its parent is told counts the parent's memory too.
PEAK = """
import runpy, sys
sys.argv = ["teahouse", "--help"]
try:
    runpy.run_module("teahouse", run_name="__main__")
finally:
    print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def help_rows() -> list[Row]:
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(HELPS):
        ours.append(timed([sys.executable, "-m", "teahouse", "--help"]))
        bare.append(timed([sys.executable, "-c", "pass"]))
    seconds, bare_seconds = median(ours), median(bare)
    detail = f"{seconds * 1000:.0f} ms against {bare_seconds * 1000:.0f} ms, median of {HELPS}"
    peak = int(run([sys.executable, "-c", PEAK]).split()[-2]) / 1024
    return [
        Row("`teahouse --help` against bare Python", seconds / bare_seconds, "×", 6, detail=detail),
        Row("`teahouse --help`, memory", peak, "MB", 40),
    ]


def timed(command: list[str]) -> float:
    started = time.perf_counter()
    run(command)
    return time.perf_counter() - started


def run(command: list[str]) -> str:
    environment = {"HOME": "/nonexistent", "PATH": os.defpath, "LANG": "C.UTF-8"}
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment, timeout=60
    )
    return done.stdout


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
