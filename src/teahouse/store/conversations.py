"""Conversations as rows: made, found, listed and changed by those who are members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    insert,
    not_,
    or_,
    select,
    update,
)

from teahouse.chat.ports import Conversation, ConversationChanges, Page
from teahouse.core.errors import Conflict, Invalid, NotFound
from teahouse.store.rows import POST_COLUMNS, AnyRow, conversation_of, post_of
from teahouse.store.schema import conversation, from_micros, member, post, run, to_micros

MAX_PAGE = 200

_INSERT = insert(conversation).inline()
_INSERT_MEMBER = insert(member).inline()
_IS_MEMBER = select(member.c.place).where(
    member.c.conversation == bindparam("of"), member.c.participant == bindparam("reader")
)
_SEEN = (
    select(conversation, member.c.pinned, member.c.archived)
    .join(member, member.c.conversation == conversation.c.id)
    .where(member.c.participant == bindparam("reader"))
)
_SEEN_ONE = _SEEN.where(conversation.c.id == bindparam("of"))


def require_member(connection: Connection, person: str, conversation_id: str) -> None:
    """Raises `NotFound`: to others the conversation does not exist."""
    values = {"of": conversation_id, "reader": person}
    if connection.execute(_IS_MEMBER, values).first() is None:
        raise NotFound("no_such_conversation", id=conversation_id)


def load_conversation(connection: Connection, person: str, conversation_id: str) -> Conversation:
    row = connection.execute(_SEEN_ONE, {"of": conversation_id, "reader": person}).first()
    if row is None:
        raise NotFound("no_such_conversation", id=conversation_id)
    return _conversations(connection, [row])[0]


def insert_conversation(connection: Connection, new: Conversation) -> Conversation:
    """Make it, or answer the one that has this id, to the same people."""
    by_id = select(conversation.c.id).where(conversation.c.id == new.id)
    if connection.execute(by_id).first() is not None:
        try:
            found = load_conversation(connection, new.people[0], new.id)
        except NotFound as error:
            raise Conflict("already_there", detail=new.id) from error
        return found
    values = {
        "id": new.id,
        "kind": new.kind,
        "title": new.title,
        "title_by": new.title_by,
        "head": None,
        "posts": 0,
        "created_at": new.created_at,
        "updated_at": new.updated_at,
    }
    connection.execute(_INSERT, values)
    members = [("person", each) for each in new.people] + [("agent", each) for each in new.agents]
    for place, (kind, participant) in enumerate(members):
        values = {
            "conversation": new.id,
            "participant": participant,
            "kind": kind,
            "place": place,
            "pinned": new.pinned,
            "archived": new.archived,
        }
        connection.execute(_INSERT_MEMBER, values)
    return new


def list_conversations(
    connection: Connection, person: str, *, before: str | None, limit: int, archived: bool
) -> Page[Conversation]:
    limit = max(1, min(limit, MAX_PAGE))
    query = _SEEN.where(member.c.archived == bindparam("put_away"))
    if before is not None:
        query = query.where(_behind(before))
    query = query.order_by(
        member.c.pinned.desc(), conversation.c.updated_at.desc(), conversation.c.id.desc()
    )
    values = {"reader": person, "put_away": archived}
    rows = connection.execute(query.limit(limit + 1), values).all()
    found = _conversations(connection, rows[:limit])
    cursor = _cursor(found[-1]) if len(rows) > limit else None
    return Page(items=tuple(found), next=cursor)


def change_conversation(
    connection: Connection, person: str, conversation_id: str, changes: ConversationChanges
) -> Conversation:
    """The title is everybody's; pinned and archived are this person's own view."""
    require_member(connection, person, conversation_id)
    shared = _set(title=changes.title, title_by=changes.title_by)
    if shared:
        change = update(conversation).where(conversation.c.id == conversation_id)
        if changes.title_by != "person":
            change = change.where(conversation.c.title_by != "person")
        connection.execute(change.values(shared))
    own = _set(pinned=changes.pinned, archived=changes.archived)
    if own:
        change = update(member).where(
            member.c.conversation == conversation_id, member.c.participant == person
        )
        connection.execute(change.values(own))
    return load_conversation(connection, person, conversation_id)


def _set(**changes: object) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value is not UNSET}


def _conversations(connection: Connection, rows: Sequence[AnyRow]) -> list[Conversation]:
    heads = [row.head for row in rows if row.head is not None]
    query = select(*POST_COLUMNS).where(post.c.id.in_(heads))
    last = {row.id: post_of(row) for row in connection.execute(query)} if heads else {}
    ids = [row.id for row in rows]
    members, open_runs = _members(connection, ids), _open_runs(connection, ids)
    return [
        conversation_of(
            row,
            agents=members[row.id, "agent"],
            people=members[row.id, "person"],
            open_runs=open_runs[row.id],
            last=last.get(row.head),
        )
        for row in rows
    ]


def _members(connection: Connection, ids: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """The agents, and the people, of each conversation, in the order in which they joined."""
    query = (
        select(member.c.conversation, member.c.participant, member.c.kind)
        .where(member.c.conversation.in_(ids))
        .order_by(member.c.place)
    )
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.conversation, row.kind].append(row.participant)
    return found


def _open_runs(connection: Connection, ids: Sequence[str]) -> dict[str, list[str]]:
    query = (
        select(run.c.conversation, run.c.id)
        .where(run.c.conversation.in_(ids), run.c.ended_at.is_(None))
        .order_by(run.c.turn, run.c.id)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.conversation].append(row.id)
    return found


def _cursor(last: Conversation) -> str:
    return f"{int(last.pinned)}.{to_micros(last.updated_at)}.{last.id}"


def _behind(cursor: str) -> ColumnElement[bool]:
    """Those that the list shows after the one that `cursor` was made of."""
    pinned, _, rest = cursor.partition(".")
    micros, _, last = rest.partition(".")
    if pinned not in {"0", "1"} or not (micros.isascii() and micros.isdigit()) or len(micros) > 18:
        raise Invalid("bad_cursor", cursor=cursor)
    try:
        at = from_micros(int(micros))
    except OverflowError as error:  # behind the last year that there is
        raise Invalid("bad_cursor", cursor=cursor) from error
    older = or_(
        conversation.c.updated_at < at,
        and_(conversation.c.updated_at == at, conversation.c.id < last),
    )
    if pinned == "1":
        return or_(not_(member.c.pinned), older)
    return and_(not_(member.c.pinned), older)
