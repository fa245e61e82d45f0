"""In the whole house: a conversation that outgrows the window is summarised where that is set."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from teahouse.testing.answers import Answer, DefaultScript, text_answer
from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import fake, running

pytestmark = pytest.mark.anyio

LONG = "How long does oolong steep? " * 60
SETTINGS = {"TEAHOUSE_WINDOWS": '{"fake/fake": 2400}', "TEAHOUSE_CONTEXT__POLICY": "summarise"}


def script() -> Any:
    echo = DefaultScript()

    def answer(body: dict[str, Any]) -> Answer:
        if "<conversation>" in body["messages"][-1]["content"]:
            return text_answer(["They spoke of oolong."])
        return echo(body)

    return answer


async def test_the_model_reads_a_summary_and_the_ledger_knows_it(
    tmp_path: Path,
) -> None:
    async with (
        Endpoint(script=script()) as endpoint,
        running(tmp_path, **fake(endpoint), **SETTINGS) as guest,
    ):
        conversation, _ = await guest.say(f"first {LONG}")
        for number in range(3):
            await guest.say(f"{number} {LONG}", conversation=conversation)

        asked = [request.body["messages"] for request in endpoint.requests]
        summaries = [m for m in asked if "<conversation>" in m[-1]["content"]]
        assert summaries
        assert "first How long" in summaries[0][-1]["content"]
        last = next(m for m in reversed(asked) if m[-1]["content"].startswith("2 How"))
        assert "They spoke of oolong." in last[1]["content"]
        assert "earlier messages" in last[1]["content"]

    with closing(sqlite3.connect(tmp_path / "teahouse.db")) as database:
        purposes = {row[0] for row in database.execute("SELECT purpose FROM provider_call")}
    assert {"reply", "summary"} <= purposes
