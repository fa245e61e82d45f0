"""Conversations and their posts, for the people who are members of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from teahouse.agent.participant import Step
from teahouse.chat.ports import Conversation, ConversationChanges, Log, Page, Received, Run
from teahouse.chat.story import replay, used
from teahouse.core.errors import NotFound
from teahouse.core.events import fold
from teahouse.core.ids import new_id
from teahouse.core.messages import Post
from teahouse.store.conversations import (
    change_conversation,
    insert_conversation,
    list_conversations,
    load_conversation,
    require_member,
)
from teahouse.store.database import Database
from teahouse.store.forget import delete_conversation
from teahouse.store.posts import Place, add_post, page_of_posts, require_post
from teahouse.store.prepared import Prepared
from teahouse.store.queue import end_run
from teahouse.store.rows import (
    POST_COLUMNS,
    RUN_COLUMNS,
    RUN_VALUES,
    post_of,
    post_values,
    run_of,
    run_values,
    step_of,
)
from teahouse.store.schema import conversation, member, post, run, step

_INSERT_RUN = Prepared(insert(run).inline(), RUN_VALUES)
# Whether the person may write there, where the conversation ends, and the post that a repeat made:
# one statement, since this is what every post waits for.
_PLACE = Prepared(
    select(conversation.c.head, conversation.c.posts, post.c.id.label("repeated"))
    .join(
        member,
        and_(
            member.c.conversation == conversation.c.id,
            member.c.participant == bindparam("writer"),
        ),
    )
    .outerjoin(
        post,
        and_(
            post.c.conversation == conversation.c.id,
            post.c.author == bindparam("author"),
            post.c.client_id == bindparam("client"),
        ),
    )
    .where(conversation.c.id == bindparam("of"))
)
_POST = select(*POST_COLUMNS).where(post.c.id == bindparam("id"))
_SEEN_POST = _POST.join(
    member,
    and_(
        member.c.conversation == post.c.conversation,
        member.c.participant == bindparam("reader"),
    ),
)
_RUNS_OF_POST = (
    select(*RUN_COLUMNS)
    .where(run.c.conversation == bindparam("of"), run.c.trigger == bindparam("trigger_post"))
    .order_by(run.c.id)
)
_SEEN_RUN = (
    select(*RUN_COLUMNS)
    .join(
        member,
        and_(
            member.c.conversation == run.c.conversation,
            member.c.participant == bindparam("reader"),
        ),
    )
    .where(run.c.id == bindparam("id"))
)
_ASK_STOP = update(run).where(run.c.id == bindparam("stopped_run")).values(stop_asked=True)
_STEPS = select(step.c.body).where(step.c.run == bindparam("of_run")).order_by(step.c.number)


class SqlLog(Log):
    def __init__(self, database: Database, sweep: Callable[[], Awaitable[None]]) -> None:
        """`sweep` removes the bytes of files whose last row went with a conversation."""
        self._write, self._read = database.write, database.read
        self._clock, self._sweep = database.clock, sweep

    async def create(self, conversation: Conversation, /) -> Conversation:
        return await self._write(lambda c: insert_conversation(c, conversation))

    async def conversation(self, person: str, conversation: str, /) -> Conversation:
        return await self._read(lambda c: load_conversation(c, person, conversation))

    async def conversations(
        self, person: str, /, *, before: str | None, limit: int, archived: bool = False
    ) -> Page[Conversation]:
        return await self._read(
            lambda c: list_conversations(c, person, before=before, limit=limit, archived=archived)
        )

    async def change(
        self, person: str, conversation: str, changes: ConversationChanges, /
    ) -> Conversation:
        return await self._write(lambda c: change_conversation(c, person, conversation, changes))

    async def delete(self, person: str, conversation: str, /) -> None:
        def work(connection: Connection) -> None:
            require_member(connection, person, conversation)
            delete_conversation(connection, conversation)

        await self._write(work, forget=True)
        await self._sweep()

    async def receive(self, post: Post, person: str, runs: Sequence[Run], /) -> Received:
        values = post_values(post, person)
        run_rows = [run_values(run) for run in runs]
        place_of = {
            "of": post.conversation,
            "writer": person,
            "author": post.author,
            "client": post.client_id,
        }

        def work(connection: Connection) -> Received:
            found = _PLACE(connection, place_of).fetchone()
            if found is None:
                raise NotFound("no_such_conversation", id=post.conversation)
            head, posts, repeated = found
            if repeated is not None:
                return _received_before(connection, post.conversation, repeated)
            if post.reply_to is not None:
                require_post(connection, post.conversation, post.reply_to)
            place = Place(head, posts)
            stored = add_post(connection, post, values, place, turn=None)
            for row in run_rows:
                row["turn"] = place.posts + 1
                _INSERT_RUN(connection, row)
            return Received(post=stored, runs=tuple(runs), fresh=True)

        return await self._write(work)

    async def posts(
        self,
        person: str,
        conversation: str,
        /,
        *,
        before: str | None = None,
        after: str | None = None,
        limit: int,
    ) -> Page[Post]:
        def work(connection: Connection) -> Page[Post]:
            require_member(connection, person, conversation)
            return page_of_posts(connection, conversation, before, after, limit)

        return await self._read(work)

    async def post(self, person: str, post: str, /) -> Post:
        def work(connection: Connection) -> Post:
            row = connection.execute(_SEEN_POST, {"id": post, "reader": person}).first()
            if row is None:
                raise NotFound("no_such_post", id=post)
            return post_of(row)

        return await self._read(work)

    async def run(self, person: str, run: str, /) -> Run:
        return await self._read(lambda c: _seen_run(c, person, run))

    async def steps(self, person: str, run: str, /) -> Sequence[Step]:
        def work(connection: Connection) -> Sequence[Step]:
            _seen_run(connection, person, run)
            rows = connection.execute(_STEPS, {"of_run": run})
            return [step_of(row.body) for row in rows]

        return await self._read(work)

    async def ask_stop(self, person: str, run: str, /) -> Run:
        def work(connection: Connection) -> Run:
            found = _seen_run(connection, person, run)
            if found.status == "running":
                connection.execute(_ASK_STOP, {"stopped_run": run})
            elif found.status == "queued":
                # taken up again after a crash, it may have finished steps: they are kept
                rows = connection.execute(_STEPS, {"of_run": run})
                recorded = replay([step_of(row.body) for row in rows])
                reply = Post(
                    id=new_id("p"),
                    conversation=found.conversation,
                    parent=None,
                    author=found.participant,
                    parts=fold(recorded).parts,
                    at=self._clock.now(),
                    run=run,
                    ending="stopped",
                    usage=used(recorded) if recorded else None,
                )
                end_run(connection, reply, "stopped", now=reply.at)
            else:
                return found
            return _seen_run(connection, person, run)

        return await self._write(work)


def _received_before(connection: Connection, conversation_id: str, post_id: str) -> Received:
    row = connection.execute(_POST, {"id": post_id}).one()
    runs = connection.execute(_RUNS_OF_POST, {"of": conversation_id, "trigger_post": post_id})
    return Received(post=post_of(row), runs=tuple(run_of(row) for row in runs), fresh=False)


def _seen_run(connection: Connection, person: str, run_id: str) -> Run:
    row = connection.execute(_SEEN_RUN, {"id": run_id, "reader": person}).first()
    if row is None:
        raise NotFound("no_such_run", id=run_id)
    return run_of(row)
