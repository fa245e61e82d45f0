from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from teahouse.agent.directory import AgentDraft
from teahouse.chat import accounts as accounts_module
from teahouse.chat.accounts import Accounts
from teahouse.chat.keys import KeyChanges
from teahouse.chat.ports import ApiKey, Identity
from teahouse.core.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    TooManyAttempts,
    Unauthenticated,
)
from teahouse.core.messages import Person
from teahouse.testing.clock import FakeClock

from .conftest import House, cheap_passwords

pytestmark = pytest.mark.anyio
HERE, THERE = "127.0.0.1", "127.0.0.2"


async def test_the_sole_owner_logs_in_without_a_name(house: House) -> None:
    token, person = await house.accounts.login("correct horse", None, HERE)

    assert person.id == house.owner.id
    assert await house.accounts.by_token(token) == person
    await house.accounts.logout(token)
    assert await house.accounts.by_token(token) is None


async def test_setting_up_never_opens_again(house: House) -> None:
    with pytest.raises(Conflict):
        await house.accounts.set_up("another password")


async def test_unknown_names_and_wrong_passwords_look_the_same(house: House) -> None:
    with pytest.raises(Unauthenticated) as wrong:
        await house.accounts.login("wrong", "owner", HERE)
    with pytest.raises(Unauthenticated) as unknown:
        await house.accounts.login("wrong", "nobody", HERE)

    assert wrong.value.problem() == unknown.value.problem()


async def test_a_name_may_be_typed_in_any_width_and_case(house: House) -> None:
    mo = await house.accounts.add_person(house.owner, "Ｍｏ", "member", "correct horse")

    _, person = await house.accounts.login("correct horse", " mO ", HERE)
    assert person == mo


def timeless(house: House) -> tuple[Accounts, FakeClock]:
    """The house's accounts, on a clock that only the test moves on."""
    clock = FakeClock()
    return Accounts(house.store.people, clock, passwords=cheap_passwords), clock


async def test_guessing_is_slowed_down_for_the_guesser_alone(house: House) -> None:
    accounts, clock = timeless(house)
    for _ in range(accounts_module.FREE_TRIES):
        with pytest.raises(Unauthenticated):
            await accounts.login("wrong", "owner", HERE)

    with pytest.raises(TooManyAttempts):
        await accounts.login("correct horse", "owner", HERE)
    _, person = await accounts.login("correct horse", "owner", THERE)
    assert person.role == "owner"
    clock.advance(accounts_module.FIRST_WAIT_S)
    await accounts.login("correct horse", "owner", HERE)


async def test_a_new_password_ends_every_session(house: House) -> None:
    token, person = await house.accounts.login("correct horse", None, HERE)

    await house.accounts.change_password(person, "correct horse", "better horse")

    assert await house.accounts.by_token(token) is None
    await house.accounts.login("better horse", None, HERE)


async def test_the_old_password_cannot_be_guessed_from_within_a_session(house: House) -> None:
    accounts, _ = timeless(house)
    change = accounts.change_password
    for _ in range(accounts_module.FREE_TRIES):
        with pytest.raises(Unauthenticated):
            await change(house.owner, "wrong", "better horse")

    with pytest.raises(TooManyAttempts):
        await change(house.owner, "correct horse", "better horse")
    await change(house.owner, accounts.lend_key(), "better horse")
    await accounts.login("better horse", None, HERE)


async def test_one_address_cannot_try_name_after_name(house: House) -> None:
    accounts, _ = timeless(house)
    for number in range(accounts_module.FREE_TRIES_OF_ADDRESS):
        with pytest.raises(Unauthenticated):
            await accounts.login("wrong", f"name {number}", HERE)

    with pytest.raises(TooManyAttempts):
        await accounts.login("wrong", "one more", HERE)
    _, person = await accounts.login("correct horse", "owner", THERE)
    assert person.role == "owner"


async def test_a_session_ends_by_itself(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts_module, "SESSION", timedelta(0))
    token, _ = await house.accounts.login("correct horse", None, HERE)

    assert await house.accounts.by_token(token) is None


async def test_a_key_speaks_for_its_person_until_it_is_taken_back(house: House) -> None:
    key, secret = await house.accounts.create_key(house.owner, "laptop")

    assert secret not in str(structs.asdict(key))
    assert await house.accounts.by_key(secret) == Identity(house.owner, key)
    assert await house.accounts.by_key(secret + "x") is None
    await house.accounts.remove_key(house.owner, key.id)
    assert await house.accounts.by_key(secret) is None


async def test_the_keys_of_one_who_becomes_a_guest_rest(house: House) -> None:
    accounts = house.accounts
    mei = await accounts.add_person(house.owner, "mei", "member", None)
    _, secret = await accounts.create_key(mei, "laptop")
    assert await person_of(accounts, secret) == mei

    await accounts.set_role(house.owner, mei.id, "guest")
    assert await accounts.by_key(secret) is None
    again = await accounts.set_role(house.owner, mei.id, "member")
    assert await person_of(accounts, secret) == again


async def person_of(accounts: Accounts, secret: str) -> Person | None:
    identity = await accounts.by_key(secret)
    return identity and identity.person


async def test_the_next_request_knows_of_a_new_role_a_new_password_and_a_removal(
    house: House,
) -> None:
    accounts = house.accounts
    mei = await accounts.add_person(house.owner, "mei", "member", "correct horse")
    _, secret = await accounts.create_key(mei, "laptop")
    assert await person_of(accounts, secret) == mei

    raised = await accounts.set_role(house.owner, mei.id, "admin")
    assert await person_of(accounts, secret) == raised
    given = await accounts.set_password(house.owner, mei.id, "better horse")
    assert await person_of(accounts, secret) == given
    chosen = await accounts.change_password(given, "better horse", "best of horses")
    assert await person_of(accounts, secret) == chosen
    await accounts.remove_person(house.owner, mei.id)
    assert await accounts.by_key(secret) is None


