from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from teahouse.agent.directory import AgentDraft
from teahouse.chat import accounts as accounts_module
from teahouse.chat.accounts import Accounts
from teahouse.core.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    TooManyAttempts,
    Unauthenticated,
)
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
    assert (await house.accounts.by_key(secret) or house.owner).id == house.owner.id
    assert await house.accounts.by_key(secret + "x") is None
    await house.accounts.remove_key(house.owner, key.id)
    assert await house.accounts.by_key(secret) is None


async def test_the_keys_of_one_who_becomes_a_guest_rest(house: House) -> None:
    accounts = house.accounts
    mei = await accounts.add_person(house.owner, "mei", "member", None)
    _, secret = await accounts.create_key(mei, "laptop")

    await accounts.set_role(house.owner, mei.id, "guest")
    assert await accounts.by_key(secret) is None
    await accounts.set_role(house.owner, mei.id, "member")
    assert (await accounts.by_key(secret) or house.owner).id == mei.id


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
