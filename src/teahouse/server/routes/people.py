"""The people of the house, and everyone's own keys for programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from litestar import delete, get, patch, post
from litestar.params import FromPath, JSONBody
from msgspec import UNSET, structs

from teahouse.chat import scopes
from teahouse.chat.keys import KeyChanges
from teahouse.chat.ports import Page
from teahouse.core.clock import SystemClock
from teahouse.core.errors import Invalid, NotFound
from teahouse.core.names import folded
from teahouse.server.answers import KeyView, NewKeyView, PersonView, whole
from teahouse.server.body import Request
from teahouse.server.forms import NewKey, NewPerson, PersonChanges


@get("/api/people", managers=True)
async def list_people(request: Request) -> Page[PersonView]:
    people = await request.house.accounts.people(request.person)
    return whole([PersonView.of(person) for person in people])


@post("/api/people", managers=True)
async def add_person(request: Request, data: JSONBody[NewPerson]) -> PersonView:
    person = await request.house.accounts.add_person(
        request.person, data.name, data.role, data.password
    )
    return PersonView.of(person)


@patch("/api/people/{person:str}", managers=True)
async def change_person(
    request: Request, person: FromPath[str], data: JSONBody[PersonChanges]
) -> PersonView:
    """A new role or a new password; both end the person's sessions."""
    accounts = request.house.accounts
    changed = None
    if data.role is not UNSET:
        changed = await accounts.set_role(request.person, person, data.role)
    if data.password is not UNSET:
        changed = await accounts.set_password(request.person, person, data.password)
    if changed is None:
        raise Invalid("nothing_to_change")
    return PersonView.of(changed)


@delete("/api/people/{person:str}", managers=True)
async def remove_person(request: Request, person: FromPath[str]) -> None:
    await request.house.accounts.remove_person(request.person, person)
    await request.house.chat.dismiss(person)


@get("/api/keys")
async def list_keys(request: Request) -> Page[KeyView]:
    keys = await request.house.accounts.keys(request.person)
    spent = await _spent_today(request)
    return whole([KeyView.of(key, spent.get(key.id, 0.0)) for key in keys])


@post("/api/keys", whole_keys=True)
async def create_key(request: Request, data: JSONBody[NewKey]) -> NewKeyView:
    """A scope may name only what there is, and what its person may use."""
    await _refuse_unknown(request, data.scopes)
    row, key = await request.house.accounts.create_key(request.person, **structs.asdict(data))
    return NewKeyView(id=row.id, name=row.name, key=key)


@patch("/api/keys/{key:str}", whole_keys=True)
async def change_key(request: Request, key: FromPath[str], data: JSONBody[KeyChanges]) -> KeyView:
    """What the body leaves out stays, null lifts a limit. Scopes stay as they were made."""
    changed = await request.house.accounts.change_key(request.person, key, data)
    return KeyView.of(changed, (await _spent_today(request)).get(key, 0.0))


@delete("/api/keys/{key:str}", whole_keys=True)
async def remove_key(request: Request, key: FromPath[str]) -> None:
    await request.house.accounts.remove_key(request.person, key)


async def _spent_today(request: Request) -> dict[str | None, float]:
    now = SystemClock().now().astimezone(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = await request.house.usage.sums("key", since=midnight, person=request.person.id)
    return {row.id: row.cost for row in rows}


async def _refuse_unknown(request: Request, given: Sequence[str]) -> None:
    """A key whose scope is misspelt would be made, and then do nothing."""
    wanted = scopes.parse(given)
    if names := scopes.agent_names(wanted):
        known = {folded(one.name) for one in await request.house.directory.list(request.person)}
        for name in names:
            if folded(name) not in known:
                raise NotFound("scope_agent", name=name)
    if names := scopes.aliases(wanted):
        known = request.house.settings.public().get("aliases")
        for name in names:
            if not isinstance(known, dict) or name not in known:
                raise Invalid("scope_wrong", scope=name)


HANDLERS = (
    list_people,
    add_person,
    change_person,
    remove_person,
    list_keys,
    create_key,
    change_key,
    remove_key,
)
