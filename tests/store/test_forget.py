"""What was deleted for good cannot be found on the disk."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from teahouse.store import scrub
from teahouse.store.engine import StandardDriver, make_engine
from teahouse.store.home import open_store
from teahouse.store.scrub import Scrubber
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_house import House, Kept

pytestmark = pytest.mark.anyio


async def test_neighbours_moved_by_earlier_deletions_leave_no_trace(
    house: House, kept: Kept
) -> None:
    """Without the rewriting this seed leaves words of a deleted conversation between rows."""
    chance = random.Random(14)
    mei = await house.person()
    talks = [(await house.talk(mei), f"Word-{number:03}-Q") for number in range(12)]
    for _ in range(25):
        for talk, word in talks:
            await house.say(talk, mei, f"{word} " * chance.choice((1, 1, 2, 5, 30, 200)))

    gone: list[str] = []
    for talk, word in chance.sample(talks, 9):
        await house.store.log.delete(mei.id, talk.id)
        gone.append(word)
        assert [found for found in gone if kept(found.encode())] == []
    assert all(kept(word.encode()) for _, word in talks if word not in gone)


async def test_a_crash_before_the_rewriting_is_made_good(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock) as store:
        house = House(store, clock)
        mei = await house.person()
        talk = await house.talk(mei)
        for _ in range(50):
            await house.say(talk, mei, "Yunnan " * 2000)
    engine = make_engine(home / "teahouse.db", StandardDriver(), read_only=False)
    with engine.connect() as connection:
        with connection.begin():
            connection.exec_driver_sql("DELETE FROM conversation")
        scrubber = Scrubber(connection.connection.dbapi_connection)
        assert scrubber.due
        scrubber.scrub()
        assert not scrubber.due
        assert not Scrubber(connection.connection.dbapi_connection).due
    assert b"Yunnan" not in (home / "teahouse.db").read_bytes()


async def test_a_large_database_is_rewritten_only_when_nobody_writes(
    home: Path, clock: FakeClock, tmp_path: Path
) -> None:
    engine = make_engine(tmp_path / "n.db", StandardDriver(), read_only=False)
    with engine.connect() as connection:
        with connection.begin():
            connection.exec_driver_sql("CREATE TABLE t (x)")
            connection.exec_driver_sql(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70) "
                "INSERT INTO t SELECT randomblob(1 << 20) FROM n"
            )
            connection.exec_driver_sql("DELETE FROM t WHERE rowid < 5")
        scrubber = Scrubber(connection.connection.dbapi_connection)
        scrubber.due = False
        before = (tmp_path / "n.db").stat().st_size
        assert before > scrub.AT_ONCE

        scrubber.after_deletion()
        assert scrubber.due
        assert (tmp_path / "n.db").stat().st_size == before
        assert (tmp_path / "n.db-wal").stat().st_size == 0
        scrubber.scrub()
        assert (tmp_path / "n.db").stat().st_size < before


async def test_bytes_that_a_crash_left_are_removed_at_the_next_start(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock):
        pass
    sha256 = "ab" * 32
    (home / "files" / "ab").mkdir()
    (home / "files" / "ab" / sha256).write_bytes(b"doomed")
    (home / "files" / "incoming" / "half").write_bytes(b"half an upload")
    engine = make_engine(home / "teahouse.db", StandardDriver(), read_only=False)
    with engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("INSERT INTO doomed_blob VALUES (?)", (sha256,))

    async with open_store(home, clock):
        left = [path for path in (home / "files").rglob("*") if path.is_file()]

    assert left == []
