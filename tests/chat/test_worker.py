"""The worker between a queue that fails and people who change their minds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from teahouse.agent.directory import AgentChanges
from teahouse.agent.participant import (
    Journal,
    Participant,
    Reply,
    ReplyStep,
    ResultStep,
    Step,
    Turn,
)
from teahouse.chat.ports import Lease, RunQueue, RunStatus
from teahouse.core.bus import Frame
from teahouse.core.codec import decode_envelope
from teahouse.core.errors import HomeInUse, NotFound, StorageFull
from teahouse.core.events import Emit, Event, Usage
from teahouse.core.messages import Message, Post, Text, ToolCall, ToolResult

from .conftest import Actor, House, open_house

pytestmark = pytest.mark.anyio


class FaultyQueue(RunQueue):
    """The store's own queue, which raises `errors` first, and lets a lease through only when
    `open`."""

    def __init__(self, inner: RunQueue) -> None:
        self._inner = inner
        self.lease_errors: list[Exception] = []
        self.finish_errors: list[Exception] = []
        self.leased = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def recover(self) -> int:
        return await self._inner.recover()

    async def lease(self, limit: int, /) -> Sequence[Lease]:
        if self.lease_errors:
            raise self.lease_errors.pop()
        leases = await self._inner.lease(limit)
        if leases:
            self.leased.set()
            await self.open.wait()
        return leases

    async def waiting(self) -> int:
        return await self._inner.waiting()

    async def append(self, run: str, attempt: int, step: Step, /) -> None:
        await self._inner.append(run, attempt, step)

    async def finish(self, run: str, attempt: int, post: Post, status: RunStatus, /) -> Post:
        if self.finish_errors:
            raise self.finish_errors.pop()
        return await self._inner.finish(run, attempt, post, status)


class Waiting:
    """An agent that answers when it is let."""

    def __init__(self) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def act(self, turn: Turn, journal: Journal, emit: Emit) -> Reply:
        self.begun.set()
        await self.go_on.wait()
        return Reply(parts=(Text(text="done"),), ending="stop", usage=Usage())


def opened(home: Path) -> tuple[list[FaultyQueue], AbstractAsyncContextManager[House]]:
    made: list[FaultyQueue] = []

    def wrap(queue: RunQueue) -> RunQueue:
        made.append(FaultyQueue(queue))
        return made[0]

    return made, open_house(home / "home", Actor(), wrap)


async def test_a_queue_that_fails_cuts_no_run_at_work(tmp_path: Path) -> None:
    made, house_opened = opened(tmp_path)
    async with house_opened as house, asyncio.timeout(20):
        agent = Waiting()
        house.actor.act = agent.act
        first = await house.say("one")
        await agent.begun.wait()

        made[0].lease_errors += [StorageFull("storage_full"), OSError("a bug")]
        second = await house.say("two")
        while made[0].lease_errors:
            house.worker.wake()
            await asyncio.sleep(0)
        agent.go_on.set()

        assert len(await house.ended(first)) == 1
        house.worker.wake()
        assert len(await house.ended(second)) == 1
        assert len(house.actor.turns) == 2


async def test_an_answer_waits_while_another_program_holds_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teahouse.chat.worker.RETRY_WRITE_S", 0)
    made, house_opened = opened(tmp_path)
    async with house_opened as house:
        made[0].finish_errors += [HomeInUse("home_locked"), StorageFull("storage_full")]

        received = await house.say("hello")
        await house.ended(received)

        page = await house.chat.posts(house.owner, received.post.conversation)
        assert [post.text for post in page.items] == ["hello", "echo: hello"]


class Hidden(Actor):
    """Cannot be found for as long as it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.sought = asyncio.Event()

    async def find(self, participant: str, /, *, person: str, model: str | None) -> Participant:
        self.sought.set()
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("steps", [1, 2])
async def test_what_was_recorded_stays_when_a_run_is_stopped_before_its_agent_is_there(
    tmp_path: Path, steps: int
) -> None:
    call = ToolCall(id="k", name="dig", arguments={})
    told = ToolResult(call="k", content=(Text(text="gold"),))
    message = Message(role="assistant", parts=(call,))
    recorded: list[Step] = [
        ReplyStep(message=message, reason="tool_calls", usage=Usage(output=3), model="m"),
        ResultStep(result=told),
    ][:steps]
    reached = asyncio.Event()

    async def dig(turn: Turn, journal: Journal, emit: Emit) -> Reply:
        for step in recorded:
            await journal.append(step)
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    actor = Actor()
    actor.act = dig
    async with open_house(tmp_path, actor) as house, asyncio.timeout(20):
        received = await house.say("dig")
        await reached.wait()

    hidden = Hidden()
    async with open_house(tmp_path, hidden) as house, asyncio.timeout(20):
        await hidden.sought.wait()
        run = await house.chat.stop(house.owner, received.runs[0].id)
        page = await house.chat.posts(house.owner, received.post.conversation)

    assert run.status == "stopped"
    assert page.items[-1].parts == (call, told)[:steps]
    assert run.usage == Usage(output=3)


