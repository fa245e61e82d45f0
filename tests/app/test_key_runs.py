"""In the whole house: what a program says over REST is paid by its key, and by no more than that
may spend."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from teahouse.agent.titles import MAX_TOKENS as TITLE_TOKENS
from teahouse.app.serve import Open
from teahouse.testing.answers import DONE, Answer, DefaultScript, Hold, chunk, text_answer, usage
from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import Guest, fake, running

pytestmark = pytest.mark.anyio

PRICES = {"TEAHOUSE_PRICES": '{"fake/fake": [1, 10]}'}
MESSAGES = 32
REACHES_FOR = 4
ALLOWANCE = 0.35  # an answer may cost 0.082 at worst, and costs 0.08


def dear_answer(body: dict[str, Any], *before: Hold) -> Answer:
    """One that is nearly as long as it may be."""
    said = chunk({"role": "assistant", "content": "hello"})
    most = body.get("max_completion_tokens") or body.get("max_tokens") or 8000
    tokens = usage(5, min(most, 8000))
    return Answer(steps=(said, *before, chunk({}, "stop"), tokens, DONE))


@asynccontextmanager
async def program(guest: Guest, secret: str) -> AsyncIterator[Guest]:
    async with ClientSession() as session:
        yield Guest(Open(url=guest.opened.url, key=secret), session)


async def key_of(guest: Guest, budget: float, *scopes: str) -> dict[str, Any]:
    body = {"name": "cron", "budget": budget, "scopes": scopes}
    status, made = await guest.ask("POST", "/api/keys", body)
    assert status == 201, made
    return made


async def race(program: Guest, where: Callable[[int], dict[str, str]]) -> list[str]:
    """Say it all at once; return the runs."""
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(program.ask("POST", "/api/messages", {"text": "hi", **where(number)}))
            for number in range(MESSAGES)
        ]
    return [task.result()[1]["runs"][0]["id"] for task in asked]


async def endings(guest: Guest, runs: list[str]) -> Counter[str]:
    """The problem of each run, or `done`, when all have ended."""
    found: list[str] = []
    async with asyncio.timeout(60):
        for run in runs:
            while (ended := await guest.get(f"/api/runs/{run}"))["post"] is None:
                await asyncio.sleep(0.01)
            found.append(ended["problem"]["code"] if ended["problem"] else ended["status"])
    return Counter(found)


async def agent_of(guest: Guest) -> str:
    return (await guest.get("/api/agents"))["items"][0]["id"]


def ledger(home: Path) -> list[tuple[str, str | None, float | None]]:
    """Purpose, key and cost of each call that was made, once the house is closed."""
    with closing(sqlite3.connect(home / "teahouse.db")) as database:
        return database.execute("SELECT purpose, key, cost FROM provider_call").fetchall()


@pytest.mark.parametrize("scopes", [(), ("api",)])
async def test_messages_that_race_never_spend_more_than_their_key_may(
    tmp_path: Path, scopes: tuple[str, ...]
) -> None:
    async with (
        Endpoint(script=dear_answer) as endpoint,
        running(tmp_path, **fake(endpoint) | PRICES) as guest,
    ):
        made = await key_of(guest, ALLOWANCE, *scopes)
        agent = await agent_of(guest)
        async with program(guest, made["key"]) as cron:
            runs = await race(cron, lambda _: {"agent": agent})
        found = await endings(guest, runs)
        _, own = await guest.say("hello")  # the person is not held by what their key may
        async with asyncio.timeout(10):
            while (shown := (await guest.get("/api/keys"))["items"][0]["spent"]) < 0.3:
                await asyncio.sleep(0.01)

    paid = [cost or 0.0 for _, key, cost in ledger(tmp_path) if key == made["id"]]
    assert found == {"done": REACHES_FOR, "budget_key": MESSAGES - REACHES_FOR}
    assert len(endpoint.requests) == REACHES_FOR + 1
    assert own["status"] == "done"
    assert 0 < sum(paid) <= ALLOWANCE
    assert shown == pytest.approx(sum(paid))
    assert Counter(key for _, key, cost in ledger(tmp_path) if cost) == {
        made["id"]: REACHES_FOR,
        None: 1,
    }


async def test_runs_that_wait_over_a_restart_keep_their_key_and_what_it_may(tmp_path: Path) -> None:
    held = dear_answer({"max_tokens": 8000}, Hold("never"))
    async with Endpoint([held], script=dear_answer) as endpoint:
        async with running(tmp_path, **fake(endpoint) | PRICES) as guest:
            made = await key_of(guest, ALLOWANCE, "api")
            body = {"agent": await agent_of(guest)}
            _, talk = await guest.ask("POST", "/api/conversations", body)
            async with program(guest, made["key"]) as cron:
                runs = await race(cron, lambda _: {"conversation": talk["id"]})
            await endpoint.request(0)
            # For what it asks from now on: that which waits was allowed before.
            await guest.ask("PATCH", f"/api/keys/{made['id']}", {"budget": 100})

        async with running(tmp_path, **fake(endpoint) | PRICES) as guest:
            found = await endings(guest, runs)

    calls = [(key, cost or 0.0) for _, key, cost in ledger(tmp_path)]
    assert set(found) == {"done", "budget_key"}
    assert sum(found.values()) == MESSAGES
    assert 0 < found["done"] <= REACHES_FOR
    assert {key for key, _ in calls} == {made["id"]}
    assert sum(cost for _, cost in calls) <= ALLOWANCE


async def test_titles_and_summaries_of_its_runs_are_paid_by_the_key(tmp_path: Path) -> None:
    echo = DefaultScript()

    def script(body: dict[str, Any]) -> Answer:
        titled = TITLE_TOKENS in (body.get("max_tokens"), body.get("max_completion_tokens"))
        # as many tokens as an estimate finds in it: fewer would make room without a summary
        return text_answer(["Oolong"], prompt=500) if titled else echo(body)

    environ = PRICES | {
        "TEAHOUSE_WINDOWS": '{"fake/fake": 2400}',
        "TEAHOUSE_CONTEXT__POLICY": "summarise",
    }
    long = "How long does oolong steep? " * 60
    async with (
        Endpoint(script=script) as endpoint,
        running(tmp_path, **fake(endpoint) | environ) as guest,
    ):
        made = await key_of(guest, 5, "api")
        async with program(guest, made["key"]) as cron:
            conversation, _ = await cron.say(long)
            for _ in range(3):
                await cron.say(long, conversation=conversation)
        async with asyncio.timeout(10):
            path = f"/api/conversations/{conversation}"
            while (await guest.get(path))["title"] != "Oolong":
                await asyncio.sleep(0.01)

    calls = ledger(tmp_path)
    assert {purpose for purpose, _, _ in calls} == {"reply", "summary", "title"}
    assert {key for _, key, _ in calls} == {made["id"]}
