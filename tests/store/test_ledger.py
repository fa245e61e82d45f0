"""The ledger: calls are written behind the caller's back, and add up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from teahouse.chat.ports import ApiKey
from teahouse.llm.usage import Caller, CallRecord
from teahouse.store.home import open_store
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_house import House

pytestmark = pytest.mark.anyio

MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


def call(
    number: int, *, at: datetime = MIDNIGHT, model: str = "acme/a", **rest: object
) -> CallRecord:
    given = {"cost": 0.5, "input": 10, "output": 3, "cached": 2, "written": 1, **rest}
    return CallRecord(id=f"l_{number}", at=at, model=model, provider="acme", **given)  # type: ignore[arg-type]


async def test_what_is_noted_is_written_in_the_background(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock) as store, asyncio.timeout(10):
        writing = asyncio.create_task(store.behind.work())
        store.ledger.note(call(1))
        while not await store.ledger.sums("model"):
            await asyncio.sleep(0)
        writing.cancel()


async def test_what_is_noted_last_is_there_after_the_house_was_closed(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock) as store:
        for number in range(600):
            store.ledger.note(call(number))

    async with open_store(home, clock) as store:
        [row] = await store.ledger.sums("model")
        assert (row.id, row.calls, row.input, row.output) == ("acme/a", 600, 6000, 1800)
        assert (row.cached, row.written) == (1200, 600)
        assert row.cost == pytest.approx(300)


async def test_days_are_those_of_utc_and_their_bounds_count(house: House) -> None:
    ledger = house.store.ledger
    for number, hours in enumerate((-1, 0, 23, 24)):
        ledger.note(call(number, at=MIDNIGHT + timedelta(hours=hours)))
    await house.store.behind.flush()

    days = [(row.id, row.calls) for row in await ledger.sums("day")]
    assert days == [("2026-02-28", 1), ("2026-03-01", 2), ("2026-03-02", 1)]
    until = MIDNIGHT + timedelta(hours=24)
    [day] = await ledger.sums("day", since=MIDNIGHT, until=until)
    assert (day.id, day.calls) == ("2026-03-01", 2)


async def test_unknown_prices_are_counted_and_the_dearest_comes_first(house: House) -> None:
    ledger = house.store.ledger
    ledger.note(call(1, model="acme/unknown", cost=None, outcome="failed", code="x"))
    ledger.note(call(2, model="acme/cheap", cost=0.1))
    ledger.note(call(3, model="acme/dear", cost=9.0))
    ledger.note(call(4, model="acme/unknown", cost=None, outcome="failed", input=0, output=0))
    await house.store.behind.flush()

    rows = await ledger.sums("model")
    assert [row.id for row in rows] == ["acme/dear", "acme/cheap", "acme/unknown"]
    assert [(row.cost, row.unpriced, row.failed) for row in rows][2] == (0.0, 1, 2)


async def test_a_persons_calls_are_told_from_the_others(house: House) -> None:
    ledger = house.store.ledger
    ledger.note(call(1, caller=Caller(person="u_1", agent="a_1")))
    ledger.note(call(2, caller=Caller(person="u_2", agent="a_1")))
    await house.store.behind.flush()

    [mine] = await ledger.sums("agent", person="u_1")
    assert (mine.id, mine.name, mine.calls) == ("a_1", "a_1", 1)
    [all_of_it] = await ledger.sums("agent")
    assert all_of_it.calls == 2


async def test_a_key_s_calls_are_told_by_its_name_while_it_is_there(house: House) -> None:
    mei = await house.person("Mei")
    key = ApiKey(id="k_1", name="cron", key_hash=b"1", person=mei.id, created_at=house.clock.now())
    await house.store.people.add_key(key)
    for number, name in enumerate(("k_1", "k_1", "k_gone", None)):
        house.store.ledger.note(call(number, caller=Caller(person=mei.id, key=name)))
    await house.store.behind.flush()

    rows = {row.id: (row.name, row.calls) for row in await house.store.ledger.sums("key")}
    assert rows == {"k_1": ("cron", 2), "k_gone": ("k_gone", 1), None: (None, 1)}


async def test_each_day_adds_up_by_itself_and_days_come_in_order(house: House) -> None:
    mei = await house.person("Mei")
    for number, (hours, cost) in enumerate(((0, 0.1), (1, 0.2), (24, 5.0))):
        at = MIDNIGHT + timedelta(hours=hours)
        house.store.ledger.note(call(number, at=at, cost=cost, caller=Caller(person=mei.id)))
    house.store.ledger.note(call(9, cost=0.01, estimated=True))
    await house.store.behind.flush()

    rows = await house.store.ledger.sums("person", daily=True)
    assert [(row.day, row.name, row.calls, row.estimated) for row in rows] == [
        ("2026-03-01", "Mei", 2, 0),
        ("2026-03-01", None, 1, 1),
        ("2026-03-02", "Mei", 1, 0),
    ]
    assert [row.day for row in await house.store.ledger.sums("person")] == [None, None]


async def test_only_what_answered_somebody_is_a_reply_and_who_stood_in_is_known(
    house: House,
) -> None:
    calls = (
        ("answered", Caller()),
        ("answered", Caller(purpose="gateway", instead_of="acme/a")),
        ("failed", Caller(instead_of="acme/a")),
        ("answered", Caller(purpose="title", instead_of="acme/a")),
    )
    for number, (outcome, caller) in enumerate(calls):
        house.store.ledger.note(call(number, outcome=outcome, caller=caller))
    await house.store.behind.flush()

    [row] = await house.store.ledger.sums("provider")
    assert (row.id, row.calls, row.replies, row.stood_in, row.failed) == ("acme", 4, 2, 1, 1)


async def test_a_provider_tells_of_its_last_call_and_how_soon_it_usually_begins(
    house: House,
) -> None:
    ledger = house.store.ledger
    slow = [call(number, at=MIDNIGHT, first_token_ms=9000) for number in range(60)]
    recent = [
        call(100 + number, at=MIDNIGHT + timedelta(hours=1), first_token_ms=400)
        for number in range(49)
    ]
    last = call(200, at=MIDNIGHT + timedelta(hours=2), outcome="failed", code="provider_quota")
    for one in (*slow, *recent, last):
        ledger.note(one)
    await house.store.behind.flush()

    [state] = await ledger.providers(since=MIDNIGHT)
    assert (state.provider, state.outcome, state.code) == ("acme", "failed", "provider_quota")
    assert state.first_token_ms == 400  # of the last fifty, not of all
    assert state.at == last.at
    [later] = await ledger.providers(since=last.at)
    assert later.first_token_ms is None
    assert await ledger.providers(since=last.at + timedelta(seconds=1)) == []


async def test_a_record_that_cannot_be_written_takes_no_other_with_it(
    home: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(home, clock) as store:
        for number, tokens in enumerate((10, 10**30, 10)):
            store.ledger.note(call(number, input=tokens))
        await store.behind.flush()
        (row,) = await store.ledger.sums("model")

    assert (row.calls, row.input) == (2, 20)
    assert "could not be written" in caplog.text