async def test_a_stop_comes_back_though_its_ending_cannot_be_written_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teahouse.chat.worker.RETRY_WRITE_S", 0.01)
    monkeypatch.setattr("teahouse.chat.worker.STOP_S", 0.05)
    made, house_opened = opened(tmp_path)
    async with house_opened as house, asyncio.timeout(20):
        waiting = Waiting()
        house.actor.act = waiting.act
        received = await house.say("one")
        await waiting.begun.wait()
        made[0].finish_errors += [StorageFull("storage_full")] * 10_000

        run = await house.chat.stop(house.owner, received.runs[0].id)
        assert (run.status, run.stop_asked) == ("running", True)

        made[0].finish_errors.clear()
        await house.ended(received)
        assert (await house.chat.run(house.owner, run.id)).status == "stopped"


async def test_a_stop_that_meets_a_run_as_it_is_leased_is_not_lost(tmp_path: Path) -> None:
    made, house_opened = opened(tmp_path)
    async with house_opened as house, asyncio.timeout(20):
        house.actor.act = Waiting().act
        made[0].open.clear()
        received = await house.say("one")
        await made[0].leased.wait()

        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(house.chat.stop(house.owner, received.runs[0].id))
            while not (await house.chat.run(house.owner, received.runs[0].id)).stop_asked:
                await asyncio.sleep(0)
            made[0].open.set()

        assert stopping.result().status == "stopped"


async def test_a_second_stop_tells_nothing_again(house: House) -> None:
    waiting = Waiting()
    house.actor.act = waiting.act
    first = await house.say("one")
    where = first.post.conversation
    await waiting.begun.wait()
    queued = await house.say("two", conversation=where)
    await house.chat.stop(house.owner, queued.runs[0].id)
    told: list[Frame] = []
    subscription, _ = await house.chat.subscribe(house.owner, where, told.extend, after=None)

    again = await house.chat.stop(house.owner, queued.runs[0].id)

    assert again.status == "stopped"
    assert not told
    subscription.close()
    waiting.go_on.set()


async def test_deleting_a_conversation_ends_what_is_at_work_in_it(house: House) -> None:
    waiting = Waiting()
    house.actor.act = waiting.act
    received = await house.say("a secret")
    where = received.post.conversation
    await waiting.begun.wait()
    await house.say("another one", conversation=where)

    async with asyncio.timeout(10):
        await house.chat.delete(house.owner, where)

    _, remembered = house.bus.subscribe(where, lambda _: None, after=0)
    assert len(told_in(remembered)) == 1, "nothing of it is left to be told"
    assert not house.bus.running(where)
    assert len(house.actor.turns) == 1
    with pytest.raises(NotFound):
        await house.chat.run(house.owner, received.runs[0].id)


async def test_what_is_at_work_for_somebody_who_is_removed_is_cut(house: House) -> None:
    waiting = Waiting()
    house.actor.act = waiting.act
    await house.directory.change(house.owner, house.agent, AgentChanges(shared=True))
    mei = await house.accounts.add_person(house.owner, "mei", "member", None)
    received = await house.chat.receive(mei, text="hello", agent=house.agent)
    await waiting.begun.wait()

    await house.accounts.remove_person(house.owner, mei.id)
    async with asyncio.timeout(10):
        await house.chat.dismiss(mei.id)

    assert not house.bus.running(received.post.conversation)


def told_in(frames: Sequence[Frame]) -> list[Event]:
    return [decode_envelope(frame.data).event for frame in frames]
