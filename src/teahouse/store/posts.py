"""Writing a post: its row, its place in the conversation, the files it names."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs
from sqlalchemy import Connection, and_, bindparam, insert, or_, select, update

from teahouse.chat.ports import Page
from teahouse.core.errors import NotFound
from teahouse.core.messages import Blob, Post
from teahouse.store.prepared import Prepared
from teahouse.store.rows import POST_COLUMNS, POST_VALUES, post_of
from teahouse.store.schema import conversation, file, member, post, post_file

MAX_PAGE = 500


class Place(Struct, frozen=True):
    """Where a conversation ends at the moment."""

    head: str | None
    posts: int


# Statements that are built once: SQLAlchemy finds a cached statement's SQL by the object itself.
_INSERT_POST = Prepared(insert(post).inline(), POST_VALUES)
_INSERT_POST_FILE = insert(post_file).inline()
_MOVE_HEAD = Prepared(
    update(conversation)
    .where(conversation.c.id == bindparam("of"))
    .values(
        head=bindparam("new_head"),
        posts=bindparam("new_posts"),
        updated_at=bindparam("at"),
    )
)
_VISIBLE_FILE = (
    select(file.c.id)
    .where(
        file.c.id == bindparam("file"),
        or_(
            file.c.person == bindparam("person"),
            select(post_file.c.post)
            .join(
                member,
                and_(
                    member.c.conversation == post_file.c.conversation,
                    member.c.participant == bindparam("person"),
                ),
            )
            .where(post_file.c.file == file.c.id)
            .exists(),
        ),
    )
    .limit(1)
)
_POSITION = select(post.c.position).where(
    post.c.conversation == bindparam("of"), post.c.id == bindparam("id")
)
_BEYOND = 2**31 - 1
_BETWEEN = (
    select(*POST_COLUMNS)
    .where(
        post.c.conversation == bindparam("of"),
        post.c.position > bindparam("lower"),
        post.c.position < bindparam("upper"),
    )
    .limit(bindparam("count"))
)
_NEWEST = _BETWEEN.order_by(post.c.position.desc())
_OLDEST = _BETWEEN.order_by(post.c.position)


def sees_file(connection: Connection, person: str, file_id: str) -> bool:
    """A file is its owner's, and that of every member of a conversation that shows it."""
    values = {"file": file_id, "person": person}
    return connection.execute(_VISIBLE_FILE, values).first() is not None


def add_post(
    connection: Connection, new: Post, values: dict[str, Any], place: Place, *, turn: int | None
) -> Post:
    """Write `new` behind the head and move the head; `turn` None means that it begins its own.

    `values` is `rows.post_values(new)`, made before the writer's thread had to.
    """
    files = _files(connection, new, values["person"], strict=turn is None)
    position = place.posts + 1
    row = {**values, "parent": place.head, "position": position, "turn": turn or position}
    _INSERT_POST(connection, row)
    for each in files:
        shown = {"post": new.id, "file": each, "conversation": new.conversation}
        connection.execute(_INSERT_POST_FILE, shown)
    moved = {
        "of": new.conversation,
        "new_head": new.id,
        "new_posts": position,
        "at": new.at,
    }
    _MOVE_HEAD(connection, moved)
    return structs.replace(new, parent=place.head)


def _files(connection: Connection, new: Post, person: str, *, strict: bool) -> list[str]:
    """The files that `new` shows to its conversation: those that the person may see themselves.

    Naming another's file must not open it. An agent's reply is kept nevertheless, a person's
    post is refused.
    """
    named = dict.fromkeys(part.file for part in new.parts if isinstance(part, Blob))
    seen = [each for each in named if sees_file(connection, person, each)]
    if strict and len(seen) < len(named):
        raise NotFound("no_such_file", id=next(each for each in named if each not in seen))
    return seen


def require_post(connection: Connection, conversation_id: str, post_id: str) -> int:
    """The post's position; raises `NotFound` when it is none of this conversation."""
    values = {"of": conversation_id, "id": post_id}
    position = connection.execute(_POSITION, values).scalar()
    if position is None:
        raise NotFound("no_such_post", id=post_id)
    return position


def page_of_posts(
    connection: Connection, conversation_id: str, before: str | None, after: str | None, limit: int
) -> Page[Post]:
    """The newest posts before, or the oldest after, the one named; without one the newest."""
    limit = max(1, min(limit, MAX_PAGE))
    values: dict[str, object] = {"of": conversation_id, "count": limit + 1, "lower": 0}
    if after is not None:
        values["lower"] = require_post(connection, conversation_id, after)
    values["upper"] = (
        _BEYOND if before is None else require_post(connection, conversation_id, before)
    )
    forward = after is not None and before is None
    rows = connection.execute(_OLDEST if forward else _NEWEST, values).all()
    found = [post_of(row) for row in rows[:limit]]
    cursor = found[-1].id if len(rows) > limit else None
    return Page(items=tuple(found if forward else reversed(found)), next=cursor)
