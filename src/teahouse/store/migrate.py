"""Takes the tables of an older version to this one. Only then is Alembic imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from teahouse.core.errors import Conflict


def migrate(connection: Connection) -> None:
    """Run all migrations that are missing, in one transaction; forward only.

    Raises `Conflict` when the tables are of a newer version than this one.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    driver: Any = connection.connection.dbapi_connection
    # A table that a migration builds anew must not take its dependent rows with it. SQLite hears
    # this only outside of transactions.
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            command.upgrade(config, "head")
    except CommandError as error:
        raise Conflict("home_newer") from error
    finally:
        driver.execute("PRAGMA foreign_keys=ON")
