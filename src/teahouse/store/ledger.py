"""The ledger of calls to models: taken at once, written in the background, added up on demand."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    case,
    func,
    insert,
    literal_column,
    null,
    select,
    type_coerce,
)

from teahouse.core.errors import TeahouseError
from teahouse.llm.usage import CallRecord, Grouping, Ledger, UsageRow, UsageSums
from teahouse.store.database import Database
from teahouse.store.schema import agent, from_micros, provider_call

log = logging.getLogger(__name__)

MOST_WAITING = 10_000  # records that a full disk may keep waiting
BATCH = 256
TRY_AGAIN_S = 5.0
_DAY = 86_400_000_000


class SqlLedger(Ledger, UsageSums):
    def __init__(self, database: Database) -> None:
        self._write, self._read = database.write, database.read
        self._waiting: deque[CallRecord] = deque(maxlen=MOST_WAITING)
        self._lost = 0
        self._more = asyncio.Event()

    def note(self, call: CallRecord, /) -> None:
        if len(self._waiting) == MOST_WAITING:
            self._lost += 1  # the oldest; the log has it still
        self._waiting.append(call)
        self._more.set()

    async def work(self) -> None:
        """Write what is noted, for ever. While the disk is full it waits here."""
        while True:
            await self._more.wait()
            self._more.clear()
            try:
                await self.flush()
            except TeahouseError as error:
                log.warning("The ledger can't be written: %s", error)
                self._more.set()
                await asyncio.sleep(TRY_AGAIN_S)

    async def flush(self) -> None:
        """Write all that waits; what fails to be written waits on."""
        if self._lost:
            log.error("%d calls are missing in the ledger: it could not be written", self._lost)
            self._lost = 0
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            values = [_values(call) for call in batch]
            try:
                await self._write(lambda c, rows=values: _insert(c, rows))
            except BaseException:
                self._waiting.extendleft(reversed(batch))
                raise

    async def close(self) -> None:
        """Write what waits, before the store closes."""
        try:
            await self.flush()
        except TeahouseError as error:
            log.error("%d calls are missing in the ledger: %s", len(self._waiting), error)

    async def sums(
        self,
        by: Grouping,
        /,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        person: str | None = None,
    ) -> Sequence[UsageRow]:
        query = _sums(by)
        if since is not None:
            query = query.where(provider_call.c.at >= since)
        if until is not None:
            query = query.where(provider_call.c.at < until)
        if person is not None:
            query = query.where(provider_call.c.person == person)
        return await self._read(lambda c: [_row(by, row) for row in c.execute(query).mappings()])


def _insert(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    connection.execute(insert(provider_call), rows)


def _values(call: CallRecord) -> dict[str, Any]:
    values = msgspec.structs.asdict(call)
    return {**values, **msgspec.structs.asdict(values.pop("caller"))}


def _sums(by: Grouping) -> Select[*tuple[Any, ...]]:
    calls = provider_call.c
    day = type_coerce(calls.at, BigInteger) // literal_column(str(_DAY), BigInteger)
    group: Any = {"day": day, "agent": calls.agent, "model": calls.model}[by]
    name: Any = func.max(agent.c.name) if by == "agent" else null()
    cost = func.coalesce(func.sum(calls.cost), 0.0)
    query = select(
        group.label("id"),
        name.label("name"),
        func.count().label("calls"),
        func.sum(case((calls.outcome == "failed", 1), else_=0)).label("failed"),
        func.sum(calls.input).label("input"),
        func.sum(calls.output).label("output"),
        func.sum(calls.cached).label("cached"),
        cost.label("cost"),
        (func.count() - func.count(calls.cost)).label("unpriced"),
    ).group_by(group)
    if by == "agent":
        query = query.outerjoin_from(provider_call, agent, agent.c.id == calls.agent)
    return query.order_by(group) if by == "day" else query.order_by(cost.desc(), group)


def _row(by: Grouping, row: Any) -> UsageRow:
    values: dict[str, Any] = dict(row)
    if by == "day":
        values["id"] = from_micros(values["id"] * _DAY).date().isoformat()
    values["name"] = values["name"] or values["id"]
    return UsageRow(**values)
