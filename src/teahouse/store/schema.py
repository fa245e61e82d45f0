"""The tables, in types that SQLite and PostgreSQL both have.

Every row that belongs to somebody names its person. Ids are text that sorts by time; values of
`core` and `chat` that are read only whole (parts, steps, usage) are JSON text.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.types import TypeDecorator

REVISION = "0008"  # what `migrations` leads to; a test compares the two

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


class Instant(TypeDecorator[datetime]):
    """A UTC instant as whole microseconds since 1970: exact, sortable, alike in every engine."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else to_micros(value)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else from_micros(value)


def _instant(name: str, *, nullable: bool = False) -> Column[datetime]:
    return Column(name, Instant, nullable=nullable)


def _text(name: str, *, nullable: bool = False, default: str | None = None) -> Column[str]:
    return Column(name, Text, nullable=nullable, server_default=default)


metadata = MetaData()

counter = Table(
    "counter",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

# People -----------------------------------------------------------------------------------------

person = Table(
    "person",
    metadata,
    Column("id", Text, primary_key=True),
    _text("name"),
    Column("folded", Text, nullable=False, unique=True),
    _text("role"),
    Column("epoch", Integer, nullable=False),
    _text("password_hash", nullable=True),
    _instant("created_at"),
)
# Conditions of indexes stand here for SQLite alone and in the migrations for both engines: to name
# one for PostgreSQL loads its dialect, which takes a tenth of the time that the server starts in.
Index(
    "one_owner",
    person.c.role,
    unique=True,
    sqlite_where=text("role = 'owner'"),
)

login_session = Table(
    "login_session",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("epoch", Integer, nullable=False),
    _instant("created_at"),
    _instant("expires_at"),
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", Text, primary_key=True),
    _text("name"),
    Column("key_hash", LargeBinary, nullable=False, unique=True),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False, index=True),
    _instant("created_at"),
    _instant("last_used_at", nullable=True),
    _text("scopes", default="[]"),  # JSON
    Column("budget", Float, nullable=True),  # in US dollars a day
    Column("rate", Integer, nullable=True),  # requests a minute
    Column("concurrent", Integer, nullable=True),
)

# Agents -----------------------------------------------------------------------------------------

agent = Table(
    "agent",
    metadata,
    Column("id", Text, primary_key=True),
    _text("owner"),  # a person
    _text("name"),
    _text("folded"),
    _text("description"),
    _text("workspace"),
    Column("hue", Integer, nullable=False),
    _text("model", nullable=True),
    Column("temperature", Float, nullable=True),
    Column("shared", Boolean, nullable=False),
    Column("archived", Boolean, nullable=False),
    _instant("created_at"),
    _instant("updated_at"),
    _text("permissions", default="{}"),  # JSON: a rule for each tool or beginning of names
)
Index(
    "agent_name",
    agent.c.owner,
    agent.c.folded,
    unique=True,
    sqlite_where=text("NOT archived"),
)

# Conversations ----------------------------------------------------------------------------------

conversation = Table(
    "conversation",
    metadata,
    Column("id", Text, primary_key=True),
    _text("kind"),
    _text("title"),
    _text("title_by"),
    _text("head", nullable=True),  # a post
    Column("posts", Integer, nullable=False),  # how many; also the newest one's position
    _instant("created_at"),
    _instant("updated_at"),  # of the latest activity: lists are sorted by it
)

