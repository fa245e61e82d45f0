"""Questions to people whether a call may be made, and the answers that hold for longer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import structs
from sqlalchemy import Connection, delete, insert, or_, select, update

from teahouse.agent.permission import Grant
from teahouse.agent.ports import ApprovalRecord, Approvals
from teahouse.core.errors import Conflict, NotFound
from teahouse.core.events import ApprovalState
from teahouse.core.messages import JsonObject
from teahouse.store.database import Database
from teahouse.store.rows import AnyRow, to_json
from teahouse.store.schema import approval as table
from teahouse.store.schema import permission_grant, run

_FIELDS = ApprovalRecord.__struct_fields__
_ROWS = select(*(table.c[name] for name in _FIELDS), run.c.ended_at.label("run_ended_at")).join(
    run, run.c.id == table.c.run
)
_GRANT_FIELDS = Grant.__struct_fields__
_GRANTS = select(*(permission_grant.c[name] for name in _GRANT_FIELDS)).order_by(
    permission_grant.c.id.desc()
)

_object = msgspec.json.Decoder(JsonObject)
_words = msgspec.json.Decoder(tuple[str, ...])
_asked_words = msgspec.json.Decoder(tuple[str, ...] | None)


class SqlApprovals(Approvals):
    def __init__(self, database: Database) -> None:
        self._write, self._read, self._clock = database.write, database.read, database.clock

    async def ask(self, approval: ApprovalRecord, /) -> ApprovalRecord:
        def work(connection: Connection) -> ApprovalRecord:
            found = self._of_call(connection, approval.run, approval.call, approval.turn)
            if found is None:
                connection.execute(insert(table), _values(approval))
            return found or approval

        return await self._write(work)

    async def of_call(self, run: str, call: str, turn: int, /) -> ApprovalRecord | None:
        return await self._read(lambda c: self._of_call(c, run, call, turn))

    async def get(self, person: str, approval: str, /) -> ApprovalRecord:
        return await self._read(lambda c: self._get(c, person, approval))

    async def all(
        self, person: str, /, *, state: ApprovalState | None, run: str | None, limit: int
    ) -> Sequence[ApprovalRecord]:
        query = _ROWS.where(table.c.person == person).order_by(table.c.id.desc()).limit(limit)
        if run is not None:
            query = query.where(table.c.run == run)
        if state is not None:  # a question that is over still says that it is asked
            stored = ("asked", "expired") if state == "expired" else (state,)
            query = query.where(table.c.state.in_(stored))
        now = self._clock.now()
        rows = await self._read(lambda c: [_record(row, now) for row in c.execute(query)])
        return [record for record in rows if state is None or record.state == state]

    async def answer(
        self,
        person: str,
        approval: str,
        state: Literal["granted", "denied"],
        /,
        *,
        grant: Grant | None,
    ) -> ApprovalRecord:
        now = self._clock.now()

        def work(connection: Connection) -> ApprovalRecord:
            found = self._get(connection, person, approval)
            if found.state != "asked":
                over = found.state == "expired"
                raise Conflict("approval_expired" if over else "approval_answered")
            answered = structs.replace(found, state=state, decided_by=person, decided_at=now)
            values = {"state": state, "decided_by": person, "decided_at": now}
            connection.execute(update(table).where(table.c.id == approval), values)
            if grant is not None:
                connection.execute(insert(permission_grant), _grant_values(grant))
            return answered

        return await self._write(work)

    async def expire(self, approval: str, /) -> ApprovalRecord:
        mine = table.c.id == approval

        def work(connection: Connection) -> ApprovalRecord:
            over = update(table).where(mine, table.c.state == "asked").values(state="expired")
            connection.execute(over)
            return _record(connection.execute(_ROWS.where(mine)).one(), self._clock.now())

        return await self._write(work)

    async def use(self, approval: str, /) -> bool:
        begun = (
            update(table)
            .where(table.c.id == approval, table.c.state == "granted", table.c.used_at.is_(None))
            .values(used_at=self._clock.now())
        )
        return await self._write(lambda c: c.execute(begun).rowcount == 1)

    async def grants(self, person: str, agent: str | None = None, /) -> Sequence[Grant]:
        until = permission_grant.c.until
        query = _GRANTS.where(
            permission_grant.c.person == person, or_(until.is_(None), until > self._clock.now())
        )
        if agent is not None:
            query = query.where(permission_grant.c.agent == agent)
        return await self._read(lambda c: [_grant(row) for row in c.execute(query)])

    async def remove_grant(self, person: str, grant: str, /) -> None:
        mine = permission_grant.c.id == grant, permission_grant.c.person == person

        def work(connection: Connection) -> None:
            if connection.execute(delete(permission_grant).where(*mine)).rowcount == 0:
                raise NotFound("no_such_grant", id=grant)

        await self._write(work)

    def _get(self, connection: Connection, person: str, approval_id: str) -> ApprovalRecord:
        mine = table.c.id == approval_id, table.c.person == person
        row = connection.execute(_ROWS.where(*mine)).first()
        if row is None:
            raise NotFound("no_such_approval", id=approval_id)
        return _record(row, self._clock.now())

    def _of_call(
        self, connection: Connection, run_id: str, call: str, turn: int
    ) -> ApprovalRecord | None:
        of = table.c.run == run_id, table.c.call == call, table.c.turn == turn
        row = connection.execute(_ROWS.where(*of)).first()
        return None if row is None else _record(row, self._clock.now())


def _values(record: ApprovalRecord) -> dict[str, Any]:
    return {
        **{name: getattr(record, name) for name in _FIELDS},
        "arguments": to_json(record.arguments),
        "words": to_json(record.words),
    }


def _record(row: AnyRow, now: datetime) -> ApprovalRecord:
    """A question is over with its time or its run, whether or not somebody has noted it."""
    values = {name: getattr(row, name) for name in _FIELDS}
    if values["state"] == "asked" and (row.expires_at <= now or row.run_ended_at is not None):
        values["state"] = "expired"
    values["arguments"] = _object.decode(row.arguments)
    values["words"] = _asked_words.decode(row.words)
    return ApprovalRecord(**values)


def _grant_values(grant: Grant) -> dict[str, Any]:
    return {
        **{name: getattr(grant, name) for name in _GRANT_FIELDS},
        "arguments": None if grant.arguments is None else to_json(grant.arguments),
        "words": to_json(grant.words),
    }


def _grant(row: AnyRow) -> Grant:
    values = {name: getattr(row, name) for name in _GRANT_FIELDS}
    if row.arguments is not None:
        values["arguments"] = _object.decode(row.arguments)
    values["words"] = _words.decode(row.words)
    return Grant(**values)
