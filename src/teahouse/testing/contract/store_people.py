"""The contract of `People`, `Agents` and `Secrets`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from teahouse.chat.ports import ApiKey, LoginSession
from teahouse.core.errors import Conflict, NotFound
from teahouse.core.messages import Person
from teahouse.testing.contract.store_house import House, Kept, OpenAgain


class PeopleContract:
    async def test_people_are_found_again(self, house: House, open_again: OpenAgain) -> None:
        mei = await house.person("Mei", "owner")
        liu = await house.person("刘 Liu", "guest")

        async with open_again() as store:
            assert await store.people.all() == [mei, liu]
            assert await store.people.get(liu.id) == liu

    async def test_a_name_that_reads_alike_is_taken(self, house: House) -> None:
        await house.person("Mei Lin")

        for name in ("mei lin", "ＭＥＩ  LIN ", "MEI LIN"):
            with pytest.raises(Conflict) as caught:
                await house.person(name)
            assert caught.value.code == "name_taken"

    async def test_a_person_can_take_another_free_name(self, house: House) -> None:
        mei = await house.person("Mei")
        await house.person("Liu")

        renamed = await house.store.people.rename(mei.id, "MEI")

        assert renamed == structs.replace(mei, name="MEI")
        with pytest.raises(Conflict):
            await house.store.people.rename(mei.id, "liu")
        with pytest.raises(NotFound):
            await house.store.people.rename("u_unknown", "Bo")
        assert await house.store.people.get(mei.id) == renamed

    async def test_there_is_one_owner(self, house: House) -> None:
        await house.person("Mei", "owner")
        liu = await house.person("Liu", "admin")

        with pytest.raises(Conflict) as caught:
            await house.person("Bo", "owner")
        assert caught.value.code == "owner_exists"
        with pytest.raises(Conflict):
            await house.store.people.set_role(liu.id, "owner")
        assert [person.name for person in await house.store.people.all()] == ["Mei", "Liu"]

    async def test_a_change_of_rights_ends_every_session(self, house: House) -> None:
        people = house.store.people
        mei, liu = await house.person("Mei"), await house.person("Liu")
        for person, token in ((mei, b"1"), (liu, b"2")):
            await people.add_session(session_of(house, person, token))

        changed = await people.set_password(mei.id, "argon")
        assert changed == structs.replace(mei, epoch=2)
        assert await people.password_hash(mei.id) == "argon"
        assert await people.session(b"1") is None
        assert await people.session(b"2") is not None

        changed = await people.set_role(liu.id, "admin")
        assert changed == structs.replace(liu, role="admin", epoch=2)
        assert await people.session(b"2") is None
        fresh = session_of(house, changed, b"3")
        await people.add_session(fresh)
        assert await people.session(b"3") == (fresh, changed)

    async def test_a_session_ends_by_logout_and_by_time(self, house: House) -> None:
        people = house.store.people
        mei = await house.person()
        await people.add_session(session_of(house, mei, b"1"))
        await people.add_session(session_of(house, mei, b"2", lasts_s=-1))

        assert await people.session(b"2") is None
        await people.end_session(b"1")
        await people.end_session(b"1")
        assert await people.session(b"1") is None

    async def test_a_key_belongs_to_its_person(self, house: House) -> None:
        people = house.store.people
        mei, liu = await house.person("Mei"), await house.person("Liu")
        key = ApiKey(
            id="k_1",
            name="cron",
            key_hash=b"\x00\xff",
            person=mei.id,
            created_at=house.clock.now(),
        )
        await people.add_key(key)

        found = await people.key(b"\x00\xff")
        assert found == (key, mei)
        assert await people.key(b"\x00") is None
        [listed] = await people.keys(mei.id)
        assert listed.last_used_at is not None
        assert await people.keys(liu.id) == []
        with pytest.raises(NotFound):
            await people.remove_key(liu.id, "k_1")
        await people.remove_key(mei.id, "k_1")
        assert await people.key(b"\x00\xff") is None

    async def test_a_key_keeps_its_scopes_and_may_get_other_limits(self, house: House) -> None:
        people = house.store.people
        mei, liu = await house.person("Mei"), await house.person("Liu")
        key = ApiKey(
            id="k_1",
            name="bot",
            key_hash=b"1",
            person=mei.id,
            created_at=house.clock.now(),
            scopes=("agent/Tea 师傅", "openai/*"),
            budget=0.25,
            rate=60,
            concurrent=4,
        )
        await people.add_key(key)
        assert await people.keys(mei.id) == [key]

        changed = structs.replace(key, name="bot 2", budget=None, rate=1, concurrent=None)
        await people.replace_key(structs.replace(changed, scopes=()))

        assert await people.keys(mei.id) == [changed]
        with pytest.raises(NotFound):
            await people.replace_key(structs.replace(changed, person=liu.id))
        assert await people.keys(mei.id) == [changed]

    async def test_a_removed_person_takes_along_what_was_theirs_alone(
        self, house: House, kept: Kept
    ) -> None:
        people = house.store.people
        mei, liu = await house.person("Mei"), await house.person("Liu")
        own, shared = await house.talk(mei), await house.talk(mei, liu)
        await house.say(own, mei, "Oolong-9021")
        await house.say(shared, mei, "Bancha-5150")
        await people.add_session(session_of(house, mei, b"1"))

        await people.remove(mei.id)

        assert await people.session(b"1") is None
        assert await people.all() == [liu]
        assert not kept(b"Oolong-9021")
        assert await house.texts(shared, liu) == ["Bancha-5150"]
        assert (await house.store.log.conversation(liu.id, shared.id)).people == (liu.id,)
        for attempt in (
            people.get(mei.id),
            people.remove(mei.id),
            people.password_hash(mei.id),
            people.set_password(mei.id, "x"),
            people.set_role(mei.id, "guest"),
            house.store.log.conversation(mei.id, shared.id),
        ):
            with pytest.raises(NotFound):
                await attempt

    async def test_agents_are_kept_and_changed(self, house: House, open_again: OpenAgain) -> None:
        mei = await house.person()
        agents = house.store.agents
        first, second = house.agent(mei, "Ada"), house.agent(mei, "Bo")
        await agents.add(first)
        await agents.add(second)
        changed = structs.replace(
            first, name="Ada 2", model="fake/fake", temperature=0.25, shared=False, hue=9
        )
        await agents.replace(changed)
        await agents.remove(second.id)

        for attempt in (
            agents.get(second.id),
            agents.remove(second.id),
            agents.replace(second),
        ):
            with pytest.raises(NotFound):
                await attempt
        async with open_again() as store:
            assert await store.agents.all() == [changed]
            assert await store.agents.get(first.id) == changed

    async def test_an_owner_has_one_unarchived_agent_of_a_name(self, house: House) -> None:
        mei, liu = await house.person("Mei"), await house.person("Liu")
        agents = house.store.agents
        first = house.agent(mei, "Ada")
        await agents.add(first)
        await agents.add(house.agent(liu, "Ada"))
        with pytest.raises(Conflict):
            await agents.add(house.agent(mei, " ADA"))

        await agents.replace(structs.replace(first, archived=True))
        await agents.add(house.agent(mei, "Ada"))
        with pytest.raises(Conflict):
            await agents.replace(first)

    async def test_secrets_are_sealed(
        self, house: House, open_again: OpenAgain, kept: Kept
    ) -> None:
        secrets = house.store.secrets
        await secrets.put("provider/a", "sk-first-8812")
        await secrets.put("provider/a", "sk-密钥-8813")
        await secrets.put("provider/b", "")

        async with open_again() as store:
            assert await store.secrets.get("provider/a") == "sk-密钥-8813"
            assert await store.secrets.get("provider/b") == ""
            assert await store.secrets.get("provider/c") is None
            await store.secrets.remove("provider/a")
            await store.secrets.remove("provider/a")
            assert await store.secrets.get("provider/a") is None
            assert not kept(b"-8812")
            assert not kept(b"-8813")


def session_of(
    house: House, person: Person, token: bytes, *, lasts_s: float = 3600
) -> LoginSession:
    now = house.clock.now()
    return LoginSession(
        token_hash=token,
        person=person.id,
        epoch=person.epoch,
        created_at=now,
        expires_at=now + timedelta(seconds=lasts_s),
    )
