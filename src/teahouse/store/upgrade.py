"""At start: is the database sound, and are its tables those of this version?"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
    update,
)

from teahouse.core.clock import Clock
from teahouse.core.errors import StorageDamaged
from teahouse.store.schema import REVISION, counter, metadata

CHECK_S = 0.1  # the start does not wait longer for the check; a large database is read in part
_STEPS_BETWEEN_LOOKS = 2_000
_INTERRUPTED = 9

# Alembic's own table. We read and, for a fresh home, write it without importing Alembic.
_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def check_quickly(connection: Connection, clock: Clock) -> None:
    """Raise `StorageDamaged` when the database is broken where SQLite looks first."""
    driver: Any = connection.connection.dbapi_connection
    until = clock.monotonic() + CHECK_S
    driver.set_progress_handler(lambda: clock.monotonic() > until, _STEPS_BETWEEN_LOOKS)
    try:
        found = driver.execute("PRAGMA quick_check(1)").fetchall()[0][0]
    except Exception as error:
        if getattr(error, "sqlite_errorcode", None) != _INTERRUPTED:
            raise
        found = "ok"
    finally:
        driver.set_progress_handler(None, 0)
    if found != "ok":
        raise StorageDamaged("storage_damaged", detail=found)


def bring_up_to_date(connection: Connection) -> None:
    """Make the tables, or migrate those of an older version, in one transaction."""
    with connection.begin():
        stored = None
        if inspect(connection).has_table(_version.name):
            stored = connection.execute(select(_version.c.version_num)).scalar()
        if stored is None:
            metadata.create_all(connection, checkfirst=False)
            _version.create(connection)
            connection.execute(insert(_version).values(version_num=REVISION))
    if stored not in {None, REVISION}:
        from teahouse.store.migrate import migrate

        migrate(connection)


def count_start(connection: Connection) -> int:
    """Raise the number of starts and return it."""
    mine = counter.c.name == "boot"
    with connection.begin():
        raised = update(counter).where(mine).values(value=counter.c.value + 1)
        if connection.execute(raised).rowcount == 0:
            connection.execute(insert(counter).values(name="boot", value=1))
        return connection.execute(select(counter.c.value).where(mine)).scalar_one()
