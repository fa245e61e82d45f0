"""A real house that is killed while a question is open, and after it was answered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from teahouse.testing.endpoint import Endpoint
from teahouse.testing.house import House

pytestmark = pytest.mark.anyio

ASKS = {"permissions": {"session_title": "ask"}}
TEXT = 'name it [tool session_title {"title": "Oolong"}]'
PATIENCE_S = 30


async def ask(house: House) -> dict[str, Any]:
    """Let the first agent ask before it names a conversation; returns what was accepted."""
    await house.log_in()
    agent = (await house.api("GET", "/api/agents"))["items"][0]["id"]
    await house.api("PATCH", f"/api/agents/{agent}", ASKS)
    return await house.api("POST", "/api/messages", {"agent": agent, "text": TEXT})


async def question(house: House) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = (await house.api("GET", "/api/approvals?state=asked"))["items"]
            if found:
                return found[0]
            await asyncio.sleep(0.02)


async def steps(house: House, accepted: dict[str, Any]) -> list[dict[str, Any]]:
    """Wait for the run to end; its journal."""
    run = accepted["runs"][0]["id"]
    async with asyncio.timeout(PATIENCE_S):
        while (await house.api("GET", f"/api/runs/{run}"))["status"] != "done":
            await asyncio.sleep(0.02)
    return (await house.api("GET", f"/api/runs/{run}/steps"))["items"]


def results(journal: list[dict[str, Any]]) -> list[str]:
    return [one["result"]["content"][0]["text"] for one in journal if one["type"] == "result"]


async def test_an_open_question_stands_after_a_kill_and_its_call_runs_once(tmp_path: Path) -> None:
    async with Endpoint() as model, House(tmp_path, model.base_url) as house:
        await house.start()
        accepted = await ask(house)
        asked = await question(house)
        for _ in range(2):
            await house.kill()
            await house.start()
            assert await question(house) == asked

        body = {"decision": "once"}
        await house.api("POST", f"/api/approvals/{asked['id']}", body)
        told = results(await steps(house, accepted))

        assert told == ["The conversation is now called: Oolong"]
        [record] = (await house.api("GET", "/api/approvals"))["items"]
        assert record["state"] == "granted"
        assert record["used_at"] is not None


async def test_a_question_whose_time_passes_while_the_house_is_down_is_a_no(
    tmp_path: Path,
) -> None:
    settings = {"TEAHOUSE_APPROVALS__WAIT_S": "1.5"}
    async with Endpoint() as model, House(tmp_path, model.base_url, settings=settings) as house:
        await house.start()
        accepted = await ask(house)
        await question(house)
        await house.kill()
        await asyncio.sleep(1.5)
        await house.start()

        [told] = results(await steps(house, accepted))
        assert "did not answer in time" in told


async def test_an_agent_behind_the_gateway_is_told_no_where_nobody_can_be_asked(
    tmp_path: Path,
) -> None:
    async with Endpoint() as model, House(tmp_path, model.base_url) as house:
        await house.start()
        await house.log_in()
        agent = (await house.api("GET", "/api/agents"))["items"][0]
        await house.api("PATCH", f"/api/agents/{agent['id']}", {"permissions": {"now": "ask"}})
        question = {"role": "user", "content": "the time [tool now]"}
        body = {"model": f"agent/{agent['name']}", "messages": [question]}
        answer = await house.api("POST", "/v1/chat/completions", body)

        assert "nobody can be asked here" in answer["choices"][0]["message"]["content"]
        assert (await house.api("GET", "/api/approvals"))["items"] == []
