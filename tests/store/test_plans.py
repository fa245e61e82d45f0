"""No statement of daily life reads a whole table, however large the house grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from teahouse.llm.budget import Cap
from teahouse.llm.usage import CallRecord
from teahouse.store.engine import StandardDriver, make_engine
from teahouse.store.home import open_store
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_files import upload
from teahouse.testing.contract.store_house import CALLED, House

pytestmark = pytest.mark.anyio

# An index of the few runs that have not ended: reading all of it is the purpose.
MAY_BE_SCANNED = "SCAN run USING INDEX run_open"
ITS_OWN = ("SCAN (subquery", "SCAN anon_")  # what a statement has found already, no table


class TracingDriver(StandardDriver):
    def __init__(self) -> None:
        self.statements: list[str] = []

    def connect(self, path: Path, *, read_only: bool) -> Any:
        connection = super().connect(path, read_only=read_only)
        connection.set_trace_callback(self.statements.append)
        return connection


async def live_a_day(house: House, driver: TracingDriver) -> None:
    mei = await house.person()
    talk = await house.talk(mei)
    driver.statements.clear()
    log, queue = house.store.log, house.store.queue
    for client_id in ("1", "2", "2"):
        await house.say(talk, mei, "hello", client_id)
    [lease] = await queue.lease(1)
    await queue.append(lease.run.id, lease.run.attempt, CALLED)
    await queue.finish(lease.run.id, 1, house.reply(lease.run, "hi"), "done")
    page = await log.posts(mei.id, talk.id, limit=1)
    await log.posts(mei.id, talk.id, before=page.next, limit=1)
    await log.posts(mei.id, talk.id, after=page.next, limit=1)
    await log.conversations(mei.id, before=None, limit=5)
    await log.conversation(mei.id, talk.id)
    await log.steps(mei.id, lease.run.id)
    await log.ask_stop(mei.id, lease.run.id)
    await queue.recover()
    await house.store.people.session(b"token")
    await house.store.people.key(b"key")
    record = await upload(house, mei, b"x")
    await house.store.files.get(mei.id, record.id)
    await spend(house, mei.id)
    await log.delete(mei.id, talk.id)


async def spend(house: House, person: str) -> None:
    purse, ledger, now = house.store.purse, house.store.ledger, house.clock.now()
    cap = Cap(scope="person", account=f"person {person}", limit=2)
    purse.settle(await purse.reserve([cap], 1), 1)
    ledger.note(CallRecord(id="l_1", at=now, model="a/m", provider="a"))
    await house.store.behind.flush()
    await ledger.sums("model", since=now)
    await ledger.sums("agent", since=now, person=person)
    await ledger.sums("provider", since=now, daily=True)
    await ledger.providers(since=now)


async def test_no_statement_of_daily_life_reads_a_whole_table(home: Path, clock: FakeClock) -> None:
    driver = TracingDriver()
    async with open_store(home, clock, driver) as store:
        await live_a_day(House(store, clock), driver)

    asked = [
        text
        for text in driver.statements
        if text.startswith(("SELECT", "UPDATE", "DELETE", "INSERT")) and "doomed_blob" not in text
    ]
    engine = make_engine(home / "teahouse.db", StandardDriver(), read_only=True)
    with engine.connect() as connection:
        plans = {
            text: [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]
            for text in asked
        }
    assert len(plans) > 30
    scans = {
        text: plan
        for text, plan in plans.items()
        if any(
            line.startswith("SCAN") and line != MAY_BE_SCANNED and not line.startswith(ITS_OWN)
            for line in plan
        )
    }
    assert scans == {}
