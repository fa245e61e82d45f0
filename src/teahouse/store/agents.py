"""Agents as rows: whose they are and how they appear; their words lie in the workspace folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import structs
from sqlalchemy import Connection, delete, insert, select, update

from teahouse.agent.permission import Rule
from teahouse.agent.ports import AgentRecord, Agents
from teahouse.core.errors import Conflict, NotFound
from teahouse.core.names import folded
from teahouse.store.database import Database
from teahouse.store.rows import AnyRow, to_json
from teahouse.store.schema import agent as table

_FIELDS = AgentRecord.__struct_fields__
_COLUMNS = [table.c[name] for name in _FIELDS]

_rules = msgspec.json.Decoder(dict[str, Rule])


class SqlAgents(Agents):
    def __init__(self, database: Database) -> None:
        self._write, self._read = database.write, database.read

    async def add(self, agent: AgentRecord, /) -> None:
        def work(connection: Connection) -> None:
            _refuse_same_name(connection, agent)
            connection.execute(insert(table), _values(agent))

        await self._write(work)

    async def get(self, agent: str, /) -> AgentRecord:
        return await self._read(lambda c: _load(c, agent))

    async def all(self) -> Sequence[AgentRecord]:
        query = select(*_COLUMNS).order_by(table.c.created_at, table.c.id)
        return await self._read(lambda c: [_record(row) for row in c.execute(query)])

    async def replace(self, agent: AgentRecord, /) -> None:
        def work(connection: Connection) -> None:
            _load(connection, agent.id)
            _refuse_same_name(connection, agent)
            connection.execute(update(table).where(table.c.id == agent.id), _values(agent))

        await self._write(work)

    async def remove(self, agent: str, /) -> None:
        def work(connection: Connection) -> None:
            _load(connection, agent)
            connection.execute(delete(table).where(table.c.id == agent))

        await self._write(work)


def _values(record: AgentRecord) -> dict[str, Any]:
    rules = to_json(record.permissions)
    return {**structs.asdict(record), "folded": folded(record.name), "permissions": rules}


def _record(row: AnyRow) -> AgentRecord:
    values = dict(zip(_FIELDS, row, strict=True))
    values["permissions"] = _rules.decode(row.permissions)
    return AgentRecord(**values)


def _load(connection: Connection, agent_id: str) -> AgentRecord:
    row = connection.execute(select(*_COLUMNS).where(table.c.id == agent_id)).first()
    if row is None:
        raise NotFound("agent_unknown", agent=agent_id)
    return _record(row)


def _refuse_same_name(connection: Connection, record: AgentRecord) -> None:
    if record.archived:
        return
    same = select(table.c.id).where(
        table.c.owner == record.owner,
        table.c.folded == folded(record.name),
        ~table.c.archived,
        table.c.id != record.id,
    )
    if connection.execute(same).first() is not None:
        raise Conflict("agent_name_taken", name=record.name)
