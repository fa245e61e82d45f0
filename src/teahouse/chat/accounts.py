"""People, their logins and their keys: who somebody is, never what they may do with what."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from typing import Protocol

from teahouse.chat import scopes as rights
from teahouse.chat.keys import KeyChanges, KnownKeys, changed, checked
from teahouse.chat.ports import ApiKey, Identity, LoginSession, People
from teahouse.core.clock import Clock
from teahouse.core.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    TooManyAttempts,
    Unauthenticated,
)
from teahouse.core.ids import new_id, new_secret
from teahouse.core.messages import Person, PersonId, PersonRole
from teahouse.core.names import clean_name, folded

MIN_PASSWORD, MAX_PASSWORD = 8, 1024
SESSION = timedelta(days=30)
KEY_PREFIX = "th_"
FREE_TRIES = 5  # wrong passwords of one address for one account before it has to wait
FREE_TRIES_OF_ADDRESS = 30
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 900.0
FORGET_AFTER_S = 3600.0
MOST_REMEMBERED = 10_000  # accounts, or addresses, that failed of late
MANAGERS: tuple[PersonRole, ...] = ("owner", "admin")


class Accounts:
    def __init__(
        self, people: People, clock: Clock, *, passwords: Callable[[], Passwords] | None = None
    ) -> None:
        """`passwords` is argon2 with its usual cost, loaded when the first one is hashed."""
        self._people, self._clock, self._passwords = people, clock, passwords or _argon2
        self._by_account = _Throttle(clock, FREE_TRIES)
        self._by_address = _Throttle(clock, FREE_TRIES_OF_ADDRESS)
        self._hashing = asyncio.Semaphore(2)  # argon2 takes 64 MiB and a core for each
        self._setting_up = asyncio.Lock()
        self._lent: bytes | None = None
        self._known = KnownKeys(self._look_up, clock)

    async def owner(self) -> Person:
        """Whose house it is; at the very first start the owner is made, without a password."""
        for person in await self._people.all():
            if person.role == "owner":
                return person
        owner = self._new_person("owner", "owner")
        await self._people.add(owner, None)
        return owner

    def lend_key(self) -> str:
        """A key that speaks for the owner while this process lives: whoever can read the home's
        files is the owner, and so is the command line on this machine."""
        key = KEY_PREFIX + new_secret()
        with self._known.changing():
            self._lent = _digest(key)
        return key

    def _is_lent(self, digest: bytes) -> bool:
        return self._lent is not None and hmac.compare_digest(digest, self._lent)

    async def is_set_up(self) -> bool:
        """Whether the owner has a password."""
        owner = await self.owner()
        return await self._people.password_hash(owner.id) is not None

    async def set_up(self, password: str, name: str = "") -> Person:
        """Give the owner a password; raises `Conflict` when there is one: this is done once."""
        hashed = await self._hash(password)
        async with self._setting_up:
            if await self.is_set_up():
                raise Conflict("already_set_up")
            owner = await self.owner()
            with self._known.changing():
                if name.strip():
                    await self._people.rename(owner.id, clean_name(name))
                return await self._people.set_password(owner.id, hashed)

    async def login(self, password: str, name: str | None, address: str) -> tuple[str, Person]:
        """Return a session's token. Unknown names and wrong passwords look and cost the same.

        `address` is the peer's own, never what a header says.
        """
        called = folded(name or "")
        account = f"{address}\0{called}"
        self._by_address.count(address)  # first: it bounds how many names one address can try
        self._by_account.count(account)
        person = await self._named(called)
        stored = await self._people.password_hash(person.id) if person else None
        if not await self._verify(stored, password) or person is None:
            raise Unauthenticated("wrong_password")
        self._by_account.succeeded(account)
        self._by_address.succeeded(address)
        return await self._session(person), person

    async def session_for(self, person: Person) -> str:
        """A session for somebody who has just proven who they are, as in setting up."""
        return await self._session(person)

    async def logout(self, token: str) -> None:
        await self._people.end_session(_digest(token))

    async def by_token(self, token: str) -> Person | None:
        found = await self._people.session(_digest(token))
        if found is None:
            return None
        session, person = found
        expired = session.expires_at <= self._clock.now()
        return None if expired or session.epoch != person.epoch else person

    async def by_key(self, key: str) -> Identity | None:
        """Whose key, as of now, and which: a key that was removed is nobody's."""
        return await self._known.get(_digest(key))

    async def _look_up(self, digest: bytes) -> Identity | None:
        if self._is_lent(digest):
            return Identity(await self.owner())
        found = await self._people.key(digest)
        # Whoever became a guest cannot have keys: those from before rest until the role is back.
        return Identity(found[1], found[0]) if found and found[1].role != "guest" else None

    async def create_key(
        self,
        person: Person,
        name: str,
        *,
        scopes: Sequence[str] = (),
        budget: float | None = None,
        rate: int | None = None,
        concurrent: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Return the key's row and the key itself, which is shown this once."""
        if person.role == "guest":
            raise NotAllowed("guests_have_no_keys")
        secret = KEY_PREFIX + new_secret()
        key = ApiKey(
            id=new_id("k"),
            name=name,
            key_hash=_digest(secret),
            person=person.id,
            created_at=self._clock.now(),
            scopes=rights.parse(scopes),
            budget=budget,
            rate=rate,
            concurrent=concurrent,
        )
        if "metrics" in key.scopes:
            _manages(person)
        key = checked(key)
        await self._people.add_key(key)
        return key, secret

    async def keys(self, person: Person) -> Sequence[ApiKey]:
        return await self._people.keys(person.id)

    async def change_key(self, person: Person, key: str, changes: KeyChanges) -> ApiKey:
        """Another name or other limits, from the next request on."""
        mine = next((one for one in await self.keys(person) if one.id == key), None)
        if mine is None:
            raise NotFound("no_such_key", id=key)
        new = changed(mine, changes)
        with self._known.changing():
            await self._people.replace_key(new)
        return new

    async def remove_key(self, person: Person, key: str) -> None:
        with self._known.changing():
            await self._people.remove_key(person.id, key)

    async def people(self, actor: Person) -> Sequence[Person]:
        _manages(actor)
        return await self._people.all()

    async def add_person(
        self, actor: Person, name: str, role: PersonRole, password: str | None
    ) -> Person:
        _manages(actor)
        _grants(actor, role)
        person = self._new_person(name, role)
        await self._people.add(person, await self._hash(password) if password else None)
        return person

    async def set_role(self, actor: Person, person: PersonId, role: PersonRole) -> Person:
        _manages(actor)
        _grants(actor, role)
        await self._other(actor, person)
        with self._known.changing():
            return await self._people.set_role(person, role)

    async def set_password(self, actor: Person, person: PersonId, password: str) -> Person:
        """Give somebody a new password, which ends all their sessions."""
        _manages(actor)
        await self._other(actor, person)
        with self._known.changing():
            return await self._people.set_password(person, await self._hash(password))

    async def remove_person(self, actor: Person, person: PersonId) -> None:
        _manages(actor)
        await self._other(actor, person)
        with self._known.changing():
            await self._people.remove(person)

    async def change_password(self, person: Person, old: str, new: str) -> Person:
        """Also ends every session of the person. The lent key stands for a forgotten `old` one."""
        if not self._is_lent(_digest(old)):
            key = f"\0{person.id}"  # no address: whoever has a session may not guess on from it
            self._by_account.count(key)
            if not await self._verify(await self._people.password_hash(person.id), old):
                raise Unauthenticated("wrong_password")
            self._by_account.succeeded(key)
        with self._known.changing():
            return await self._people.set_password(person.id, await self._hash(new))

    async def _named(self, called: str) -> Person | None:
        people = await self._people.all()
        if called:
            return next((one for one in people if folded(one.name) == called), None)
        owners = [one for one in people if one.role == "owner"]
        return owners[0] if len(owners) == 1 else None

    async def _other(self, actor: Person, person: PersonId) -> Person:
        """Somebody an actor may change: not themselves, not the owner, no equal for an admin."""
        found = await self._people.get(person)
        if found.id == actor.id or found.role == "owner":
            raise NotAllowed("person_untouchable", name=found.name)
        if actor.role == "admin" and found.role == "admin":
            raise NotAllowed("admins_change_no_admins", name=found.name)
        return found

    async def _session(self, person: Person) -> str:
        token, now = new_secret(), self._clock.now()
        await self._people.add_session(
            LoginSession(
                token_hash=_digest(token),
                person=person.id,
                epoch=person.epoch,
                created_at=now,
                expires_at=now + SESSION,
            )
        )
        return token

    def _new_person(self, name: str, role: PersonRole) -> Person:
        now = self._clock.now()
        return Person(id=new_id("u"), name=clean_name(name), role=role, epoch=1, created_at=now)

    async def _hash(self, password: str) -> str:
        if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
            raise Invalid("password_length", least=MIN_PASSWORD, most=MAX_PASSWORD)
        async with self._hashing:
            return await asyncio.to_thread(lambda: self._passwords().hash(password))

    async def _verify(self, stored: str | None, password: str) -> bool:
        """Without a stored hash the answer is no, after the same work."""
        from argon2.exceptions import VerificationError

        def verify() -> bool:
            try:
                passwords = self._passwords()
                right = passwords.verify(stored or _nobodys_hash(passwords), password)
                return right and stored is not None
            except VerificationError:
                return False

        async with self._hashing:
            return await asyncio.to_thread(verify)


class _Throttle:
    """Makes one who fails wait longer each time, and nobody else."""

    def __init__(self, clock: Clock, free: int) -> None:
        self._clock, self._free = clock, free
        # How many in vain, and when the last; by a digest, since names may be long. Oldest first.
        self._tries: dict[bytes, tuple[int, float]] = {}

    def count(self, key: str) -> None:
        """Count a try before it is made, so that tries side by side are counted too."""
        now, place = self._clock.monotonic(), _digest(key)
        count, last = self._tries.get(place, (0, now))
        if now - last >= FORGET_AFTER_S:
            count = 0
        if count >= self._free:
            wait = min(FIRST_WAIT_S * 2 ** min(count - self._free, 16), LONGEST_WAIT_S)
            if last + wait > now:
                raise TooManyAttempts("too_many_attempts", retry_after_s=last + wait - now)
        self._tries.pop(place, None)
        self._tries[place] = (count + 1, now)
        if len(self._tries) > MOST_REMEMBERED:
            del self._tries[next(iter(self._tries))]

    def succeeded(self, key: str) -> None:
        self._tries.pop(_digest(key), None)


def _manages(actor: Person) -> None:
    if actor.role not in MANAGERS:
        raise NotAllowed("managers_only")


def _grants(actor: Person, role: PersonRole) -> None:
    if role == "owner" or (role == "admin" and actor.role != "owner"):
        raise NotAllowed("role_out_of_reach", role=role)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Passwords(Protocol):
    """Hashes passwords slowly; both methods block. `verify` raises argon2's errors for a no."""

    def hash(self, password: str, /) -> str: ...
    def verify(self, stored: str, password: str, /) -> bool: ...


@cache
def _argon2() -> Passwords:
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobodys_hash(passwords: Passwords) -> str:
    """What an unknown name is verified against, so that it takes as long as a known one."""
    return passwords.hash(new_secret())
