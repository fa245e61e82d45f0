"""Works on queued runs: leases them, lets the participant respond, writes the ending, tells all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, field, structs

from teahouse.agent.participant import (
    Journal,
    Participants,
    Reply,
    ReplyStep,
    ResultStep,
    Step,
    Turn,
)
from teahouse.chat.perspective import project
from teahouse.chat.ports import Lease, Run, RunQueue, RunStatus
from teahouse.chat.story import ending, replay, used
from teahouse.core.bus import Bus
from teahouse.core.clock import Clock
from teahouse.core.errors import (
    Conflict,
    HomeInUse,
    NotFound,
    Problem,
    StorageFull,
    TeahouseError,
)
from teahouse.core.events import (
    ReplyDone,
    RunEvent,
    StreamStart,
    ToolFinished,
    unfinished,
)
from teahouse.core.ids import new_id
from teahouse.core.messages import Ending, PersonId, Post, RunId
from teahouse.core.tasks import Supervisor
from teahouse.llm.usage import Caller

log = logging.getLogger(__name__)

AT_ONCE = 16  # runs of one process
LOOK_AGAIN_S = 5.0  # a safety net: every change of the queue also wakes the worker
RETRY_WRITE_S = 2.0
STOP_S = 10.0


class _Live(Struct):
    """A run at work here for `person`. `turn` is what a stop may cut: None before and after it."""

    person: PersonId
    turn: asyncio.Task[None] | None = None
    stopping: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Worker:
    """`after_run` is told of each run that ended; its work happens outside of the run."""

    def __init__(
        self,
        queue: RunQueue,
        participants: Participants,
        bus: Bus,
        clock: Clock,
        *,
        after_run: Callable[[Run, Post], None] | None = None,
    ) -> None:
        self._queue, self._participants = queue, participants
        self._bus, self._clock, self._after_run = bus, clock, after_run
        self._live: dict[RunId, _Live] = {}
        self._leasing = asyncio.Lock()
        self._more = asyncio.Event()

    async def counts(self) -> Mapping[str, int]:
        """Of the runs that have not ended, by their status."""
        return {"queued": await self._queue.waiting(), "running": len(self._live)}

    def wake(self) -> None:
        """Say that the queue may hold work."""
        self._more.set()

    async def stop(self, run: RunId) -> None:
        """Cut a run that is at work here and wait until its ending is written, or for a while:
        on a full disk that may take until somebody makes room."""
        async with self._leasing:  # one that is being leased will be at work in a moment
            live = self._live.get(run)
        if live is None:
            return
        live.stopping = True
        if live.turn is not None:
            live.turn.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await live.ended.wait()

    async def stop_for(self, person: PersonId) -> None:
        """Cut all that is at work here for somebody."""
        async with self._leasing:
            theirs = [run for run, live in self._live.items() if live.person == person]
        for run in theirs:
            await self.stop(run)

    async def work(self) -> None:
        """Work for ever. What a dead process left running is taken up first."""
        recovered = await self._queue.recover()
        if recovered:
            log.warning("Taking up %d runs that were cut by the last stop", recovered)
        async with Supervisor() as tasks:
            while True:
                self._more.clear()
                try:
                    await self._begin(tasks)
                except Exception:  # the runs at work must not suffer: it is looked for again
                    log.exception("No work could be taken from the queue")
                try:
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await self._more.wait()
                except TimeoutError:
                    pass

    async def work_when_woken(self) -> None:
        """As `work`, but what a dead process left running waits until somebody says something: a
        command that only looks must not ask a model, and cut the answer again when it ends."""
        await self._more.wait()
        await self.work()

    async def _begin(self, tasks: Supervisor) -> None:
        free = AT_ONCE - len(self._live)
        async with self._leasing:
            for lease in await self._queue.lease(free) if free else ():
                live = self._live[lease.run.id] = _Live(person=lease.run.person)
                tasks.start(f"run {lease.run.id}", self._run(lease, live))

    async def _run(self, lease: Lease, live: _Live) -> None:
        run = lease.run
        try:
            await self._take_turn(lease, live)
        except Conflict:
            log.warning("Run %s was taken up elsewhere; this attempt ends silently", run.id)
        except NotFound:
            log.info("Run %s ends without a trace: its conversation is gone", run.id)
        finally:
            del self._live[run.id]
            self._bus.drop(run.conversation, run.id)  # nothing where its end was told
            live.ended.set()
            self.wake()

    async def _take_turn(self, lease: Lease, live: _Live) -> None:
        run, story, begun = lease.run, list[RunEvent](), self._clock.monotonic()
        journal = _Journal(self._queue, run, lease.steps)
        start = StreamStart(author=run.participant, attempt=run.attempt)

        async def emit(events: Sequence[RunEvent]) -> None:
            story.extend(events)
            self._bus.publish(run.conversation, run.id, events)

        async def cut(why: Ending, problem: Problem | None = None) -> Reply:
            recorded = sum(isinstance(step, ReplyStep) for step in lease.steps)
            if sum(isinstance(event, ReplyDone) for event in story) < recorded:
                story.clear()  # cut before the participant had shown what was recorded
                await emit([start, *replay(lease.steps)])
            await emit(journal.untold(story))
            return _cut(story, why, problem)

        await emit([start])
        if run.stop_asked or live.stopping:
            await self._finish(run, await cut("stopped"), begun)
            return
        live.turn = asyncio.current_task()
        try:
            reply = await self._respond(lease, journal, emit)
        except asyncio.CancelledError:
            if not live.stopping:
                raise  # the house closes: the next start takes the run up from its journal
            reply = await cut("stopped")
        except TeahouseError as error:
            reply = await cut("failed", error.problem())
        except Exception:  # a participant may hold foreign code; its bug ends the run alone
            log.exception("Run %s broke", run.id)
            reply = await cut("failed", TeahouseError("internal").problem())
        finally:
            live.turn = None  # the ending is written whole, whoever presses stop now
        await self._finish(run, reply, begun)

    async def _respond(
        self,
        lease: Lease,
        journal: Journal,
        emit: Callable[[Sequence[RunEvent]], Awaitable[None]],
    ) -> Reply:
        run = lease.run
        participant = await self._participants.find(
            run.participant, person=run.person, model=run.model
        )
        turn = Turn(
            run=run.id,
            conversation=run.conversation,
            person=run.person,
            messages=project(lease.log, run.participant),
            steps=lease.steps,
            caller=Caller(key=run.key, allowance=run.allowance),
        )
        return await participant.respond(turn, journal, emit)

    async def _finish(self, run: Run, reply: Reply, begun: float) -> None:
        post = Post(
            id=new_id("p"),
            conversation=run.conversation,
            parent=None,
            author=run.participant,
            parts=reply.parts,
            at=self._clock.now(),
            reply_to=None,
            run=run.id,
            ending=reply.ending,
            problem=reply.problem,
            usage=reply.usage,
            elapsed_ms=round((self._clock.monotonic() - begun) * 1000),
        )
        status = _STATUS.get(reply.ending, "done")
        stored = await self._write(run, post, status)
        ended = structs.replace(run, status=status, post=stored.id, usage=reply.usage)
        self._bus.publish(run.conversation, run.id, ending(ended, stored))
        if self._after_run is not None:
            self._after_run(ended, stored)

    async def _write(self, run: Run, post: Post, status: RunStatus) -> Post:
        """Write the ending. While the store takes nothing the answer is kept here, and tried again:
        the disk is full, or another program holds the database."""
        while True:
            try:
                return await self._queue.finish(run.id, run.attempt, post, status)
            except (StorageFull, HomeInUse) as error:
                log.error("The answer of run %s waits in memory: %s", run.id, error)
                await asyncio.sleep(RETRY_WRITE_S)


class _Journal(Journal):
    """Keeps in mind which tool calls are finished: a stop may fall between a result's record and
    its event, and what is finished must not be told as interrupted later."""

    def __init__(self, queue: RunQueue, run: Run, steps: Sequence[Step]) -> None:
        self._queue, self._run = queue, run
        self._finished = [_finished(step) for step in steps if isinstance(step, ResultStep)]

    async def append(self, step: Step, /) -> None:
        if isinstance(step, ResultStep):
            self._finished.append(_finished(step))
        await self._queue.append(self._run.id, self._run.attempt, step)

    def untold(self, story: Sequence[RunEvent]) -> list[RunEvent]:
        told = {event.result.call for event in story if isinstance(event, ToolFinished)}
        return [event for event in self._finished if event.result.call not in told]


def _finished(step: ResultStep) -> ToolFinished:
    return ToolFinished(result=step.result, elapsed_ms=step.elapsed_ms)


_STATUS: dict[Ending, RunStatus] = {"failed": "failed", "stopped": "stopped"}


def _cut(story: Sequence[RunEvent], why: Ending, problem: Problem | None = None) -> Reply:
    return Reply(parts=unfinished(story), ending=why, usage=used(story), problem=problem)
