"""Opening a home: one process, private files, one key, the right tables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect

from teahouse.core.errors import (
    Conflict,
    HomeInUse,
    Invalid,
    SettingsError,
    StorageDamaged,
    StorageFull,
)
from teahouse.store.engine import StandardDriver, make_engine
from teahouse.store.home import open_store
from teahouse.store.migrate import migrate
from teahouse.store.schema import REVISION, metadata
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_house import House

pytestmark = pytest.mark.anyio

HOLD = """
import asyncio, sys
from pathlib import Path
from typing import Any
from teahouse.core.clock import SystemClock
from teahouse.store.home import open_store

async def main():
    async with open_store(Path(sys.argv[1]), SystemClock()) as store:
        heavy = [name for name in ("alembic", "cryptography") if name in sys.modules]
        print(store.boot, *heavy, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


def held(home: Path) -> subprocess.Popen[str]:
    """Another process that has the home open, until its standard input closes."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def writing(path: Path) -> Connection:
    return make_engine(path, StandardDriver(), read_only=False).connect()


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}


async def test_nobody_else_can_read_a_home(tmp_path: Path, clock: FakeClock) -> None:
    home = tmp_path / "a" / "home"
    before = os.umask(0)
    try:
        async with open_store(home, clock) as store:
            await store.secrets.put("a", "b")
            found = modes(tmp_path / "a")
    finally:
        os.umask(before)

    assert {found.pop(name) for name in ("home", "files", "incoming")} == {0o700}
    del found["a"]  # not ours to say
    assert set(found) >= {"lock", "secret.key", "teahouse.db", "teahouse.db-wal"}
    assert set(found.values()) == {0o600}


async def test_a_home_that_others_could_read_is_closed_to_them(
    home: Path, clock: FakeClock
) -> None:
    os.mkdir(home, 0o755)  # noqa: PTH102

    async with open_store(home, clock):
        assert modes(home)["home"] == 0o700


async def test_a_folder_that_holds_other_things_keeps_its_mode(
    home: Path, clock: FakeClock
) -> None:
    os.mkdir(home, 0o755)  # noqa: PTH102
    (home / "other").touch()

    for _ in range(2):
        async with open_store(home, clock):
            assert modes(home)["home"] == 0o755


@pytest.mark.parametrize("place", ["/dev/null/x", "/proc/x", "/dev/null"])
async def test_a_place_that_can_be_no_home_is_told_as_such(place: str, clock: FakeClock) -> None:
    with pytest.raises(Invalid, match=place):
        async with open_store(Path(place), clock):
            pass


@pytest.mark.parametrize("name", ["secret.key", "teahouse.db", "files", "lock"])
async def test_what_stands_in_the_way_in_a_home_is_named(
    home: Path, clock: FakeClock, name: str
) -> None:
    os.mkdir(home)  # noqa: PTH102
    (home / name).touch() if name == "files" else (home / name).mkdir()

    with pytest.raises(Invalid, match=name):
        async with open_store(home, clock):
            pass


async def test_a_database_that_cannot_be_opened_is_told_as_such(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock):
        pass
    (home / "teahouse.db-wal").mkdir()

    with pytest.raises(StorageFull, match="unable to open"):
        async with open_store(home, clock):
            pass


async def test_a_second_process_is_refused_and_told_who_is_there(
    home: Path, clock: FakeClock
) -> None:
    with held(home) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(HomeInUse) as caught:
            async with open_store(home, clock):
                pass
        assert caught.value.values["pid"] == str(other.pid)
        assert str(home) in str(caught.value)
        other.communicate(timeout=20)


async def test_the_same_process_cannot_open_a_home_twice(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock):
        with pytest.raises(HomeInUse):
            async with open_store(home, clock):
                pass


async def test_a_killed_process_lets_go_of_the_home(home: Path, clock: FakeClock) -> None:
    with held(home) as other:
        assert other.stdout is not None
        other.stdout.readline()
        other.send_signal(signal.SIGKILL)
        other.communicate(timeout=20)

    async with open_store(home, clock) as store:
        assert store.boot == 2


async def test_the_lock_file_stays_the_same_file(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock):
        first = (home / "lock").stat().st_ino
    async with open_store(home, clock):
        assert (home / "lock").stat().st_ino == first
    assert (home / "lock").exists()


class ImpatientDriver(StandardDriver):
    def connect(self, path: Path, *, read_only: bool) -> Any:
        connection = super().connect(path, read_only=read_only)
        connection.execute("PRAGMA busy_timeout=20")
        return connection


async def test_a_program_that_holds_the_database_is_named_and_outlasted(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock, ImpatientDriver()) as store:
        await store.secrets.put("a", "1")
        with writing(home / "teahouse.db") as other, other.begin():
            with pytest.raises(HomeInUse) as caught:
                await store.secrets.put("a", "2")
            assert caught.value.code == "home_locked"
            assert await store.secrets.get("a") == "1"
        await store.secrets.put("a", "3")
        assert await store.secrets.get("a") == "3"


async def test_each_start_is_counted(home: Path, clock: FakeClock) -> None:
    boots: list[int] = []
    for _ in range(3):
        async with open_store(home, clock) as store:
            boots.append(store.boot)

    assert boots == [1, 2, 3]


@pytest.mark.parametrize("start", ["fresh", "again"])
def test_a_start_imports_no_migrations_and_no_cryptography(home: Path, start: str) -> None:
    for _ in range(1 if start == "fresh" else 2):
        with held(home) as process:
            out, _ = process.communicate("", timeout=20)

    assert out.split() == ["1" if start == "fresh" else "2"]


async def test_a_damaged_key_is_refused_not_replaced(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock):
        pass
    (home / "secret.key").write_bytes(b"short")

    with pytest.raises(StorageDamaged):
        async with open_store(home, clock):
            pass
    assert (home / "secret.key").read_bytes() == b"short"


async def test_a_secret_opens_only_with_its_key_and_under_its_name(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock) as store:
        await store.secrets.put("provider/a", "sk-1")
        await store.secrets.put("provider/b", "sk-2")
    with writing(home / "teahouse.db") as connection, connection.begin():
        connection.exec_driver_sql(
            "UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'provider/b')"
        )
    async with open_store(home, clock) as store:
        with pytest.raises(SettingsError):
            await store.secrets.get("provider/a")
        assert await store.secrets.get("provider/b") == "sk-2"

    (home / "secret.key").write_bytes(bytes(32))
    async with open_store(home, clock) as store:
        with pytest.raises(SettingsError):
            await store.secrets.get("provider/b")


@pytest.mark.parametrize("place", [0, 100, 4_096])
async def test_a_damaged_database_is_not_opened(home: Path, clock: FakeClock, place: int) -> None:
    async with open_store(home, clock):
        pass
    data = bytearray((home / "teahouse.db").read_bytes())
    data[place : place + 64] = b"\xa5" * 64
    (home / "teahouse.db").write_bytes(data)

    with pytest.raises(StorageDamaged):
        async with open_store(home, clock):
            pass
    assert (home / "teahouse.db").read_bytes() == data


async def test_the_check_at_the_start_does_not_make_a_large_home_wait(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock):
        pass
    with writing(home / "teahouse.db") as connection, connection.begin():
        connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "INSERT INTO agent "
            "SELECT 'a_' || i, 'u', i, i, '', '', 0, NULL, NULL, 1, 0, 0, 0, '{}' FROM n"
        )
    impatient = FakeClock(tick_s=0)
    looks = 0

    def monotonic() -> float:
        nonlocal looks
        looks += 1
        return looks * 1.0

    impatient.monotonic = monotonic  # type: ignore[method-assign]
    async with open_store(home, impatient) as store:
        assert len(await store.agents.all()) == 20_000
    assert looks == 2  # one to set the limit, one that finds it passed


async def test_the_home_of_a_newer_version_is_left_alone(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock):
        pass
    with writing(home / "teahouse.db") as connection, connection.begin():
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(Conflict) as caught:
        async with open_store(home, clock):
            pass
    assert caught.value.code == "home_newer"


def test_the_migrations_lead_to_the_tables_of_the_schema(tmp_path: Path) -> None:
    with writing(tmp_path / "migrated.db") as migrated, writing(tmp_path / "made.db") as made:
        migrate(migrated)
        with made.begin():
            metadata.create_all(made)

        version = migrated.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        assert version == REVISION
        assert shape(migrated) == shape(made)
        assert len(shape(made)) == len(metadata.tables)


async def test_keys_from_before_scopes_may_do_what_they_could(
    tmp_path: Path, clock: FakeClock
) -> None:
    home = tmp_path / "home"
    async with open_store(home, clock):
        pass
    with writing(home / "teahouse.db") as connection, connection.begin():
        for name in ("scopes", "budget", "rate", "concurrent"):
            connection.exec_driver_sql(f"ALTER TABLE api_key DROP COLUMN {name}")
        for name in ("written", "instead_of"):
            connection.exec_driver_sql(f"ALTER TABLE provider_call DROP COLUMN {name}")
        connection.exec_driver_sql("ALTER TABLE agent DROP COLUMN permissions")
        for name in ("approval", "permission_grant"):
            connection.exec_driver_sql(f"DROP TABLE {name}")
        without_run_keys(connection)
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0003'")
        connection.exec_driver_sql(
            "INSERT INTO person (id, name, folded, role, epoch, created_at)"
            " VALUES ('u_1', 'Mei', 'mei', 'owner', 1, 0)"
        )
        connection.exec_driver_sql(
            "INSERT INTO api_key (id, name, key_hash, person, created_at)"
            " VALUES ('k_1', 'cron', x'01', 'u_1', 0)"
        )

    async with open_store(home, clock) as store:
        [key] = await store.people.keys("u_1")

    assert (key.id, key.scopes) == ("k_1", ())
    assert key.budget is key.rate is key.concurrent is None


async def test_a_run_that_waits_from_before_keys_had_runs_is_still_worked_on(
    home: Path, clock: FakeClock
) -> None:
    async with open_store(home, clock) as store:
        house = House(store, clock)
        mei = await house.person()
        received = await house.say(await house.talk(mei), mei, "hello")
    with writing(home / "teahouse.db") as connection, connection.begin():
        without_run_keys(connection)
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0007'")

    async with open_store(home, clock) as store:
        [lease] = await store.queue.lease(1)
        found = await store.log.run(mei.id, lease.run.id)

    assert lease.run.id == received.runs[0].id
    assert found == lease.run
    assert found.key is found.allowance is None


def without_run_keys(connection: Connection) -> None:
    for name in ("key", "allowance"):
        connection.exec_driver_sql(f"ALTER TABLE run DROP COLUMN {name}")


def shape(connection: Connection) -> dict[str, object]:
    """All that is known of the tables, in an order that does not depend on how they were made."""
    found = inspect(connection)
    tables: dict[str, object] = {}
    for name in found.get_table_names():
        columns = [{**column, "type": repr(column["type"])} for column in found.get_columns(name)]
        indexes = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? ORDER BY 1",
            (name,),
        )
        tables[name] = (
            columns,
            found.get_pk_constraint(name),
            sorted(found.get_foreign_keys(name), key=repr),
            sorted(found.get_unique_constraints(name), key=repr),
            [tuple(row) for row in indexes],
        )
    tables.pop("alembic_version", None)
    return tables
