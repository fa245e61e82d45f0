"""What is spent of each budget and what is put aside for calls on their way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from teahouse.core.ids import new_id
from teahouse.llm.budget import NANO, Cap, Purse
from teahouse.llm.errors import BudgetSpent
from teahouse.store.behind import Behind
from teahouse.store.database import Database
from teahouse.store.prepared import Prepared
from teahouse.store.schema import budget, reservation

KEPT = timedelta(days=7)  # no account counts for longer than a day, no run for longer than one

_MINE = budget.c.account == bindparam("mine")
_LOOK = Prepared(select(budget.c.spent, budget.c.reserved).where(_MINE))
_OPEN = Prepared(insert(budget), ("account", "spent", "reserved", "at"))
_PUT_ASIDE = Prepared(
    update(budget)
    .where(_MINE)
    .values(reserved=budget.c.reserved + bindparam("amount"), at=bindparam("now"))
)
_RESERVE = Prepared(insert(reservation), ("id", "account", "amount"))
_OF = Prepared(
    select(reservation.c.account, reservation.c.amount).where(
        reservation.c.id == bindparam("named")
    )
)
_TAKE = Prepared(
    update(budget)
    .where(_MINE)
    .values(
        reserved=budget.c.reserved - bindparam("amount"), spent=budget.c.spent + bindparam("taken")
    )
)
_DROP = Prepared(delete(reservation).where(reservation.c.id == bindparam("named")))


class SqlPurse(Purse):
    def __init__(self, database: Database, behind: Behind) -> None:
        self._write, self._clock, self._behind = database.write, database.clock, behind

    async def tidy(self) -> None:
        """At the start: calls that a crash has cut cost at worst what was put aside for them."""
        old = budget.c.at < self._clock.now() - KEPT

        def work(connection: Connection) -> None:
            owed = update(budget).where(budget.c.reserved != 0)
            connection.execute(owed.values(spent=budget.c.spent + budget.c.reserved, reserved=0))
            connection.execute(delete(reservation))
            connection.execute(delete(budget).where(old))

        await self._write(work)

    async def reserve(self, caps: Sequence[Cap], amount: int, /) -> str:
        named, now = new_id("b"), self._clock.now()

        def work(connection: Connection) -> None:
            fresh = [cap.account for cap in caps if not _fits(connection, cap, amount)]
            for account in fresh:
                row = {"account": account, "spent": 0, "reserved": 0, "at": now}
                _OPEN(connection, row)
            for cap in caps:
                values = {"mine": cap.account, "amount": amount, "now": now}
                _PUT_ASIDE(connection, values)
                row = {"id": named, "account": cap.account, "amount": amount}
                _RESERVE(connection, row)

        try:
            await self._write(work)
        except asyncio.CancelledError:
            self.settle(named, 0)  # it may be put aside already
            raise
        return named

    def settle(self, reservation: str, spent: int, /) -> None:
        def work(connection: Connection) -> None:
            for account, amount in _OF(connection, {"named": reservation}).fetchall():
                _TAKE(connection, {"mine": account, "amount": amount, "taken": spent})
            _DROP(connection, {"named": reservation})

        self._behind.note(work)


def _fits(connection: Connection, cap: Cap, amount: int) -> bool:
    """Whether the account is there already; raises `BudgetSpent` where the amount is too much."""
    row = _LOOK(connection, {"mine": cap.account}).fetchone()
    left = cap.limit - (0 if row is None else sum(row))  # spent and reserved
    if amount > left:
        raise BudgetSpent(cap.scope, max(left, 0) / NANO, cap.limit / NANO)
    return row is not None
