"""In the whole house: a fallback answers, the ledger knows who spent, a budget holds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from teahouse.testing.answers import error_answer
from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import Guest, fake, running

pytestmark = pytest.mark.anyio

PRICES = '{"fake/fake": [1, 10], "fake/other": [1, 10]}'


async def rows(guest: Guest, by: str) -> list[dict[str, Any]]:
    """The ledger is written behind the answer's back."""
    async with asyncio.timeout(10):
        while not (found := (await guest.get(f"/api/usage?by={by}"))["items"]):
            await asyncio.sleep(0.01)
    return found


async def test_the_next_model_answers_and_both_are_in_the_ledger(tmp_path: Path) -> None:
    refused = error_answer(402, "insufficient_quota")
    async with (
        Endpoint([refused]) as endpoint,
        running(
            tmp_path,
            **fake(endpoint),
            TEAHOUSE_FALLBACKS='{"fake/fake": ["fake/other"]}',
            TEAHOUSE_PRICES=PRICES,
        ) as guest,
    ):
        _, run = await guest.say("hello")
        steps = await guest.get(f"/api/runs/{run['id']}/steps")

        assert run["status"] == "done"
        assert steps["items"][0]["model"] == "fake/other"
        models = {row["id"]: row for row in await rows(guest, "model")}
        assert models["fake/fake"]["failed"] == 1
        assert models["fake/other"]["cost"] > 0
        [agent] = await rows(guest, "agent")
        assert (agent["calls"], agent["unpriced"]) == (2, 0)
        assert agent["name"] == (await guest.get("/api/agents"))["items"][0]["name"]


async def test_a_budget_that_does_not_reach_ends_the_run_in_plain_words(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(
            tmp_path, **fake(endpoint), TEAHOUSE_BUDGETS__RUN="0.01", TEAHOUSE_PRICES=PRICES
        ) as guest,
    ):
        conversation, run = await guest.say("hello")
        posts = await guest.get(f"/api/messages?conversation={conversation}")

        assert run["status"] == "failed"
        assert posts["items"][-1]["problem"]["code"] == "budget_run"
        assert not endpoint.requests


async def test_an_alias_may_be_chosen_and_answers(tmp_path: Path) -> None:
    environ = {"TEAHOUSE_DEFAULT_MODEL": "fast", "TEAHOUSE_ALIASES__FAST": '{"fake/other": 1}'}
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint) | environ) as guest:
        listed = [one["id"] for one in (await guest.get("/api/models"))["items"]]
        _, run = await guest.say("hello")
        [step] = (await guest.get(f"/api/runs/{run['id']}/steps"))["items"]
        _, trial = await guest.ask("POST", "/api/models/test", {"model": "fast"})

        assert "fast" in listed
        assert (run["status"], step["model"]) == ("done", "fake/other")
        assert (trial["ok"], trial["model"]) == (True, "fake/other")


async def test_a_key_spends_its_own_budget_and_a_larger_one_counts_at_once(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint), TEAHOUSE_PRICES=PRICES) as guest,
        ClientSession() as session,
    ):
        limits = {"name": "notebook", "scopes": ["fake/*"], "budget": 0.01, "rate": 2}
        _, made = await guest.ask("POST", "/api/keys", limits)

        async def call() -> tuple[int, str, str | None]:
            url = guest.opened.url + "/v1/chat/completions"
            said = [{"role": "user", "content": "hello"}]
            body = {"model": "fake/fake", "messages": said, "max_tokens": 2000}
            headers = {"authorization": f"Bearer {made['key']}"}
            async with session.post(url, json=body, headers=headers) as answer:
                return answer.status, await answer.text(), answer.headers.get("retry-after")

        status, text, _ = await call()
        assert (status, "budget" in text) == (429, True)
        assert not endpoint.requests
        await guest.ask("PATCH", f"/api/keys/{made['id']}", {"budget": 1})
        status, text, _ = await call()
        assert status == 200, text
        status, text, retry_after = await call()
        assert status == 429
        assert 1 <= int(retry_after or 0) <= 60

        [row] = await rows(guest, "key")
        [key] = (await guest.get("/api/keys"))["items"]
        assert (row["id"], row["name"]) == (made["id"], "notebook")
        assert key["spent"] == row["cost"] > 0
        owner = {"authorization": f"Bearer {guest.opened.key}"}
        await session.delete(f"{guest.opened.url}/api/keys/{made['id']}", headers=owner)
        status, _, _ = await call()
        assert status == 401
