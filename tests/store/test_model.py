"""Random lives of a small house, against a model so simple that it is plainly right."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)
from msgspec import Struct, field

from teahouse.chat.ports import Conversation, Lease, Run
from teahouse.core.errors import Conflict
from teahouse.core.messages import Person
from teahouse.store.home import Store, open_store
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_house import CALLED, House


class KnownRun(Struct):
    """What the model believes of a run."""

    id: str
    turn: int
    status: str = "queued"
    attempt: int = 0
    steps: int = 0
    stop_asked: bool = False


class KnownTalk(Struct):
    talk: Conversation
    texts: list[str] = field(default_factory=list[str])  # in the order of the log
    runs: list[KnownRun] = field(default_factory=list[KnownRun])  # in the order of their turn
    sent: dict[str, str] = field(default_factory=dict[str, str])  # client id to post id

    def next_run(self) -> KnownRun | None:
        if any(run.status == "running" for run in self.runs):
            return None
        return next((run for run in self.runs if run.status == "queued"), None)


class LogMachine(RuleBasedStateMachine):
    """Receive, lease, record, finish, stop, delete; die and come back, at any moment."""

    leases = Bundle("leases")

    @initialize()
    def open_the_house(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.home = self.folder / "0"
        self.clock, self.runner, self.stack = FakeClock(), asyncio.Runner(), AsyncExitStack()
        self.known: list[KnownTalk] = []
        self._await(self._open())
        self.mei: Person = self._await(self.house.person("Mei"))
        for agents in (("a_1",), ("a_1", "a_2")):
            talk = self._await(self.house.talk(self.mei, agents=agents))
            self.known.append(KnownTalk(talk))

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self._await(self.stack.aclose())
            self.runner.close()
            shutil.rmtree(self.folder)

    @rule(which=st.integers(0, 1), client=st.sampled_from(["x", "y", None]))
    def receive(self, which: int, client: str | None) -> None:
        known = self.known[which]
        text = f"post {len(known.texts)}"
        received = self._await(self.house.say(known.talk, self.mei, text, client))
        if client is not None and client in known.sent:
            assert not received.fresh
            assert received.post.id == known.sent[client]
            return
        assert received.fresh
        if client is not None:
            known.sent[client] = received.post.id
        known.texts.append(text)
        known.runs += [KnownRun(run.id, turn=len(known.texts)) for run in received.runs]

    @rule(target=leases, limit=st.integers(1, 3))
    def lease(self, limit: int) -> object:
        expected = [run for known in self.known if (run := known.next_run())]
        leases = self._await(self.store.queue.lease(limit))
        assert len(leases) == min(limit, len(expected))
        for lease in leases:
            [run] = [run for run in expected if run.id == lease.run.id]
            run.status, run.attempt = "running", run.attempt + 1
            assert (lease.run.attempt, lease.run.stop_asked) == (run.attempt, run.stop_asked)
            assert lease.steps == (CALLED,) * run.steps
            assert lease.log[-1].id == lease.run.trigger or lease.log[-1].run is not None
        return multiple(*leases)

    @rule(lease=leases)
    def record(self, lease: Lease) -> None:
        run, _ = self._find(lease.run)
        try:
            self._await(self.store.queue.append(lease.run.id, lease.run.attempt, CALLED))
        except Conflict:
            assert not self._holds(lease)
            return
        assert self._holds(lease)
        run.steps += 1

    @rule(lease=leases)
    def finish(self, lease: Lease) -> None:
        run, known = self._find(lease.run)
        reply = self.house.reply(lease.run, f"reply {len(known.texts)}")
        queue = self.store.queue
        try:
            self._await(queue.finish(run.id, lease.run.attempt, reply, "done"))
        except Conflict:
            assert not self._holds(lease)
            return
        assert self._holds(lease)
        run.status = "done"
        known.texts.append(reply.text)

    @rule(lease=consumes(leases))
    def drop(self, lease: Lease) -> None:
        """Forget a lease without ending it: only a new start can take the run up again."""

    @rule(which=st.integers(0, 1), number=st.integers(0, 5))
    def stop(self, which: int, number: int) -> None:
        known = self.known[which]
        if number >= len(known.runs):
            return
        run = known.runs[number]
        asked = self._await(self.store.log.ask_stop(self.mei.id, run.id))
        if run.status == "running":
            run.stop_asked = True
        elif run.status == "queued":
            run.status = "stopped"
            known.texts.append("")
        assert (asked.status, asked.stop_asked) == (run.status, run.stop_asked)

    @rule(crash=st.booleans())
    def start_again(self, crash: bool) -> None:
        boot = self.store.boot
        if crash:  # what is on the disk now, without the closing that would tidy it up
            copy = self.folder / str(int(self.home.name) + 1)
            shutil.copytree(self.home, copy)
            self.home = copy
        self._await(self.stack.aclose())
        self._await(self._open())
        assert self.store.boot == boot + 1
        running = [run for known in self.known for run in known.runs if run.status == "running"]
        assert self._await(self.store.queue.recover()) == len(running)
        for run in running:
            run.status = "queued"

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        for known in getattr(self, "known", ()):
            assert self._await(self.house.texts(known.talk, self.mei)) == known.texts
            for run in known.runs:
                found = self._await(self.store.log.run(self.mei.id, run.id))
                assert (found.status, found.attempt) == (run.status, run.attempt)
                assert (found.post is not None) == (run.status in {"done", "stopped"})
                steps = self._await(self.store.log.steps(self.mei.id, run.id))
                assert len(steps) == run.steps

    async def _open(self) -> None:
        self.store: Store = await self.stack.enter_async_context(open_store(self.home, self.clock))
        self.house = House(self.store, self.clock)

    def _await(self, call):  # type: ignore[no-untyped-def]
        async def within() -> object:
            return await call

        return self.runner.run(within())

    def _find(self, run: Run) -> tuple[KnownRun, KnownTalk]:
        return next(
            (found, known) for known in self.known for found in known.runs if found.id == run.id
        )

    def _holds(self, lease: Lease) -> bool:
        run, _ = self._find(lease.run)
        return run.status == "running" and run.attempt == lease.run.attempt


@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
class TestLog(LogMachine.TestCase):
    settings = settings(
        max_examples=15,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
