"""Stop: how soon the provider's socket is closed, whatever the provider is doing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from benchmarks.rows import Row
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.house import House

TIMES = 15
PHASES = {
    "waiting for headers": "[hang]",
    "before the first token": "[hang first]",
    "in mid-stream": "[hang mid]",
}


async def closing_rows(folder: Path) -> list[Row]:
    rows: list[Row] = []
    async with Endpoint() as model, House(folder, model.base_url) as house:
        await house.start()
        await house.log_in()
        agent = (await house.api("GET", "/api/agents"))["items"][0]["id"]
        for phase, command in PHASES.items():
            seconds = [await stop_once(house, model, agent, command) for _ in range(TIMES)]
            measure, detail = f"stop → upstream closed, {phase}", f"slowest of {TIMES}"
            rows.append(Row(measure, max(seconds), "s", 0.5, detail=detail))
    return rows


async def stop_once(house: House, model: Endpoint, agent: str, command: str) -> float:
    number = len(model.requests)
    sent = await house.api("POST", "/api/messages", {"agent": agent, "text": command})
    asked = await model.request(number)
    if command == "[hang mid]":
        await model.sent(asked, 2)
    await asyncio.sleep(0.05)
    stopped = asyncio.ensure_future(house.api("POST", f"/api/runs/{sent['runs'][0]['id']}/stop"))
    started = time.perf_counter()
    async with asyncio.timeout(10):
        await asked.closed.wait()
    seconds = time.perf_counter() - started
    await stopped
    return seconds
