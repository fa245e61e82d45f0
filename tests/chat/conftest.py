"""A house with a real store, whose agents do what the test tells them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from msgspec import Struct

from teahouse.agent.directory import AgentDraft, Directory
from teahouse.agent.participant import Journal, Participant, Reply, Turn
from teahouse.chat.accounts import Accounts
from teahouse.chat.ports import Received, RunQueue
from teahouse.chat.service import Chat
from teahouse.chat.worker import Worker
from teahouse.core.bus import Bus
from teahouse.core.clock import SystemClock
from teahouse.core.events import Emit, PartDelta, PartDone, ReplyDone, Usage
from teahouse.core.messages import Person, Text
from teahouse.core.tasks import Supervisor
from teahouse.store.home import Store, open_store

Act = Callable[[Turn, Journal, Emit], Awaitable[Reply]]


async def echo(turn: Turn, journal: Journal, emit: Emit) -> Reply:
    text = Text(text=f"echo: {turn.messages[-1].text}")
    await emit([PartDelta(index=0, kind="text", delta=text.text)])
    await emit([PartDone(index=0, part=text), ReplyDone(reason="stop", usage=Usage(output=2))])
    return Reply(parts=(text,), ending="stop", usage=Usage(output=2))


class Actor:
    """An agent that acts out `act`, and keeps the turns it was given."""

    def __init__(self) -> None:
        self.act: Act = echo
        self.turns: list[Turn] = []

    async def find(self, participant: str, /, *, person: str, model: str | None) -> Participant:
        return _Bound(self)


class _Bound:
    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def respond(self, turn: Turn, journal: Journal, emit: Emit, /) -> Reply:
        self._actor.turns.append(turn)
        return await self._actor.act(turn, journal, emit)


@cache
def cheap_passwords() -> PasswordHasher:
    """Real ones at a thousandth of the cost."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class House(Struct):
    store: Store
    chat: Chat
    accounts: Accounts
    directory: Directory
    worker: Worker
    bus: Bus
    actor: Actor
    owner: Person
    agent: str

    async def say(self, text: str, **fields: str) -> Received:
        where = fields or {"agent": self.agent}
        return await self.chat.receive(self.owner, text=text, **where)  # type: ignore[arg-type]

    async def ended(self, received: Received) -> list[str]:
        """Wait for the runs to end; return their posts' ids."""
        posts: list[str] = []
        async with asyncio.timeout(10):
            for run in received.runs:
                while (found := await self.chat.run(self.owner, run.id)).post is None:
                    await asyncio.sleep(0.002)
                posts.append(found.post)
        return posts


@asynccontextmanager
async def open_house(
    home: Path, actor: Actor, wrap: Callable[[RunQueue], RunQueue] = lambda queue: queue
) -> AsyncIterator[House]:
    clock = SystemClock()
    async with open_store(home, clock) as store, Supervisor() as tasks:
        bus = Bus(clock, boot=store.boot)
        worker = Worker(wrap(store.queue), actor, bus, clock)
        directory = Directory(store.agents, home / "agents", clock)
        accounts = Accounts(store.people, clock, passwords=cheap_passwords)
        chat = Chat(store.log, store.files, directory, worker, bus=bus, clock=clock)
        if not await accounts.is_set_up():
            await accounts.set_up("correct horse")
        (owner, *_) = await store.people.all()
        agents = await directory.list(owner)
        agent = agents[0] if agents else await directory.create(owner, AgentDraft(name="Host"))
        tasks.keep("worker", worker.work)
        yield House(
            store=store,
            chat=chat,
            accounts=accounts,
            directory=directory,
            worker=worker,
            bus=bus,
            actor=actor,
            owner=owner,
            agent=agent.id,
        )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path / "home", Actor()) as opened:
        yield opened
