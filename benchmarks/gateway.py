"""The gateway: what a call costs, what stays in memory, and how soon a call ends that was left.

As it is meant to be used: keys are checked, each call goes to the ledger and the metrics, and the
key has a budget. Processor time is that of the whole process. Beside it stands a gateway that only
passes bytes on (`passing.py`), in the same minute: what it costs is what the libraries cost.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import Seen, load
from benchmarks.processes import resident
from benchmarks.rows import Row, median, quantile
from teahouse.testing.endpoint import Endpoint

HERE = Path(__file__).parent
CLIENTS, ROUNDS = 16, 5
CALLS = {"json": 600, "burst": 600, "paced": 64}
STREAMS = 10_000
RATES, RATE_CALLS = (1, 16, 64), {1: 300, 16: 800, 64: 800}
LEAVES = 5
PHASES = {
    "waiting for headers": "[hang]",
    "before the first token": "[hang first]",
    "in mid-stream": "[hang mid]",
}
SETTINGS = """
[providers.fake]
wire = "openai_chat"
base_url = "{upstream}/v1"
[prices]
"fake/burst" = [0.5, 2]
"fake/paced" = [0.5, 2]
"fake/fake" = [0.5, 2]
[local_model]
enabled = false
"""


@dataclass(frozen=True)
class Place:
    """Where an interface of OpenAI's form is, and whose processor time counts."""

    url: str
    key: str
    pid: int
    provider: str = "fake/"

    async def load(self, kind: str, clients: int, count: int) -> tuple[Seen, float]:
        """What the clients saw, and milliseconds of processor time for each call. `kind` is `json`,
        or the way in which the stream comes."""
        model = f"{self.provider}{'burst' if kind == 'json' else kind}"
        before = worked(self.pid)
        seen = await load(
            f"{self.url}/v1/chat/completions", self.key, model,
            stream=kind != "json", clients=clients, count=count,
        )  # fmt: skip
        return seen, (worked(self.pid) - before) / count

    async def warm(self) -> None:
        for kind in CALLS:
            await self.load(kind, CLIENTS, 48)


async def gateway_rows(folder: Path) -> list[Row]:
    async with upstream() as address:
        async with gateway(folder, address) as ours, passing(address) as bare:
            await ours.warm()
            await bare.warm()
            rows = await cost_rows(ours, bare)
            rows += await rate_rows(ours, bare, Place(address, "", 0))
        async with gateway(folder / "heavy", address) as ours:
            rows += await memory_rows(ours)
    async with Endpoint() as model, gateway(folder / "left", model.base_url[:-3]) as ours:
        rows += await leave_rows(ours, model)
    return [*rows, import_row()]


async def cost_rows(ours: Place, bare: Place) -> list[Row]:
    rows: list[Row] = []
    for kind, measure, limit in (
        ("burst", "a stream of 100 pieces that come at once", 1.5),
        ("paced", "a stream of 100 pieces, one each 5 ms", 6),
        ("json", "an answer in one piece", None),
    ):
        spent: dict[Place, list[float]] = {ours: [], bare: []}
        for _ in range(ROUNDS):
            for place, costs in spent.items():
                costs.append((await place.load(kind, CLIENTS, CALLS[kind]))[1])
        mine, least = median(spent[ours]), median(spent[bare])
        detail = f"bytes passed on: {least:.2f} ms; median of {ROUNDS}, best {min(spent[ours]):.2f}"
        rows.append(Row(f"gateway, processor time, {measure}", mine, "ms", limit, detail=detail))
    return rows


async def rate_rows(ours: Place, bare: Place, direct: Place) -> list[Row]:
    """What stands between a client and its model: requests a second, and the time that is added."""
    rows: list[Row] = []
    for clients in RATES:
        seen: dict[Place, list[Seen]] = {ours: [], bare: [], direct: []}
        for _ in range(3):
            for place, found in seen.items():
                found.append((await place.load("burst", clients, RATE_CALLS[clients]))[0])
        rates = {place: median([one.rate for one in found]) for place, found in seen.items()}
        p50, p99 = (added(seen[ours], seen[direct], part) for part in (0.5, 0.99))
        detail = (
            f"bytes passed on: {rates[bare]:,.0f}, no gateway: {rates[direct]:,.0f}; "
            f"until the first byte it adds {p50:.1f} ms (p50), {p99:.1f} ms (p99)"
        )
        measure = f"gateway, streams that come at once, clients: {clients}"
        rows.append(Row(measure, rates[ours], "a second", detail=detail))
    return rows