async def test_the_lent_key_is_the_owner_s_and_none_of_their_keys(house: House) -> None:
    before = house.accounts.lend_key()
    assert await house.accounts.by_key(before) == Identity(house.owner)

    after = house.accounts.lend_key()
    assert await house.accounts.by_key(before) is None
    assert await house.accounts.by_key(after) == Identity(house.owner)


async def test_new_limits_of_a_key_count_at_the_next_request_and_its_scopes_stay(
    house: House,
) -> None:
    accounts = house.accounts
    scopes = ["models", " models", "agent/Tea  Master"]
    key, secret = await accounts.create_key(
        house.owner, "bot", scopes=scopes, budget=5, rate=60, concurrent=2
    )
    assert key.scopes == ("models", "agent/Tea Master")
    assert await accounts.by_key(secret) == Identity(house.owner, key)

    changes = KeyChanges(name=" Bot  2 ", budget=None, rate=1)
    changed = await accounts.change_key(house.owner, key.id, changes)

    assert unused(changed) == structs.replace(key, name="Bot 2", budget=None, rate=1)
    identity = await accounts.by_key(secret)
    assert identity is not None
    assert identity.key is not None
    assert unused(identity.key) == unused(changed)


def unused(key: ApiKey) -> ApiKey:
    return structs.replace(key, last_used_at=None)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"budget": -1}, "key_limit_wrong"),
        ({"budget": float("nan")}, "key_limit_wrong"),
        ({"budget": float("inf")}, "key_limit_wrong"),
        ({"rate": 0}, "key_limit_wrong"),
        ({"concurrent": 0}, "key_limit_wrong"),
        ({"scopes": ["everything/"]}, "scope_wrong"),
        ({"scopes": ["agents"] * 65}, "scopes_too_many"),
    ],
)
async def test_limits_and_scopes_must_make_sense(
    house: House, limits: dict[str, Any], code: str
) -> None:
    with pytest.raises(Invalid) as caught:
        await house.accounts.create_key(house.owner, "bot", **limits)

    assert caught.value.code == code
    assert await house.accounts.keys(house.owner) == []


async def test_a_key_is_changed_by_its_person_alone_and_not_by_nothing(house: House) -> None:
    mei = await house.accounts.add_person(house.owner, "mei", "admin", None)
    key, _ = await house.accounts.create_key(house.owner, "laptop")

    with pytest.raises(NotFound):
        await house.accounts.change_key(mei, key.id, KeyChanges(rate=1))
    with pytest.raises(Invalid):
        await house.accounts.change_key(house.owner, key.id, KeyChanges())
    with pytest.raises(Invalid):
        await house.accounts.change_key(house.owner, key.id, KeyChanges(rate=0))
    assert [one.rate for one in await house.accounts.keys(house.owner)] == [None]


async def test_the_figures_of_the_house_are_for_managers_keys_alone(house: House) -> None:
    mei = await house.accounts.add_person(house.owner, "mei", "member", None)

    with pytest.raises(NotAllowed):
        await house.accounts.create_key(mei, "monitor", scopes=["metrics"])
    await house.accounts.create_key(house.owner, "monitor", scopes=["metrics"])


async def test_nobody_reaches_above_their_role(house: House) -> None:
    add = house.accounts.add_person
    admin = await add(house.owner, "ada", "admin", "correct horse")
    member = await add(admin, "mo", "member", "correct horse")
    guest = await add(admin, "gus", "guest", None)

    with pytest.raises(NotAllowed):
        await add(member, "x", "guest", None)
    with pytest.raises(NotAllowed):
        await add(admin, "x", "admin", None)
    with pytest.raises(NotAllowed):
        await add(house.owner, "x", "owner", None)
    with pytest.raises(NotAllowed):
        await house.accounts.set_role(admin, house.owner.id, "guest")
    with pytest.raises(NotAllowed):
        await house.accounts.set_role(house.owner, house.owner.id, "member")
    with pytest.raises(NotAllowed):
        await house.accounts.create_key(guest, "k")


async def test_a_changed_role_ends_the_sessions_that_had_the_old_one(house: House) -> None:
    member = await house.accounts.add_person(house.owner, "mo", "member", "correct horse")
    token, _ = await house.accounts.login("correct horse", "MO", HERE)

    await house.accounts.set_role(house.owner, member.id, "guest")

    assert await house.accounts.by_token(token) is None


async def test_a_removed_person_takes_their_own_agents_along(house: House) -> None:
    mo = await house.accounts.add_person(house.owner, "mo", "member", None)
    own = await house.directory.create(mo, AgentDraft(name="Own", soul="a secret"))
    shared = await house.directory.create(mo, AgentDraft(name="Shared", shared=True))

    await house.accounts.remove_person(house.owner, mo.id)
    await house.chat.dismiss(mo.id)

    left = {row.id for row in await house.store.agents.all()}
    assert shared.id in left
    assert own.id not in left
    with pytest.raises(NotFound):
        await house.directory.get(mo, own.id)
    assert (await house.directory.get(house.owner, shared.id)).name == "Shared"


async def test_a_person_without_password_cannot_log_in(house: House) -> None:
    await house.accounts.add_person(house.owner, "gus", "guest", None)

    with pytest.raises(Unauthenticated):
        await house.accounts.login("", "gus", HERE)


@pytest.mark.parametrize("password", ["short", "x" * 2000])
async def test_a_password_has_a_sensible_length(house: House, password: str) -> None:
    with pytest.raises(Invalid):
        await house.accounts.add_person(house.owner, "mo", "member", password)
