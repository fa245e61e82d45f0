"""Accounts, their logins and their keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import msgspec
from msgspec import structs
from sqlalchemy import Connection, and_, delete, insert, select, update

from teahouse.chat.ports import ApiKey, LoginSession, People
from teahouse.core.codec import encode
from teahouse.core.errors import Conflict, NotFound
from teahouse.core.messages import Person, PersonRole
from teahouse.core.names import folded
from teahouse.store.database import Database
from teahouse.store.forget import delete_person
from teahouse.store.rows import AnyRow
from teahouse.store.schema import api_key, login_session, person

_USE_IS_NOTED_EVERY = timedelta(minutes=1)
_scopes = msgspec.json.Decoder(tuple[str, ...])
_PERSON = (person.c.id, person.c.name, person.c.role, person.c.epoch, person.c.created_at)


class SqlPeople(People):
    def __init__(self, database: Database, sweep: Callable[[], Awaitable[None]]) -> None:
        self._write, self._read = database.write, database.read
        self._clock, self._sweep = database.clock, sweep

    async def add(self, new: Person, password_hash: str | None, /) -> None:
        def work(connection: Connection) -> None:
            _refuse_taken(connection, new.name, but=new.id)
            if new.role == "owner":
                _refuse_second_owner(connection, new.id)
            values = {
                "id": new.id,
                "name": new.name,
                "folded": folded(new.name),
                "role": new.role,
                "epoch": new.epoch,
                "password_hash": password_hash,
                "created_at": new.created_at,
            }
            connection.execute(insert(person), values)

        await self._write(work)

    async def all(self) -> Sequence[Person]:
        query = select(*_PERSON).order_by(person.c.created_at, person.c.id)
        return await self._read(lambda c: [_person_of(row) for row in c.execute(query)])

    async def get(self, person: str, /) -> Person:
        return await self._read(lambda c: _load(c, person))

    async def password_hash(self, person: str, /) -> str | None:
        def work(connection: Connection) -> str | None:
            return _column(connection, person)

        return await self._read(work)

    async def set_password(self, person: str, password_hash: str, /) -> Person:
        return await self._write(lambda c: _change(c, person, password_hash=password_hash))

    async def set_role(self, person: str, role: PersonRole, /) -> Person:
        def work(connection: Connection) -> Person:
            if role == "owner":
                _refuse_second_owner(connection, person)
            return _change(connection, person, role=role)

        return await self._write(work)

    async def rename(self, person: str, name: str, /) -> Person:
        def work(connection: Connection) -> Person:
            _refuse_taken(connection, name, but=person)
            return _rename(connection, person, name)

        return await self._write(work)

    async def remove(self, person: str, /) -> None:
        def work(connection: Connection) -> None:
            _load(connection, person)
            delete_person(connection, person)

        await self._write(work, forget=True)
        await self._sweep()

    # Logins -------------------------------------------------------------------------------------

    async def add_session(self, session: LoginSession, /) -> None:
        def work(connection: Connection) -> None:
            _load(connection, session.person)
            stale = login_session.c.expires_at <= self._clock.now()
            connection.execute(delete(login_session).where(stale))
            values = {
                "token_hash": session.token_hash,
                "person": session.person,
                "epoch": session.epoch,
                "created_at": session.created_at,
                "expires_at": session.expires_at,
            }
            connection.execute(insert(login_session), values)

        await self._write(work)

    async def session(self, token_hash: bytes, /) -> tuple[LoginSession, Person] | None:
        query = (
            select(
                *_PERSON,
                login_session.c.created_at.label("begun_at"),
                login_session.c.expires_at,
            )
            .join(
                person,
                and_(
                    person.c.id == login_session.c.person,
                    person.c.epoch == login_session.c.epoch,
                ),
            )
            .where(
                login_session.c.token_hash == token_hash,
                login_session.c.expires_at > self._clock.now(),
            )
        )
        row = await self._read(lambda c: c.execute(query).first())
        if row is None:
            return None
        session = LoginSession(
            token_hash=token_hash,
            person=row.id,
            epoch=row.epoch,
            created_at=row.begun_at,
            expires_at=row.expires_at,
        )
        return session, _person_of(row)

    async def end_session(self, token_hash: bytes, /) -> None:
        ended = delete(login_session).where(login_session.c.token_hash == token_hash)
        await self._write(lambda c: c.execute(ended).rowcount)

    # Keys ---------------------------------------------------------------------------------------

    async def add_key(self, key: ApiKey, /) -> None:
        def work(connection: Connection) -> None:
            _load(connection, key.person)
            values = {**structs.asdict(key), "scopes": encode(key.scopes).decode()}
            connection.execute(insert(api_key), values)

        await self._write(work)

    async def key(self, key_hash: bytes, /) -> tuple[ApiKey, Person] | None:
        def work(connection: Connection) -> tuple[ApiKey, Person] | None:
            found = select(api_key).where(api_key.c.key_hash == key_hash)
            row = connection.execute(found).first()
            return None if row is None else (_key_of(row), _load(connection, row.person))

        found = await self._read(work)
        if found is not None:
            await self._note_use(found[0])
        return found

    async def keys(self, person: str, /) -> Sequence[ApiKey]:
        query = select(api_key).where(api_key.c.person == person).order_by(api_key.c.id)
        return await self._read(lambda c: [_key_of(row) for row in c.execute(query)])

    async def replace_key(self, key: ApiKey, /) -> None:
        mine = update(api_key).where(api_key.c.id == key.id, api_key.c.person == key.person)
        changed = mine.values(
            name=key.name, budget=key.budget, rate=key.rate, concurrent=key.concurrent
        )
        await self._write(lambda c: _one(c.execute(changed).rowcount, key.id))

    async def remove_key(self, person: str, key: str, /) -> None:
        removed = delete(api_key).where(api_key.c.id == key, api_key.c.person == person)
        await self._write(lambda c: _one(c.execute(removed).rowcount, key))

    async def _note_use(self, key: ApiKey) -> None:
        """Keep `last_used_at` true to the minute, so that not every call of a program writes."""
        now = self._clock.now()
        if key.last_used_at is None or now - key.last_used_at >= _USE_IS_NOTED_EVERY:
            used = update(api_key).where(api_key.c.id == key.id).values(last_used_at=now)
            await self._write(lambda c: c.execute(used).rowcount)


def _load(connection: Connection, person_id: str) -> Person:
    row = connection.execute(select(*_PERSON).where(person.c.id == person_id)).first()
    if row is None:
        raise NotFound("no_such_person", id=person_id)
    return _person_of(row)


def _column(connection: Connection, person_id: str) -> str | None:
    row = connection.execute(select(person.c.password_hash).where(person.c.id == person_id)).first()
    if row is None:
        raise NotFound("no_such_person", id=person_id)
    return row.password_hash


def _change(connection: Connection, person_id: str, **values: str) -> Person:
    """Change somebody's rights; the epoch rises, which ends every session of theirs."""
    change = update(person).where(person.c.id == person_id)
    connection.execute(change.values(**values, epoch=person.c.epoch + 1))
    return _load(connection, person_id)


def _rename(connection: Connection, person_id: str, name: str) -> Person:
    change = update(person).where(person.c.id == person_id)
    connection.execute(change.values(name=name, folded=folded(name)))
    return _load(connection, person_id)


def _refuse_taken(connection: Connection, name: str, *, but: str) -> None:
    taken = select(person.c.id).where(person.c.folded == folded(name), person.c.id != but)
    if connection.execute(taken).first() is not None:
        raise Conflict("name_taken", name=name)


def _refuse_second_owner(connection: Connection, person_id: str) -> None:
    others = select(person.c.id).where(person.c.role == "owner", person.c.id != person_id)
    if connection.execute(others).first() is not None:
        raise Conflict("owner_exists")


def _person_of(row: AnyRow) -> Person:
    return Person(
        id=row.id, name=row.name, role=row.role, epoch=row.epoch, created_at=row.created_at
    )


def _one(found: int, key: str) -> None:
    if found == 0:
        raise NotFound("no_such_key", id=key)


def _key_of(row: AnyRow) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        key_hash=row.key_hash,
        person=row.person,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        scopes=_scopes.decode(row.scopes),
        budget=row.budget,
        rate=row.rate,
        concurrent=row.concurrent,
    )
