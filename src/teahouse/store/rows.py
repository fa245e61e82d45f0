"""Rows to values and back, for conversations, posts and runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Row

from teahouse.agent.participant import ReplyStep, Step
from teahouse.chat.ports import Conversation, Preview, Run
from teahouse.core.errors import Problem
from teahouse.core.events import Usage
from teahouse.core.messages import Blob, Part, Post, Text
from teahouse.store.schema import post as post_table
from teahouse.store.schema import run as run_table

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

PREVIEW = 120  # characters
_PREVIEW_LOOKS_AT = 600

POST_COLUMNS = (
    post_table.c.id,
    post_table.c.conversation,
    post_table.c.parent,
    post_table.c.author,
    post_table.c.parts,
    post_table.c.at,
    post_table.c.reply_to,
    post_table.c.mentions,
    post_table.c.client_id,
    post_table.c.run,
    post_table.c.ending,
    post_table.c.problem,
    post_table.c.usage,
    post_table.c.elapsed_ms,
)
RUN_COLUMNS = (
    run_table.c.id,
    run_table.c.conversation,
    run_table.c.trigger,
    run_table.c.turn,
    run_table.c.participant,
    run_table.c.person,
    run_table.c.model,
    run_table.c.status,
    run_table.c.attempt,
    run_table.c.stop_asked,
    run_table.c.post,
    run_table.c.usage,
    run_table.c.problem,
    run_table.c.created_at,
    run_table.c.started_at,
    run_table.c.ended_at,
    run_table.c.key,
    run_table.c.allowance,
)
# What `post_values` and `run_values` hold, and the place that the writer adds.
POST_VALUES = (
    "id",
    "conversation",
    "author",
    "person",
    "at",
    "parts",
    "reply_to",
    "mentions",
    "client_id",
    "run",
    "ending",
    "problem",
    "usage",
    "elapsed_ms",
    "parent",
    "position",
    "turn",
)
RUN_VALUES = (
    "id",
    "conversation",
    "trigger",
    "turn",
    "participant",
    "person",
    "model",
    "status",
    "attempt",
    "boot",
    "stop_asked",
    "created_at",
    "key",
    "allowance",
)

_encoder = msgspec.json.Encoder()
_parts = msgspec.json.Decoder(tuple[Part, ...])
_names = msgspec.json.Decoder(tuple[str, ...])
_problem = msgspec.json.Decoder(Problem)
_usage = msgspec.json.Decoder(Usage)
_step = msgspec.json.Decoder(Step)


def to_json(value: Any) -> str:
    return _encoder.encode(value).decode()


def _optional(value: Any) -> str | None:
    return to_json(value) if value else None


def post_values(post: Post, person: str) -> dict[str, Any]:
    """All of a row but its place in the conversation."""
    return {
        "id": post.id,
        "conversation": post.conversation,
        "author": post.author,
        "person": person,
        "at": post.at,
        "parts": to_json(post.parts),
        "reply_to": post.reply_to,
        "mentions": _optional(post.mentions),
        "client_id": post.client_id,
        "run": post.run,
        "ending": post.ending,
        "problem": _optional(post.problem),
        "usage": _optional(post.usage),
        "elapsed_ms": post.elapsed_ms,
    }


def post_of(row: AnyRow) -> Post:
    return Post(
        id=row.id,
        conversation=row.conversation,
        parent=row.parent,
        author=row.author,
        parts=_parts.decode(row.parts),
        at=row.at,
        reply_to=row.reply_to,
        mentions=_names.decode(row.mentions) if row.mentions else (),
        client_id=row.client_id,
        run=row.run,
        ending=row.ending,
        problem=_problem.decode(row.problem) if row.problem else None,
        usage=_usage.decode(row.usage) if row.usage else None,
        elapsed_ms=row.elapsed_ms,
    )


def preview_text(parts: Iterable[Part]) -> str:
    """The first words of a post in one line; of a post without words the name of its file."""
    texts = [part.text[:_PREVIEW_LOOKS_AT] for part in parts if isinstance(part, Text)]
    line = " ".join("".join(texts)[:_PREVIEW_LOOKS_AT].split())
    if not line:
        line = next((part.name for part in parts if isinstance(part, Blob)), "")
    return line[:PREVIEW]


def run_values(run: Run) -> dict[str, Any]:
    """All of a queued run's row but its turn."""
    return {
        "id": run.id,
        "conversation": run.conversation,
        "trigger": run.trigger,
        "participant": run.participant,
        "person": run.person,
        "model": run.model,
        "status": run.status,
        "attempt": run.attempt,
        "boot": 0,
        "stop_asked": run.stop_asked,
        "created_at": run.created_at,
        "key": run.key,
        "allowance": run.allowance,
    }


def run_of(row: AnyRow) -> Run:
    return Run(
        id=row.id,
        conversation=row.conversation,
        trigger=row.trigger,
        participant=row.participant,
        person=row.person,
        model=row.model,
        status=row.status,
        attempt=row.attempt,
        stop_asked=row.stop_asked,
        post=row.post,
        usage=_usage.decode(row.usage) if row.usage else Usage(),
        problem=_problem.decode(row.problem) if row.problem else None,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        key=row.key,
        allowance=row.allowance,
    )


def step_kind(step: Step) -> str:
    return "reply" if isinstance(step, ReplyStep) else "result"


def step_of(body: str) -> Step:
    return _step.decode(body)


def conversation_of(
    row: AnyRow,
    *,
    agents: Iterable[str],
    people: Iterable[str],
    open_runs: Iterable[str],
    last: Post | None,
) -> Conversation:
    preview = last and Preview(author=last.author, text=preview_text(last.parts), at=last.at)
    return Conversation(
        id=row.id,
        kind=row.kind,
        title=row.title,
        title_by=row.title_by,
        agents=tuple(agents),
        people=tuple(people),
        head=row.head,
        last=preview,
        pinned=row.pinned,
        archived=row.archived,
        posts=row.posts,
        created_at=row.created_at,
        updated_at=row.updated_at,
        open_runs=tuple(open_runs),
    )
