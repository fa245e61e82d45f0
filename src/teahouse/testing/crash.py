"""Kills a real server again and again while people talk, and looks for what got lost.

`python -m teahouse.testing.crash --rounds 200 [--seed N] [--keep FOLDER]`

Talkers send messages with client ids over HTTP, repeat them, and stop some runs; readers follow
over WebSocket and SSE, reconnect where they were or reload. What all of them were told is then held
against what the server has: see `teahouse.testing.witness` for the promises.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import msgspec

from teahouse.agent.participant import Step
from teahouse.chat.ports import Page, Run
from teahouse.core.messages import Post
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.house import House
from teahouse.testing.talkers import AGAIN_S, Model, Talker, run_ended
from teahouse.testing.witness import PROMISES, Broken, Stored, Witness, broken

TALKERS = 4
SETTLE_S = 90.0
BUSY_S = 6.0


async def kill_often(house: House, witness: Witness, rounds: int, chance: random.Random) -> int:
    """Kill and restart; return how many times it was hit while it was starting."""
    early = 0
    for number in range(1, rounds + 1):
        if chance.random() < 0.15:
            early += 1
            await asyncio.sleep(chance.uniform(0, 0.8))
        else:
            await house.healthy()
            await _some_work(witness, chance.randint(0, 16))
            await asyncio.sleep(chance.uniform(0, 0.2))
        await house.kill()
        await _next_second()
        await house.spawn()
        if number % 20 == 0:
            print(f"  {number} of {rounds} kills", flush=True)
    await house.healthy()
    return early


async def _some_work(witness: Witness, count: int) -> None:
    """Let people get that much done: on a busy machine this takes longer than on an idle one."""
    until = witness.work + count
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(BUSY_S):
            while True:
                if witness.work >= until:
                    return
                await asyncio.sleep(0.005)


async def _next_second() -> None:
    """The tool `now` tells seconds: a call that is made again after the kill must differ."""
    await asyncio.sleep(1 - asyncio.get_running_loop().time() % 1 + 0.01)


async def settle(house: House, witness: Witness) -> None:
    """Wait until every run has ended; who has not by then is stuck."""
    waiting = {run for ack in witness.acks for run in ack.runs}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_S):
            while waiting:
                for run in list(waiting):
                    if await run_ended(house, run):
                        waiting.discard(run)
                await asyncio.sleep(AGAIN_S)


async def read_all(house: House, witness: Witness, conversations: Sequence[str]) -> Stored:
    posts: dict[str, list[Post]] = {}
    for conversation in conversations:
        posts[conversation], cursor = [], ""
        while True:
            query = f"conversation={conversation}&limit=50{cursor}"
            page = await house.api("GET", f"/api/messages?{query}")
            found = msgspec.convert(page, Page[Post])
            posts[conversation] = [*found.items, *posts[conversation]]
            if found.next is None:
                break
            cursor = f"&before={found.next}"
    runs: dict[str, Run] = {}
    steps: dict[str, Sequence[Step]] = {}
    for run in {run for ack in witness.acks for run in ack.runs}:
        with contextlib.suppress(aiohttp.ClientResponseError):  # who is gone is found missing
            runs[run] = msgspec.convert(await house.api("GET", f"/api/runs/{run}"), Run)
            listed = await house.api("GET", f"/api/runs/{run}/steps")
            steps[run] = msgspec.convert(listed, Page[Step]).items
    return Stored(posts=posts, runs=runs, steps=steps)


async def rehearse(rounds: int, seed: int, folder: Path) -> bool:
    """The whole of it; returns whether every promise was kept."""
    chance = random.Random(seed)  # noqa: S311  a repeatable choice, no secret
    witness, over = Witness(), asyncio.Event()
    async with Endpoint(script=Model(witness)) as model, House(folder, model.base_url) as house:
        await house.start()
        await house.log_in()
        agent = (await house.api("GET", "/api/agents"))["items"][0]["id"]
        talkers = [
            Talker(f"t{n}", house, witness, agent, f"{seed}-{n}") for n in range(1, TALKERS + 1)
        ]
        async with asyncio.TaskGroup() as group:
            for talker in talkers:
                group.create_task(talker.talk(over, group))
                for place in (1, 2):
                    group.create_task(talker.watch(over, place))
            early = await kill_often(house, witness, rounds, chance)
            over.set()
        await settle(house, witness)
        conversations = [c for talker in talkers for c in talker.conversations]
        stored = await read_all(house, witness, conversations)
    return report(witness, stored, rounds, early)


def report(witness: Witness, stored: Stored, rounds: int, early: int) -> bool:
    found = broken(witness, stored)
    again_taken = sum(1 for run in stored.runs.values() if run.attempt > 1)
    work = {
        "kills": rounds,
        "of them while it was starting": early,
        "messages acknowledged": len({ack.client_id for ack in witness.acks}),
        "repeats of them": len(witness.acks) - len({ack.client_id for ack in witness.acks}),
        "runs taken up again": again_taken,
        "tool calls finished": len(witness.results),
        "frames read": witness.frames,
        "answers read to their end": len(witness.told),
    }
    for name, count in work.items():
        print(f"  {name:32} {count:8,}")
    times = Counter(one.promise for one in found)
    for promise in PROMISES:
        print(f"  {promise:32} {times[promise]:8,}")
    _tell(found)
    needed = ("messages acknowledged", "runs taken up again", "tool calls finished", "frames read")
    idle = [name for name in needed if not work[name]]
    if idle:
        print(f"Nothing was tried: {', '.join(idle)} is 0.")
    return not found and not idle


def _tell(found: Sequence[Broken]) -> None:
    for promise in PROMISES:
        lines = [one.what for one in found if one.promise == promise]
        for line in lines[:5]:
            print(f"BROKEN {promise}: {line}")
        if len(lines) > 5:
            print(f"BROKEN {promise}: and {len(lines) - 5} more")


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill the server while people talk.")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--keep", type=Path, help="keep home and log in this folder")
    options = parser.parse_args()
    print(f"crash: {options.rounds} rounds, seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        kept = asyncio.run(rehearse(options.rounds, options.seed, folder))
    print("Every promise was kept." if kept else "A promise was broken.")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