def added(ours: Sequence[Seen], direct: Sequence[Seen], part: float) -> float:
    """Milliseconds until the first byte, more than without a gateway; the median of the rounds."""
    with_it, without = (
        median([quantile(one.firsts, part) for one in found]) for found in (ours, direct)
    )
    return (with_it - without) * 1000


async def memory_rows(ours: Place) -> list[Row]:
    weights: list[float] = []
    for _ in range(2):
        await ours.load("burst", CLIENTS, STREAMS // 2)
        await asyncio.sleep(1)
        weights.append(resident(ours.pid))
    half, all_of_them = weights
    growth = (all_of_them / half - 1) * 100
    detail = f"{half:.1f} MB after {STREAMS // 2:,}, {all_of_them:.1f} MB after {STREAMS:,}"
    return [
        Row(f"gateway, resident memory after {STREAMS:,} streams", all_of_them, "MB", 120),
        Row("gateway, growth of it in the second half", growth, "%", 5, detail=detail),
    ]


async def leave_rows(ours: Place, model: Endpoint) -> list[Row]:
    rows: list[Row] = []
    for form in ("stream", "json"):
        for phase, command in PHASES.items():
            seconds = [await leave_once(ours, model, form, command) for _ in range(LEAVES)]
            measure = f"client gone → upstream closed, {form}, {phase}"
            rows.append(Row(measure, max(seconds), "s", 0.5, detail=f"slowest of {LEAVES}"))
    return rows


async def leave_once(ours: Place, model: Endpoint, form: str, command: str) -> float:
    number = len(model.requests)
    host, _, port = ours.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    said = {"role": "user", "content": command}
    body = json.dumps({"model": "fake/fake", "messages": [said], "stream": form == "stream"})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\n"
    head += f"authorization: Bearer {ours.key}\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write((head + body).encode())
    asked = await model.request(number)
    if command == "[hang mid]":
        await model.sent(asked, 2)
    await asyncio.sleep(0.05)
    started = time.perf_counter()
    writer.close()
    async with asyncio.timeout(10):
        await asked.closed.wait()
    return time.perf_counter() - started


def import_row() -> Row:
    """Against Python's own start, which the time holds too."""
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(11):
        for command, times in (("import teahouse.llm", ours), ("pass", bare)):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", command], check=True, timeout=60)
            times.append(time.perf_counter() - started)
    detail = f"{median(ours) * 1000:.0f} ms against {median(bare) * 1000:.0f} ms, median of 11"
    ratio = median(ours) / median(bare)
    return Row("`import teahouse.llm` against bare Python", ratio, "×", 6, detail=detail)


@asynccontextmanager
async def started(
    *command: str, environment: dict[str, str] | None = None
) -> AsyncGenerator[tuple[str, int]]:
    """A process that says in its first line where it is; ended with the block."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            line = (await process.stdout.readline()).decode().strip()
        if not line:
            raise RuntimeError(f"{' '.join(command)} does not start")
        yield line, process.pid
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def upstream() -> AsyncGenerator[str]:
    async with started(sys.executable, str(HERE / "upstream.py")) as (port, _):
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def passing(address: str) -> AsyncGenerator[Place]:
    to = f"{address}/v1/chat/completions"
    async with started(sys.executable, str(HERE / "passing.py"), to) as (url, pid):
        yield Place(url, "", pid)


@asynccontextmanager
async def gateway(folder: Path, address: str) -> AsyncGenerator[Place]:
    folder.mkdir(exist_ok=True)
    file, home = folder / "teahouse.toml", folder / "home"
    file.write_text(SETTINGS.format(upstream=address), encoding="utf-8")
    file.chmod(0o600)
    environment = {"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"}
    teahouse = (sys.executable, "-m", "teahouse")
    serving = (*teahouse, "gateway", "--config", str(file), "--home", str(home), "--port", "0")
    async with started(*serving, "--json", environment=environment) as (line, pid):
        making = (*teahouse, "keys", "create", "bench", "--budget", "1000000", "--json")
        async with started(*making, "--home", str(home), environment=environment) as (made, _):
            yield Place(json.loads(line)["url"], json.loads(made)["key"], pid)


def worked(pid: int) -> float:
    """Milliseconds of processor time of a process and its children, of all their threads."""
    if not pid:
        return 0
    ticks = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text("ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text("ascii").split()]
    return found
