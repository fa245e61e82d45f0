"""The contract of `Approvals`: asked once, answered once, used once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from teahouse.agent.permission import Grant
from teahouse.agent.ports import ApprovalRecord
from teahouse.core.errors import Conflict, NotFound
from teahouse.core.ids import new_id
from teahouse.core.messages import Person
from teahouse.testing.contract.store_house import House


async def question(house: House, person: Person, call: str = "k_1") -> ApprovalRecord:
    """A run of this person's that asks."""
    agent = house.agent(person, new_id("name"))
    await house.store.agents.add(agent)
    talk = await house.talk(person, agents=(agent.id,))
    [run] = (await house.say(talk, person, "go")).runs
    now = house.clock.now()
    return ApprovalRecord(
        id=new_id("ap"),
        run=run.id,
        conversation=talk.id,
        agent=agent.id,
        person=person.id,
        call=call,
        turn=0,
        tool="send",
        arguments={"to": "梅", "n": [1, None]},
        effect="external",
        reason="external",
        words=("send", "梅"),
        state="asked",
        asked_at=now,
        expires_at=now + timedelta(hours=1),
    )


def grant_on(asked: ApprovalRecord, **fields: object) -> Grant:
    return Grant(
        id=new_id("g"),
        agent=asked.agent,
        person=asked.person,
        tool=asked.tool,
        created_at=asked.asked_at,
        **fields,  # type: ignore[arg-type]
    )


class ApprovalsContract:
    async def test_a_question_of_one_call_is_kept_once(self, house: House) -> None:
        mei = await house.person()
        asked = await question(house, mei)
        approvals = house.store.approvals

        assert await approvals.ask(asked) == asked
        assert await approvals.ask(structs.replace(asked, id="ap_other", arguments={})) == asked
        assert await approvals.of_call(asked.run, "k_1", 0) == asked
        assert await approvals.of_call(asked.run, "k_1", 1) is None
        assert await approvals.get(mei.id, asked.id) == asked

    async def test_the_first_answer_counts_and_brings_its_grant(self, house: House) -> None:
        mei, approvals = await house.person(), house.store.approvals
        asked = await approvals.ask(await question(house, mei))
        grant = grant_on(asked, arguments=asked.arguments)

        granted = await approvals.answer(mei.id, asked.id, "granted", grant=grant)
        assert (granted.state, granted.decided_by) == ("granted", mei.id)
        with pytest.raises(Conflict) as again:
            await approvals.answer(mei.id, asked.id, "denied", grant=None)
        assert again.value.code == "approval_answered"
        assert await approvals.get(mei.id, asked.id) == granted
        assert await approvals.grants(mei.id) == [grant]
        assert await approvals.grants(mei.id, asked.agent) == [grant]
        assert await approvals.grants(mei.id, "a_other") == []

    async def test_a_granted_call_is_used_once_and_no_other(self, house: House) -> None:
        mei, approvals = await house.person(), house.store.approvals
        asked = await approvals.ask(await question(house, mei))

        assert not await approvals.use(asked.id)
        await approvals.answer(mei.id, asked.id, "granted", grant=None)
        assert await approvals.use(asked.id)
        assert not await approvals.use(asked.id)

    async def test_a_question_is_over_with_its_time(self, house: House) -> None:
        mei, approvals = await house.person(), house.store.approvals
        asked = await question(house, mei)
        late = await approvals.ask(structs.replace(asked, expires_at=asked.asked_at))

        assert (await approvals.get(mei.id, late.id)).state == "expired"
        assert await approvals.all(mei.id, state="asked", run=None, limit=9) == []
        [listed] = await approvals.all(mei.id, state="expired", run=late.run, limit=9)
        assert listed.id == late.id
        with pytest.raises(Conflict) as over:
            await approvals.answer(mei.id, late.id, "granted", grant=None)
        assert over.value.code == "approval_expired"
        assert (await approvals.expire(late.id)).state == "expired"

    async def test_what_others_are_asked_and_gave_is_not_there(self, house: House) -> None:
        mei, lin = await house.person(), await house.person("Lin")
        approvals = house.store.approvals
        asked = await approvals.ask(await question(house, mei))
        grant = grant_on(asked)
        await approvals.answer(mei.id, asked.id, "granted", grant=grant)

        assert await approvals.all(lin.id, state=None, run=asked.run, limit=9) == []
        assert await approvals.grants(lin.id) == []
        for attempt in (
            approvals.get(lin.id, asked.id),
            approvals.answer(lin.id, asked.id, "denied", grant=None),
            approvals.remove_grant(lin.id, grant.id),
        ):
            with pytest.raises(NotFound):
                await attempt
        await approvals.remove_grant(mei.id, grant.id)
        assert await approvals.grants(mei.id) == []

    async def test_a_grant_ends_with_its_time(self, house: House) -> None:
        mei, approvals = await house.person(), house.store.approvals
        asked = await approvals.ask(await question(house, mei))
        grant = grant_on(asked, until=asked.asked_at)
        await approvals.answer(mei.id, asked.id, "granted", grant=grant)

        assert await approvals.grants(mei.id) == []

    async def test_a_question_is_over_with_its_run_and_gone_with_its_conversation(
        self, house: House
    ) -> None:
        mei, approvals = await house.person(), house.store.approvals
        asked = await approvals.ask(await question(house, mei))
        await house.store.log.ask_stop(mei.id, asked.run)

        assert (await approvals.get(mei.id, asked.id)).state == "expired"
        await house.store.log.delete(mei.id, asked.conversation)
        with pytest.raises(NotFound):
            await approvals.get(mei.id, asked.id)
