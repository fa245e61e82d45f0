"""The ledger of calls to models: taken at once, written in the background, added up on demand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Select,
    Table,
    case,
    func,
    insert,
    literal_column,
    null,
    select,
    type_coerce,
)

from teahouse.llm.usage import CallRecord, Grouping, Ledger, UsageRow, UsageSums
from teahouse.store.behind import Behind
from teahouse.store.database import Database
from teahouse.store.schema import agent, api_key, from_micros, provider_call

_DAY = 86_400_000_000
_NAMED: dict[Grouping, Table] = {"agent": agent, "key": api_key}
_INSERT = insert(provider_call)


class SqlLedger(Ledger, UsageSums):
    def __init__(self, database: Database, behind: Behind) -> None:
        self._read, self._behind = database.read, behind

    def note(self, call: CallRecord, /) -> None:
        values = _values(call)
        self._behind.note(lambda c: c.execute(_INSERT, values))

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


def _values(call: CallRecord) -> dict[str, Any]:
    values = msgspec.structs.asdict(call)
    return {**values, **msgspec.structs.asdict(values.pop("caller"))}


def _sums(by: Grouping) -> Select[*tuple[Any, ...]]:
    calls = provider_call.c
    day = type_coerce(calls.at, BigInteger) // literal_column(str(_DAY), BigInteger)
    groups: dict[Grouping, Any] = {
        "day": day,
        "agent": calls.agent,
        "model": calls.model,
        "key": calls.key,
    }
    group, named = groups[by], _NAMED.get(by)
    name: Any = null() if named is None else func.max(named.c.name)
    cost = func.coalesce(func.sum(calls.cost), 0.0)
    query = select(
        group.label("id"),
        name.label("name"),
        func.count().label("calls"),
        func.sum(case((calls.outcome == "failed", 1), else_=0)).label("failed"),
        func.sum(calls.input).label("input"),
        func.sum(calls.output).label("output"),
        func.sum(calls.cached).label("cached"),
        func.sum(calls.written).label("written"),
        cost.label("cost"),
        (func.count() - func.count(calls.cost)).label("unpriced"),
    ).group_by(group)
    if named is not None:
        query = query.outerjoin_from(provider_call, named, named.c.id == group)
    return query.order_by(group) if by == "day" else query.order_by(cost.desc(), group)


def _row(by: Grouping, row: Any) -> UsageRow:
    values: dict[str, Any] = dict(row)
    if by == "day":
        values["id"] = from_micros(values["id"] * _DAY).date().isoformat()
    values["name"] = values["name"] or values["id"]
    return UsageRow(**values)
