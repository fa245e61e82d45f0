"""The one thread that writes: batches, refusals, and what it leaves when it stops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from teahouse.core.errors import Conflict, NotFound
from teahouse.store.engine import StandardDriver, make_engine
from teahouse.store.writer import BATCH, WAITING, Writer

pytestmark = pytest.mark.anyio


class Ledger:
    """A table of numbers, its writer, and how often was committed."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        with connection.begin():
            connection.exec_driver_sql("CREATE TABLE n (i INTEGER PRIMARY KEY)")
        self.commits, self.rollbacks = 0, 0
        event.listen(connection, "commit", self._count_commit)
        event.listen(connection, "rollback", self._count_rollback)
        self.write = Writer(connection)

    async def add(self, number: int) -> int:
        return await self.write(lambda c: self.insert(c, number))

    def insert(self, connection: Connection, number: int) -> int:
        connection.exec_driver_sql("INSERT INTO n VALUES (?)", (number,))
        return number

    def numbers(self) -> list[int]:
        return sorted(self.connection.exec_driver_sql("SELECT i FROM n").scalars())

    def _count_commit(self, _: Connection) -> None:
        self.commits += 1

    def _count_rollback(self, _: Connection) -> None:
        self.rollbacks += 1


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    engine = make_engine(tmp_path / "n.db", StandardDriver(), read_only=False)
    with engine.connect() as connection:
        ledger = Ledger(connection)
        yield ledger
        await ledger.write.close()


async def outcome(call: Awaitable[int]) -> str | int:
    try:
        return await call
    except (Conflict, NotFound, ZeroDivisionError) as error:
        return type(error).__name__


async def outcomes(*calls: Awaitable[int]) -> list[str | int]:
    """What comes of all of these when they are made at once."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(outcome(call)) for call in calls]
    return [task.result() for task in tasks]


async def test_what_waits_is_committed_together(ledger: Ledger) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(1000):
            group.create_task(ledger.add(number))
    await ledger.write.close()

    assert ledger.numbers() == list(range(1000))
    assert 1000 / BATCH <= ledger.commits < 100


async def test_one_that_fails_takes_no_neighbour_along(ledger: Ledger) -> None:
    def divides(connection: Connection) -> int:
        return ledger.insert(connection, 50) // 0

    def refuses(connection: Connection) -> int:
        raise NotFound("no_such_post", id="p")

    def refuses_late(connection: Connection) -> int:
        ledger.insert(connection, 51)
        raise NotFound("no_such_post", id="p")

    found = await outcomes(
        *(ledger.add(number) for number in (1, 2, 1)),
        ledger.write(divides),
        ledger.write(refuses),
        ledger.write(refuses_late),
        ledger.add(3),
    )
    await ledger.write.close()

    assert found == [1, 2, "Conflict", "ZeroDivisionError", "NotFound", "NotFound", 3]
    assert ledger.numbers() == [1, 2, 3]
    assert ledger.rollbacks > 0


async def test_a_refusal_that_wrote_nothing_costs_no_rollback(ledger: Ledger) -> None:
    def refuses(connection: Connection) -> int:
        raise NotFound("no_such_post", id="p")

    found = await outcomes(*(ledger.write(refuses) for _ in range(50)), ledger.add(1))
    await ledger.write.close()

    assert found == ["NotFound"] * 50 + [1]
    assert ledger.rollbacks == 0


async def test_work_of_a_caller_who_went_away_is_done_nevertheless(ledger: Ledger) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection: Connection) -> int:
        begun.set()
        assert go_on.wait(10)
        return ledger.insert(connection, 1)

    async with asyncio.TaskGroup() as group:
        first = group.create_task(ledger.write(slow))
        await asyncio.to_thread(begun.wait, 10)
        second = group.create_task(ledger.add(2))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        go_on.set()
    assert await ledger.add(3) == 3
    await ledger.write.close()

    assert ledger.numbers() == [1, 2, 3]


async def test_the_queue_is_bounded(ledger: Ledger) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection: Connection) -> int:
        begun.set()
        assert go_on.wait(30)
        return 0

    async with asyncio.TaskGroup() as group:
        group.create_task(ledger.write(slow))
        await asyncio.to_thread(begun.wait, 10)
        calls = [group.create_task(ledger.add(number)) for number in range(WAITING + 50)]
        await asyncio.sleep(0)
        assert len(ledger.write._waiting) == WAITING - 1
        go_on.set()
    await ledger.write.close()

    assert [call.result() for call in calls] == list(range(WAITING + 50))
    assert len(ledger.numbers()) == WAITING + 50


async def test_closing_finishes_what_waits_and_refuses_more(ledger: Ledger) -> None:
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(ledger.add(number)) for number in range(600)]
        await asyncio.sleep(0)
        group.create_task(ledger.write.close())

    assert [call.result() for call in calls] == list(range(600))
    with pytest.raises(RuntimeError):
        await ledger.add(601)
