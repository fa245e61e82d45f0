"""Wiping what was deleted out of the database file.

`secure_delete` overwrites the rows themselves. But when SQLite moves neighbouring rows between
pages it leaves their old bytes in the unused part of a page, and when those rows are deleted in
their turn the old bytes stay. Only rewriting the file, VACUUM, is sure to lose them; and the
write-ahead log holds them too.
"""

from __future__ import annotations

import logging
from typing import Any

log = logging.getLogger(__name__)

AT_ONCE = 64 << 20  # bytes; rewriting a larger database waits until nobody writes
IDLE_S = 20.0


class Scrubber:
    """Used in the writer's thread, between its transactions."""

    def __init__(self, driver_connection: Any) -> None:
        self._execute = driver_connection.execute
        # Free pages are the trace of a deletion after which a crash prevented the scrubbing.
        self.due = self._number("PRAGMA freelist_count") > 0

    def after_deletion(self) -> None:
        size = self._number("PRAGMA page_count") * self._number("PRAGMA page_size")
        if size <= AT_ONCE:
            self.scrub()
        else:
            self.due = True
            self._try("PRAGMA wal_checkpoint(TRUNCATE)")

    def scrub(self) -> None:
        """Failing is no harm but to privacy: the next deletion, or start, tries again."""
        self.due = False
        self._try("VACUUM")
        self._try("PRAGMA wal_checkpoint(TRUNCATE)")

    def _try(self, statement: str) -> None:
        try:
            rows = self._execute(statement).fetchall()
        except Exception as error:  # a full disk, most likely
            log.warning("Deleted words may still be on the disk: %s: %s", statement, error)
            return
        if rows and rows[0][0]:
            log.warning("Deleted words may still be in the write-ahead log: it was being read")

    def _number(self, pragma: str) -> int:
        return self._execute(pragma).fetchall()[0][0]
