"""What was spent, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from teahouse.llm.usage import Caller, CallRecord
from tests.server.conftest import Web

pytestmark = pytest.mark.anyio


async def test_managers_see_the_house_and_others_their_own(web: Web) -> None:
    mei = await web.person("mei")
    ledger = web.house.services.store.ledger
    for number, person in enumerate((mei.id, web.owner.id)):
        ledger.note(
            CallRecord(
                id=f"l_{number}",
                at=datetime(2026, 3, 1, tzinfo=UTC),
                model="acme/a",
                provider="acme",
                caller=Caller(person=person),
                cost=0.25,
            )
        )
    await web.house.services.store.behind.flush()

    mine = await web.call("GET", "/api/usage?by=model", who=mei)
    everybodys = await web.call("GET", "/api/usage?by=model", who=web.owner)
    later = await web.call("GET", "/api/usage?since=2026-03-02T00:00:00", who=web.owner)

    assert [row["calls"] for row in mine.json["items"]] == [1]
    assert [(row["calls"], row["cost"]) for row in everybodys.json["items"]] == [(2, 0.5)]
    assert later.json["items"] == []


async def test_another_grouping_is_refused(web: Web) -> None:
    assert (await web.call("GET", "/api/usage?by=moon", who=web.owner)).status == 400


async def test_how_providers_do_is_for_managers(web: Web) -> None:
    mei = await web.person("mei")
    web.house.services.store.ledger.note(
        CallRecord(
            id="l_1",
            at=datetime(2026, 3, 1, tzinfo=UTC),
            model="acme/a",
            provider="acme",
            first_token_ms=300,
        )
    )
    await web.house.services.store.behind.flush()
    address = "/api/usage/providers?since=2026-03-01T00:00:00"

    [state] = (await web.call("GET", address, who=web.owner)).json["items"]
    assert (state["provider"], state["first_token_ms"]) == ("acme", 300)
    assert (await web.call("GET", address, who=mei)).status == 403


async def test_each_day_may_be_asked_for_by_itself(web: Web) -> None:
    ledger = web.house.services.store.ledger
    for day in (1, 2):
        at = datetime(2026, 3, day, tzinfo=UTC)
        ledger.note(CallRecord(id=f"l_{day}", at=at, model="acme/a", provider="acme", cost=1.0))
    await web.house.services.store.behind.flush()

    rows = (await web.call("GET", "/api/usage?by=provider&daily=true", who=web.owner)).json["items"]
    assert [(row["day"], row["id"], row["cost"]) for row in rows] == [
        ("2026-03-01", "acme", 1.0),
        ("2026-03-02", "acme", 1.0),
    ]
