"""The ledger of calls to models: taken at once, written in the background, added up on demand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from statistics import median_low
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    null,
    select,
    type_coerce,
)

from teahouse.llm.usage import (
    CallRecord,
    Grouping,
    Ledger,
    ProviderState,
    UsageRow,
    UsageSums,
)
from teahouse.store.behind import Behind
from teahouse.store.database import Database
from teahouse.store.prepared import Prepared
from teahouse.store.schema import agent, api_key, from_micros, person, provider_call

_DAY = 86_400_000_000
_LATELY = 50  # calls of a provider that tell how it does
_NAMED: dict[Grouping, Table] = {"agent": agent, "person": person, "key": api_key}
_INSERT = Prepared(insert(provider_call), tuple(provider_call.c.keys()))


class SqlLedger(Ledger, UsageSums):
    def __init__(self, database: Database, behind: Behind) -> None:
        self._read, self._behind = database.read, behind

    def note(self, call: CallRecord, /) -> None:
        values = _values(call)
        self._behind.note(lambda c: _INSERT(c, values))

    async def sums(
        self,
        by: Grouping,
        /,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        person: str | None = None,
        daily: bool = False,
    ) -> Sequence[UsageRow]:
        query = _sums(by, daily=daily)
        if since is not None:
            query = query.where(provider_call.c.at >= since)
        if until is not None:
            query = query.where(provider_call.c.at < until)
        if person is not None:
            query = query.where(provider_call.c.person == person)
        return await self._read(lambda c: [_row(by, row) for row in c.execute(query).mappings()])

    async def providers(self, *, since: datetime) -> Sequence[ProviderState]:
        rows = await self._read(lambda c: c.execute(_LATE, {"since": since}).mappings().all())
        by_name = groupby(rows, key=lambda row: row["provider"])
        return [_state([dict(row) for row in group]) for _, group in by_name]


def _values(call: CallRecord) -> dict[str, Any]:
    values = msgspec.structs.asdict(call)
    return {**values, **msgspec.structs.asdict(values.pop("caller"))}


def _late() -> Select[*tuple[Any, ...]]:
    """The last calls of each provider, the newest first."""
    calls = provider_call.c
    asked = (calls.provider, calls.at, calls.model, calls.outcome, calls.code)
    place = func.row_number().over(partition_by=calls.provider, order_by=calls.at.desc())
    ranked = (
        select(*asked, calls.first_token_ms, place.label("place"))
        .where(calls.at >= bindparam("since"))
        .subquery()
    )
    columns = [column for column in ranked.c if column.name != "place"]
    query = select(*columns).where(ranked.c.place <= _LATELY)
    return query.order_by(ranked.c.provider, ranked.c.place)


_LATE = _late()


def _state(rows: Sequence[dict[str, Any]]) -> ProviderState:
    began = [
        row["first_token_ms"]
        for row in rows
        if row["outcome"] == "answered" and row["first_token_ms"] is not None
    ]
    last: dict[str, Any] = rows[0] | {"first_token_ms": median_low(began) if began else None}
    return ProviderState(**last)


def _sums(by: Grouping, *, daily: bool) -> Select[*tuple[Any, ...]]:
    calls = provider_call.c
    day = type_coerce(calls.at, BigInteger) // literal_column(str(_DAY), BigInteger)
    groups: dict[Grouping, Any] = {
        "day": day,
        "agent": calls.agent,
        "person": calls.person,
        "model": calls.model,
        "provider": calls.provider,
        "key": calls.key,
    }
    group, named = groups[by], _NAMED.get(by)
    name: Any = null() if named is None else func.max(named.c.name)
    cost = func.coalesce(func.sum(calls.cost), 0.0)
    replied = and_(calls.outcome == "answered", calls.purpose.in_(("reply", "gateway")))
    # Refused before a token was read: no price is needed to know what that cost.
    for_nothing = and_(calls.outcome == "failed", calls.input == 0, calls.output == 0)
    query = select(
        group.label("id"),
        name.label("name"),
        (day if daily else null()).label("day"),
        func.count().label("calls"),
        _count(replied).label("replies"),
        _count(calls.outcome == "failed").label("failed"),
        _count(and_(replied, calls.instead_of.is_not(None))).label("stood_in"),
        func.sum(calls.input).label("input"),
        func.sum(calls.output).label("output"),
        func.sum(calls.cached).label("cached"),
        func.sum(calls.written).label("written"),
        cost.label("cost"),
        _count(and_(calls.cost.is_(None), ~for_nothing)).label("unpriced"),
        _count(calls.estimated).label("estimated"),
    ).group_by(*((day, group) if daily else (group,)))
    if named is not None:
        query = query.outerjoin_from(provider_call, named, named.c.id == group)
    order = (group,) if by == "day" else (cost.desc(), group)
    return query.order_by(*((day, *order) if daily else order))


def _count(which: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((which, 1), else_=0))


def _row(by: Grouping, row: Any) -> UsageRow:
    values: dict[str, Any] = dict(row)
    if by == "day":
        values["id"] = _date(values["id"])
    if values["day"] is not None:
        values["day"] = _date(values["day"])
    values["name"] = values["name"] or values["id"]
    return UsageRow(**values)


def _date(day: int) -> str:
    return from_micros(day * _DAY).date().isoformat()