member = Table(
    "member",
    metadata,
    Column(
        "conversation", Text, ForeignKey("conversation.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("participant", Text, primary_key=True),
    _text("kind"),  # person or agent
    Column("place", Integer, nullable=False),  # the order in which they joined
    Column("read_position", Integer, nullable=False, server_default="0"),
    # what a person does to their own view of the conversation
    Column("pinned", Boolean, nullable=False),
    Column("archived", Boolean, nullable=False),
)
Index("member_conversations", member.c.participant, member.c.archived)

post = Table(
    "post",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation", Text, ForeignKey("conversation.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),  # 1, 2, 3 … as written
    # The position of the person's post that this one is, or answers: sorted by it each answer
    # follows its question, also when further questions came in between.
    Column("turn", Integer, nullable=False),
    _text("parent", nullable=True),
    _text("author"),
    _text("person"),  # whose it is: the author, or whom the agent works for
    _instant("at"),
    _text("parts"),
    _text("reply_to", nullable=True),
    _text("mentions", nullable=True),
    _text("client_id", nullable=True),
    _text("run", nullable=True),
    _text("ending", nullable=True),
    _text("problem", nullable=True),
    _text("usage", nullable=True),
    Column("elapsed_ms", Integer, nullable=True),
    # where it came from, for posts of channels
    _text("channel", nullable=True),
    _text("account", nullable=True),
    _text("outside_id", nullable=True),
)
Index("post_position", post.c.conversation, post.c.position, unique=True)
Index(
    "post_client_id",
    post.c.conversation,
    post.c.author,
    post.c.client_id,
    unique=True,
    sqlite_where=text("client_id IS NOT NULL"),
)
Index(
    "post_outside_id",
    post.c.channel,
    post.c.account,
    post.c.outside_id,
    unique=True,
    sqlite_where=text("outside_id IS NOT NULL"),
)

# Runs -------------------------------------------------------------------------------------------

run = Table(
    "run",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation", Text, ForeignKey("conversation.id", ondelete="CASCADE"), nullable=False),
    _text("trigger"),  # a post
    Column("turn", Integer, nullable=False),  # the position of the trigger
    _text("participant"),
    _text("person"),
    _text("model", nullable=True),  # chosen for this run alone
    _text("status"),
    Column("attempt", Integer, nullable=False),
    Column("boot", Integer, nullable=False),  # which start of the server works on it
    Column("stop_asked", Boolean, nullable=False),
    _text("post", nullable=True),
    _text("usage", nullable=True),
    _text("problem", nullable=True),
    _instant("created_at"),
    _instant("started_at", nullable=True),
    _instant("ended_at", nullable=True),
    # Of a program that asked, as it was then. No foreign key: who removes a key still pays.
    _text("key", nullable=True),
    Column("allowance", Float, nullable=True),  # in US dollars a day
)
Index("run_trigger", run.c.conversation, run.c.trigger)
Index(
    "run_open",
    run.c.conversation,
    run.c.turn,
    run.c.id,
    sqlite_where=text("ended_at IS NULL"),
)

step = Table(
    "step",
    metadata,
    Column("run", Text, ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("attempt", Integer, nullable=False),
    _text("kind"),
    _text("body"),
    _instant("at"),
)

# Approvals --------------------------------------------------------------------------------------

approval = Table(
    "approval",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run", Text, ForeignKey("run.id", ondelete="CASCADE"), nullable=False),
    _text("conversation"),
    _text("agent"),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    _text("call"),
    Column("turn", Integer, nullable=False),  # of the calls of this id in the run
    _text("tool"),
    _text("arguments"),  # JSON, as the tool gets them
    _text("effect"),
    _text("reason"),
    _text("words"),  # JSON
    _text("state"),  # asked, granted, denied or expired
    _instant("asked_at"),
    _instant("expires_at"),
    _text("decided_by", nullable=True),
    _instant("decided_at", nullable=True),
    _instant("used_at", nullable=True),  # when the call began
)
Index("approval_call", approval.c.run, approval.c.call, approval.c.turn, unique=True)
Index("approval_person", approval.c.person, approval.c.id)
Index("approval_state", approval.c.person, approval.c.state, approval.c.id)

permission_grant = Table(
    "permission_grant",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent", Text, ForeignKey("agent.id", ondelete="CASCADE"), nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    _text("tool"),
    _instant("created_at"),
    _text("arguments", nullable=True),  # JSON; NULL where other arguments will do
    _text("words"),  # JSON
    _instant("until", nullable=True),
)
Index("permission_grant_of", permission_grant.c.person, permission_grant.c.agent)

# Files and secrets ------------------------------------------------------------------------------

file = Table(
    "file",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False, index=True),
    _text("agent", nullable=True),
    _text("name"),
    _text("media_type"),
    Column("size", BigInteger, nullable=False),
    Column("sha256", Text, nullable=False, index=True),
    _instant("created_at"),
)

post_file = Table(
    "post_file",
    metadata,
    Column("post", Text, ForeignKey("post.id", ondelete="CASCADE"), primary_key=True),
    Column("file", Text, primary_key=True),
    _text("conversation"),
)
Index("post_file_file", post_file.c.file)
Index("post_file_conversation", post_file.c.conversation)

# Bytes whose last row is gone. Written with the deletion, so that a crash before the bytes are
# removed does not keep what a person wanted forgotten.
doomed_blob = Table("doomed_blob", metadata, Column("sha256", Text, primary_key=True))

secret = Table(
    "secret",
    metadata,
    Column("name", Text, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),  # nonce, then ciphertext with its tag
    _instant("updated_at"),
)

# Calls to models --------------------------------------------------------------------------------

provider_call = Table(
    "provider_call",
    metadata,
    Column("id", Text, primary_key=True),
    _instant("at"),
    _text("model"),
    _text("provider"),
    _text("purpose"),
    # Whose call it was, by id. No foreign keys: what was spent stays spent when they are gone.
    _text("person", nullable=True),
    _text("agent", nullable=True),
    _text("conversation", nullable=True),
    _text("run", nullable=True),
    _text("key", nullable=True),
    Column("input", BigInteger, nullable=False),
    Column("output", BigInteger, nullable=False),
    Column("cached", BigInteger, nullable=False),
    Column("estimated", Boolean, nullable=False),
    Column("cost", Float, nullable=True),  # in US dollars; NULL where the price is unknown
    Column("first_token_ms", Integer, nullable=True),
    Column("total_ms", Integer, nullable=False),
    _text("outcome"),
    _text("code", nullable=True),
    Column("attempt", Integer, nullable=False),
    Column("written", BigInteger, nullable=False, server_default="0"),
    _text("instead_of", nullable=True),
)
Index("provider_call_at", provider_call.c.at)
Index("provider_call_person", provider_call.c.person, provider_call.c.at)

# One row for each budget that was touched: a run's, or that of an agent, a person, a key or the
# house for one day. Amounts are in billionths of a dollar.
budget = Table(
    "budget",
    metadata,
    Column("account", Text, primary_key=True),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    _instant("at"),
)

reservation = Table(
    "reservation",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account", Text, primary_key=True),
    Column("amount", BigInteger, nullable=False),
)
