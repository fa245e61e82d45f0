"""Both sides of one open database, as the aggregates use it."""

from __future__ import annotations

from msgspec import Struct

from teahouse.core.clock import Clock
from teahouse.store.reader import Reader
from teahouse.store.writer import Writer


class Database(Struct, frozen=True):
    """`boot` is the number of this start: it tells our runs from those of a dead process."""

    write: Writer
    read: Reader
    clock: Clock
    boot: int
