"""The contract of `RunQueue`: in order, once, fenced, and taken up again after a crash."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from teahouse.core.errors import Conflict, Problem
from teahouse.core.events import Usage
from teahouse.testing.contract.store_house import CALL_RESULT, CALLED, House, OpenAgain


class QueueContract:
    async def test_runs_of_a_conversation_come_one_after_the_other_in_order(
        self, house: House
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei, agents=("a_1", "a_2"))
        first, second = await house.say(talk, mei, "one"), await house.say(talk, mei, "two")
        expected = [*first.runs, *second.runs]

        for run in expected:
            leases = await house.store.queue.lease(10)
            assert [lease.run.id for lease in leases] == [run.id]
            assert await house.store.queue.lease(10) == ()
            await house.answer(leases[0], "yes")
        assert await house.store.queue.lease(10) == ()

    async def test_conversations_do_not_wait_for_one_another(self, house: House) -> None:
        mei = await house.person()
        runs = [(await house.say(await house.talk(mei), mei, "hi")).runs[0] for _ in range(3)]

        first = await house.store.queue.lease(2)
        rest = await house.store.queue.lease(2)

        assert [lease.run.id for lease in (*first, *rest)] == [run.id for run in runs]
        assert {lease.run.attempt for lease in first} == {1}
        assert {lease.run.status for lease in rest} == {"running"}

    async def test_it_tells_how_many_runs_wait_and_not_those_at_work_or_ended(
        self, house: House
    ) -> None:
        mei = await house.person()
        for _ in range(3):
            await house.say(await house.talk(mei), mei, "hi")
        counts = [await house.store.queue.waiting()]
        leases = await house.store.queue.lease(2)
        counts.append(await house.store.queue.waiting())
        await house.answer(leases[0], "yes")
        counts.append(await house.store.queue.waiting())

        assert counts == [3, 1, 1]

    async def test_no_run_is_leased_twice_by_many_at_once(self, house: House) -> None:
        mei = await house.person()
        for _ in range(12):
            await house.say(await house.talk(mei), mei, "hi")
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(house.store.queue.lease(2)) for _ in range(10)]

        taken = [lease.run.id for task in tasks for lease in task.result()]
        assert len(taken) == len(set(taken)) == 12

    async def test_a_lease_shows_each_answer_after_its_question_and_nothing_later(
        self, house: House
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei, agents=("a_1", "a_2"))
        await house.say(talk, mei, "one")
        await house.say(talk, mei, "two")
        seen: list[list[str]] = []
        for answer in ("1a", "1b", "2a", "2b"):
            [lease] = await house.store.queue.lease(1)
            seen.append([post.text for post in lease.log])
            await house.answer(lease, answer)

        assert seen == [
            ["one"],
            ["one", "1a"],
            ["one", "1a", "1b", "two"],
            ["one", "1a", "1b", "two", "2a"],
        ]
        assert await house.texts(talk, mei) == ["one", "two", "1a", "1b", "2a", "2b"]

    async def test_finishing_ends_the_run_and_moves_the_head(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        said = await house.say(talk, mei, "question")
        [lease] = await house.store.queue.lease(1)
        reply = structs.replace(
            house.reply(lease.run, "so far", "failed"),
            problem=Problem(code="internal", message="Broken.", values={"a": "b"}),
            usage=Usage(input=5, output=2, cached=1, estimated=True),
        )

        stored = await house.store.queue.finish(lease.run.id, 1, reply, "failed")

        assert stored == structs.replace(reply, parent=said.post.id)
        assert await house.store.log.post(mei.id, reply.id) == stored
        run = await house.store.log.run(mei.id, lease.run.id)
        assert (run.status, run.post, run.usage) == ("failed", reply.id, reply.usage)
        assert run.problem == reply.problem
        assert run.started_at is not None
        assert run.ended_at is not None
        found = await house.store.log.conversation(mei.id, talk.id)
        assert (found.head, found.posts) == (reply.id, 2)
        assert found.last is not None
        assert found.last.text == "so far"

    async def test_a_conversation_tells_which_runs_are_still_to_end(self, house: House) -> None:
        mei = await house.person()
        talk, other = await house.talk(mei), await house.talk(mei)
        first, second = await house.say(talk, mei, "one"), await house.say(talk, mei, "two")
        [lease] = await house.store.queue.lease(1)

        async def open_runs() -> dict[str, tuple[str, ...]]:
            page = await house.store.log.conversations(mei.id, before=None, limit=10)
            return {found.id: found.open_runs for found in page.items}

        both = (first.runs[0].id, second.runs[0].id)
        assert await open_runs() == {talk.id: both, other.id: ()}
        await house.answer(lease, "answer")
        assert (await open_runs())[talk.id] == both[1:]
        assert (await house.store.log.conversation(mei.id, talk.id)).open_runs == both[1:]

    async def test_a_run_ends_once(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        await house.say(talk, mei, "question")
        [lease] = await house.store.queue.lease(1)
        await house.answer(lease, "answer")

        with pytest.raises(Conflict):
            await house.answer(lease, "answer again")
        with pytest.raises(Conflict):
            await house.store.queue.append(lease.run.id, 1, CALLED)
        assert await house.texts(talk, mei) == ["question", "answer"]

    async def test_a_run_that_a_crash_cut_is_taken_up_with_its_steps(
        self, house: House, open_again: OpenAgain
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        await house.say(talk, mei, "question")
        [lease] = await house.store.queue.lease(1)
        for step in (CALLED, CALL_RESULT):
            await house.store.queue.append(lease.run.id, lease.run.attempt, step)

        async with open_again() as store:
            assert store.boot > house.store.boot
            assert await store.queue.lease(1) == ()
            assert await store.queue.recover() == 1
            assert await store.queue.recover() == 0
            [again] = await store.queue.lease(1)
            assert again.run.attempt == 2
            assert again.steps == (CALLED, CALL_RESULT)
            assert await store.log.steps(mei.id, lease.run.id) == [CALLED, CALL_RESULT]
            assert again.run.started_at == lease.run.started_at
            assert again.log == lease.log

    async def test_a_stale_attempt_can_neither_record_nor_finish(
        self, house: House, open_again: OpenAgain
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        await house.say(talk, mei, "question")
        [old] = await house.store.queue.lease(1)

        async with open_again() as store:
            await store.queue.recover()
            late = House(store, house.clock)
            with pytest.raises(Conflict):  # it is queued: nobody may write
                await late.answer(old, "too late")
            [new] = await store.queue.lease(1)
            with pytest.raises(Conflict):
                await store.queue.append(old.run.id, old.run.attempt, CALLED)
            with pytest.raises(Conflict):
                await late.answer(old, "too late")
            await late.answer(new, "in time")
            assert await late.texts(talk, mei) == ["question", "in time"]
            assert await store.log.steps(mei.id, old.run.id) == []

    async def test_recovery_leaves_runs_of_this_start_and_ended_ones_alone(
        self, house: House, open_again: OpenAgain
    ) -> None:
        mei = await house.person()
        ended, running = await house.talk(mei), await house.talk(mei)
        await house.say(ended, mei, "a")
        [lease] = await house.store.queue.lease(1)
        await house.answer(lease, "b")
        await house.say(running, mei, "c")
        [lease] = await house.store.queue.lease(1)
        assert await house.store.queue.recover() == 0
        await house.store.log.ask_stop(mei.id, lease.run.id)

        async with open_again() as store:
            assert await store.queue.recover() == 1
            [again] = await store.queue.lease(9)
            assert (again.run.id, again.run.stop_asked) == (lease.run.id, True)

    async def test_stopping_a_run_that_waits_to_be_taken_up_again_keeps_its_finished_steps(
        self, house: House, open_again: OpenAgain
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        await house.say(talk, mei, "question")
        [lease] = await house.store.queue.lease(1)
        for step in (CALLED, CALL_RESULT):
            await house.store.queue.append(lease.run.id, lease.run.attempt, step)

        async with open_again() as store:
            await store.queue.recover()
            stopped = await store.log.ask_stop(mei.id, lease.run.id)
            post = await store.log.post(mei.id, stopped.post or "")

            assert (stopped.status, post.ending) == ("stopped", "stopped")
            assert post.parts == (*CALLED.message.parts, CALL_RESULT.result)
            assert post.usage == stopped.usage == CALLED.usage

    async def test_the_run_of_a_deleted_conversation_cannot_go_on(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        await house.say(talk, mei, "question")
        [lease] = await house.store.queue.lease(1)
        await house.store.log.delete(mei.id, talk.id)

        with pytest.raises(Conflict):
            await house.store.queue.append(lease.run.id, 1, CALLED)
        with pytest.raises(Conflict):
            await house.answer(lease, "into the void")
