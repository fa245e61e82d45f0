"""A thorough look at the database of a home, also beside the server that has it open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

WAIT_S = 5.0


def examine(file: Path) -> str | None:
    """Read everything; say what is wrong, or None. A file that is not there is not wrong."""
    if not file.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=WAIT_S)) as db:
            found = db.execute("PRAGMA integrity_check(3)").fetchall()
            orphans = db.execute("PRAGMA foreign_key_check").fetchmany(3)
    except sqlite3.Error as error:
        return str(error)
    problems = [str(row[0]) for row in found if row[0] != "ok"]
    problems += [f"{row[0]} row {row[1]} points to nothing in {row[2]}" for row in orphans]
    return "; ".join(problems) or None
