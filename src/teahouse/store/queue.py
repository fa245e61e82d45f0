"""Runs as the worker sees them: leased in order, fenced by attempt, ended together with a post."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    Connection,
    Text,
    and_,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)

from teahouse.agent.participant import Step
from teahouse.chat.ports import Lease, RunQueue, RunStatus
from teahouse.core.errors import Conflict
from teahouse.core.messages import Post
from teahouse.store.database import Database
from teahouse.store.posts import Place, add_post
from teahouse.store.rows import (
    POST_COLUMNS,
    RUN_COLUMNS,
    AnyRow,
    post_of,
    post_values,
    run_of,
    step_kind,
    step_of,
    to_json,
)
from teahouse.store.schema import Instant, conversation, post, run, step

LOG_POSTS = 2_000  # the newest ones that a participant is shown; more fits no model's window

_earlier = run.alias("earlier")
_READY = (
    select(*RUN_COLUMNS)
    .where(
        run.c.ended_at.is_(None),
        run.c.status == "queued",
        ~select(_earlier.c.id)
        .where(
            _earlier.c.conversation == run.c.conversation,
            _earlier.c.ended_at.is_(None),
            or_(
                _earlier.c.turn < run.c.turn,
                and_(_earlier.c.turn == run.c.turn, _earlier.c.id < run.c.id),
            ),
        )
        .exists(),
    )
    .order_by(run.c.created_at, run.c.id)
    .limit(bindparam("count"))
)
_TAKE = (
    update(run)
    .where(run.c.id == bindparam("taken"))
    .values(
        status="running",
        attempt=run.c.attempt + 1,
        boot=bindparam("this_boot"),
        started_at=func.coalesce(run.c.started_at, bindparam("now", type_=Instant)),
    )
)
_RUN = select(*RUN_COLUMNS).where(run.c.id == bindparam("id"))
_WAITING = (
    select(func.count()).select_from(run).where(run.c.ended_at.is_(None), run.c.status == "queued")
)
_REQUEUE = update(run).values(status="queued").where(run.c.status == "running")
_LOG = (
    select(*POST_COLUMNS)
    .where(post.c.conversation == bindparam("of"), post.c.turn <= bindparam("last_turn"))
    .order_by(post.c.turn.desc(), post.c.position.desc())
    .limit(LOG_POSTS)
)
_STEPS = select(step.c.body).where(step.c.run == bindparam("of_run")).order_by(step.c.number)
# The fence and the step in one statement: no row is written for a run that was taken up anew.
_APPEND = (
    insert(step)
    .from_select(
        ["run", "number", "attempt", "kind", "body", "at"],
        select(
            run.c.id,
            select(func.coalesce(func.max(step.c.number), 0) + 1)
            .where(step.c.run == run.c.id)
            .scalar_subquery(),
            run.c.attempt,
            bindparam("kind", type_=Text),
            bindparam("body", type_=Text),
            bindparam("at", type_=Instant),
        ).where(
            run.c.id == bindparam("of_run"),
            run.c.attempt == bindparam("fence"),
            run.c.status == "running",
        ),
    )
    .execution_options(preserve_rowcount=True)
)
_ENDING = (
    select(
        run.c.status,
        run.c.attempt,
        run.c.turn,
        run.c.person,
        conversation.c.head,
        conversation.c.posts,
    )
    .join(conversation, conversation.c.id == run.c.conversation)
    .where(run.c.id == bindparam("of_run"), run.c.conversation == bindparam("of"))
)
_END = (
    update(run)
    .where(run.c.id == bindparam("of_run"))
    .values(
        status=bindparam("ending_status"),
        post=bindparam("reply"),
        usage=bindparam("used"),
        problem=bindparam("why"),
        ended_at=bindparam("now"),
    )
)


class SqlRunQueue(RunQueue):
    def __init__(self, database: Database) -> None:
        self._write, self._read = database.write, database.read
        self._clock, self._boot = database.clock, database.boot

    async def recover(self) -> int:
        dead = _REQUEUE.where(run.c.boot < self._boot, run.c.ended_at.is_(None))
        return await self._write(lambda c: c.execute(dead).rowcount)

    async def lease(self, limit: int, /) -> Sequence[Lease]:
        now = self._clock.now()

        def take(connection: Connection) -> list[AnyRow]:
            rows: list[AnyRow] = []
            for ready in connection.execute(_READY, {"count": limit}).all():
                taken = {"taken": ready.id, "this_boot": self._boot, "now": now}
                connection.execute(_TAKE, taken)
                rows.append(connection.execute(_RUN, {"id": ready.id}).one())
            return rows

        rows = await self._write(take)
        if not rows:
            return ()
        try:
            return await self._read(lambda c: [_lease(c, row) for row in rows])
        except Exception:  # whatever it was, the runs are not to be left without a worker
            ids = [row.id for row in rows]
            await self._write(lambda c: c.execute(_REQUEUE.where(run.c.id.in_(ids))).rowcount)
            raise

    async def waiting(self) -> int:
        return await self._read(lambda c: c.execute(_WAITING).scalar_one())

    async def append(self, run: str, attempt: int, step: Step, /) -> None:
        values = {
            "of_run": run,
            "fence": attempt,
            "kind": step_kind(step),
            "body": to_json(step),
            "at": self._clock.now(),
        }

        def work(connection: Connection) -> None:
            if connection.execute(_APPEND, values).rowcount != 1:
                raise Conflict("run_taken_over", id=run)

        await self._write(work)

    async def finish(self, run: str, attempt: int, post: Post, status: RunStatus, /) -> Post:
        assert post.run == run
        now = self._clock.now()
        return await self._write(lambda c: end_run(c, post, status, now=now, attempt=attempt))


def end_run(
    connection: Connection,
    reply: Post,
    status: RunStatus,
    *,
    now: datetime,
    attempt: int | None = None,
) -> Post:
    """Write the run's post and end it. Without `attempt` the run must still be queued."""
    found = connection.execute(_ENDING, {"of_run": reply.run, "of": reply.conversation}).first()
    expected = ("queued", None) if attempt is None else ("running", attempt)
    if found is None or (found.status, attempt and found.attempt) != expected:
        raise Conflict("run_taken_over", id=reply.run)
    place = Place(found.head, found.posts)
    values = post_values(reply, found.person)
    stored = add_post(connection, reply, values, place, turn=found.turn)
    ended = {
        "of_run": reply.run,
        "ending_status": status,
        "reply": reply.id,
        "used": to_json(reply.usage) if reply.usage else None,
        "why": to_json(reply.problem) if reply.problem else None,
        "now": now,
    }
    connection.execute(_END, ended)
    return stored


def _lease(connection: Connection, row: AnyRow) -> Lease:
    of = {"of": row.conversation, "last_turn": row.turn}
    log = [post_of(each) for each in connection.execute(_LOG, of)]
    steps = [step_of(each.body) for each in connection.execute(_STEPS, {"of_run": row.id})]
    return Lease(run=run_of(row), log=tuple(reversed(log)), steps=tuple(steps))
