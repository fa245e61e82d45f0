"""The gateway beside LiteLLM's proxy, before the same endpoint in the same minutes.

The rival is installed into an environment of its own, outside of this folder, the first time that
it is measured. It checks its key, as ours does, but keeps neither ledger nor budget here: for these
it wants a database server.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from benchmarks.gateway import CLIENTS, Place, gateway, upstream
from benchmarks.processes import resident
from benchmarks.rows import Row, median
from teahouse.testing.house import free_port

VERSION = "1.108.7"
ENVIRONMENT = Path.home() / ".cache" / "teahouse" / "bench" / f"litellm-{VERSION}"
INSTALL_S, START_S = 900, 120
ROUNDS = 3
OURS, THEIRS = {"json": 600, "burst": 600}, {"json": 160, "burst": 80}
SETTINGS = """
model_list:
  - model_name: burst
    litellm_params: {{model: openai/burst, api_base: "{upstream}/v1", api_key: none}}
general_settings: {{master_key: sk-bench}}
"""


async def rival_rows(folder: Path) -> list[Row]:
    problem = await asyncio.to_thread(installed)
    if problem:
        print(f"LiteLLM is left out: {problem}", file=sys.stderr)
        return []
    async with (
        upstream() as address,
        gateway(folder / "ours", address) as ours,
        litellm(folder, address) as theirs,
    ):
        for place, calls in ((ours, OURS), (theirs, THEIRS)):
            for kind in calls:
                await place.load(kind, CLIENTS, 48)
        return await compared(ours, theirs)


async def compared(ours: Place, theirs: Place) -> list[Row]:
    rows: list[Row] = []
    for kind, what in (("burst", "a stream of 100 pieces"), ("json", "an answer in one piece")):
        costs: dict[Place, list[float]] = {ours: [], theirs: []}
        rates: dict[Place, list[float]] = {ours: [], theirs: []}
        for _ in range(ROUNDS):
            for place, calls in ((ours, OURS), (theirs, THEIRS)):
                seen, cost = await place.load(kind, CLIENTS, calls[kind])
                costs[place].append(cost)
                rates[place].append(seen.rate)
        mine, other = median(costs[ours]), median(costs[theirs])
        detail = f"{mine:.2f} ms against {other:.1f} ms, median of {ROUNDS}"
        measure = f"gateway, processor time, {what}, against LiteLLM"
        rows.append(Row(measure, mine / other, "×", 0.2, detail=detail))
        mine, other = median(rates[ours]), median(rates[theirs])
        detail = f"{mine:,.0f} against {other:,.0f} a second, {CLIENTS} clients"
        measure = f"gateway, {what}, how many a second, against LiteLLM"
        rows.append(Row(measure, mine / other, "×", 5, at_least=True, detail=detail))
    mine, other = resident(ours.pid), resident(theirs.pid)
    detail = f"{mine:.0f} MB against {other:.0f} MB, after these calls"
    return [
        *rows,
        Row("gateway, resident memory, against LiteLLM", mine / other, "×", 0.5, detail=detail),
    ]


def installed() -> str | None:
    """Install it where it is not; why that cannot be done, if so."""
    ready = ENVIRONMENT / "ready"
    if ready.exists():
        return None
    print(f"Installing LiteLLM into {ENVIRONMENT}", file=sys.stderr)
    pip = (str(ENVIRONMENT / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check")
    try:
        for command in (
            (sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)),
            (*pip, f"litellm[proxy]=={VERSION}"),
        ):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.CalledProcessError as error:
        return error.stderr.strip().rpartition("\n")[2] or str(error)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    ready.touch()
    return None


@asynccontextmanager
async def litellm(folder: Path, address: str) -> AsyncGenerator[Place]:
    file, port = folder / "litellm.yaml", free_port()
    file.write_text(SETTINGS.format(upstream=address), encoding="utf-8")
    environment = {
        "HOME": str(folder),
        "PATH": f"{ENVIRONMENT / 'bin'}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # it would fetch the prices at each start
    }
    process = await asyncio.create_subprocess_exec(
        *(str(ENVIRONMENT / "bin" / "litellm"), "--config", str(file), "--telemetry", "False"),
        *("--host", "127.0.0.1", "--port", str(port)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    place = Place(f"http://127.0.0.1:{port}", "sk-bench", process.pid, provider="")
    try:
        await healthy(place)
        yield place
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def healthy(place: Place) -> None:
    until = time.perf_counter() + START_S
    async with aiohttp.ClientSession() as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{place.url}/health/liveliness") as answer:
                    if answer.status == 200:
                        return
            if time.perf_counter() > until:
                raise RuntimeError("LiteLLM does not start")
            await asyncio.sleep(0.2)
