"""What conversations need kept: one port per aggregate, implemented by `store`.

Every method that reads for somebody takes the person, and the store applies the access rule in its
query: what is not yours is `NotFound`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import UNSET, Struct, UnsetType

from teahouse.agent.participant import Step
from teahouse.core.errors import Problem
from teahouse.core.events import Usage
from teahouse.core.messages import (
    AgentId,
    ConversationId,
    ParticipantId,
    Person,
    PersonId,
    PersonRole,
    Post,
    PostId,
    RunId,
)

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """A piece of a list; `next` is the cursor of the following piece, None at the end."""

    items: tuple[T, ...]
    next: str | None = None


# Conversations and their posts ------------------------------------------------------------------

ConversationKind: TypeAlias = Literal["direct", "group", "channel"]


class Preview(Struct, frozen=True, kw_only=True):
    """The newest post in one line."""

    author: ParticipantId
    text: str  # at most 120 characters
    at: datetime


class Conversation(Struct, frozen=True, kw_only=True):
    id: ConversationId
    kind: ConversationKind
    title: str
    title_by: Literal["none", "model", "person"]
    agents: tuple[AgentId, ...]
    people: tuple[PersonId, ...]
    head: PostId | None
    last: Preview | None
    pinned: bool
    archived: bool
    posts: int
    created_at: datetime
    updated_at: datetime
    open_runs: tuple[RunId, ...] = ()  # queued and running, in their order


class ConversationChanges(Struct, frozen=True, kw_only=True):
    """What may be changed of a conversation; what is unset stays."""

    title: str | UnsetType = UNSET
    title_by: Literal["model", "person"] | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


RunStatus: TypeAlias = Literal["queued", "running", "done", "failed", "stopped"]


class Run(Struct, frozen=True, kw_only=True):
    """One participant's work on one trigger. Every run ends in exactly one post, `post`.

    `key` pays where a program asked with one; `allowance` is what it may spend a day in US dollars,
    as that was when the run was made.
    """

    id: RunId
    conversation: ConversationId
    trigger: PostId
    participant: ParticipantId
    person: PersonId
    model: str | None  # chosen for this run alone, else the participant's own
    status: RunStatus
    attempt: int  # rises each time the run is taken up; the fence of its lease
    stop_asked: bool
    post: PostId | None
    usage: Usage
    problem: Problem | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    key: str | None = None
    allowance: float | None = None


class Received(Struct, frozen=True, kw_only=True):
    """The acknowledgement: the post and the runs it woke. `fresh` is false for a repeat."""

    post: Post
    runs: tuple[Run, ...]
    fresh: bool


class Log(Protocol):
    """Conversations, posts, runs and journals: one aggregate, since they change together.

    All that returns has been committed durably (fsync).
    """

    async def create(self, conversation: Conversation, /) -> Conversation:
        """A conversation of the same id answers what is stored."""
        ...

    async def conversation(self, person: PersonId, conversation: ConversationId, /) -> Conversation:
        """Raises `NotFound` also when the person is no member."""
        ...

    async def conversations(
        self, person: PersonId, /, *, before: str | None, limit: int, archived: bool = False
    ) -> Page[Conversation]:
        """Newest activity first, pinned ones before all others."""
        ...

    async def change(
        self, person: PersonId, conversation: ConversationId, changes: ConversationChanges, /
    ) -> Conversation:
        """A title that is not `title_by` a person does not replace one that is; the rest counts."""
        ...

    async def delete(self, person: PersonId, conversation: ConversationId, /) -> None:
        """Remove the conversation with all its posts, runs and journals, for good."""
        ...

    async def receive(self, post: Post, person: PersonId, runs: Sequence[Run], /) -> Received:
        """Store the post and its queued runs in one transaction.

        A post of the same (conversation, client_id) answers what was stored then. The store sets
        the post's parent to the head and moves the head. Raises `NotFound` when the person is no
        member of the conversation.
        """
        ...

    async def posts(
        self,
        person: PersonId,
        conversation: ConversationId,
        /,
        *,
        before: PostId | None = None,
        after: PostId | None = None,
        limit: int,
    ) -> Page[Post]:
        """The newest `limit` posts older than `before` (or the oldest ones newer than `after`), in
        the order of the log. `next` is the cursor to go on in the same direction."""
        ...

    async def post(self, person: PersonId, post: PostId, /) -> Post: ...

    async def run(self, person: PersonId, run: RunId, /) -> Run: ...

    async def steps(self, person: PersonId, run: RunId, /) -> Sequence[Step]: ...

    async def ask_stop(self, person: PersonId, run: RunId, /) -> Run:
        """Mark the run to be stopped. One that is still queued ends here: status `stopped`, with a
        post of ending `stopped` that holds what earlier attempts had recorded, mostly nothing. One
        that has ended stays as it is."""
        ...


class Lease(Struct, frozen=True, kw_only=True):
    """A run that this process may work on. `log` is its conversation up to the trigger, oldest
    first, without posts by later triggers; `steps` what earlier attempts recorded."""

    run: Run
    log: tuple[Post, ...]
    steps: tuple[Step, ...]


class RunQueue(Protocol):
    """The worker's side of `Log`."""

    async def recover(self) -> int:
        """Queue again what a dead process left running; return how many."""
        ...

    async def lease(self, limit: int, /) -> Sequence[Lease]:
        """Take up to `limit` queued runs, the oldest of each conversation that has none running;
        `attempt` rises by one."""
        ...

    async def waiting(self) -> int:
        """How many runs are queued."""
        ...

    async def append(self, run: RunId, attempt: int, step: Step, /) -> None:
        """Record a step. Raises `Conflict` when the run was taken up anew (a stale fence)."""
        ...

    async def finish(self, run: RunId, attempt: int, post: Post, status: RunStatus, /) -> Post:
        """End the run and write its post, in one transaction; moves the head. The run's usage and
        problem are the post's. The stored post is returned. Raises `Conflict` on a stale fence or
        when the run has ended."""
        ...


# People -----------------------------------------------------------------------------------------


class LoginSession(Struct, frozen=True, kw_only=True):
    """A login. Only the hash of its token is kept; it ends when the person's epoch rises."""

    token_hash: bytes
    person: PersonId
    epoch: int
    created_at: datetime
    expires_at: datetime


class ApiKey(Struct, frozen=True, kw_only=True):
    """A key for programs: may do what its person may, or of that what its scopes name
    (`chat.scopes`). Only the hash is kept. The budget holds for all that is asked of models with
    it, the other limits for what goes through the gateway; None means that there is none."""

    id: str  # k_…
    name: str
    key_hash: bytes
    person: PersonId
    created_at: datetime
    last_used_at: datetime | None = None
    scopes: tuple[str, ...] = ()
    budget: float | None = None  # US dollars a day (UTC)
    rate: int | None = None  # requests begun within a minute
    concurrent: int | None = None  # requests at once


class Identity(Struct, frozen=True):
    """Who asks. `key` is what they ask with, where that is one of their keys for programs: None
    for a login, and for the key that the house lends to its own command line."""

    person: Person
    key: ApiKey | None = None


class People(Protocol):
    async def add(self, person: Person, password_hash: str | None, /) -> None:
        """Raises `Conflict` when the name (folded) is taken, or for a second owner."""
        ...

    async def all(self) -> Sequence[Person]: ...

    async def get(self, person: PersonId, /) -> Person: ...

    async def password_hash(self, person: PersonId, /) -> str | None: ...

    async def set_password(self, person: PersonId, password_hash: str, /) -> Person:
        """Also raises the epoch, which ends every session."""
        ...

    async def set_role(self, person: PersonId, role: PersonRole, /) -> Person: ...

    async def rename(self, person: PersonId, name: str, /) -> Person:
        """Raises `Conflict` when the name (folded) is taken. Ends no session."""
        ...

    async def remove(self, person: PersonId, /) -> None: ...

    async def add_session(self, session: LoginSession, /) -> None: ...

    async def session(self, token_hash: bytes, /) -> tuple[LoginSession, Person] | None: ...

    async def end_session(self, token_hash: bytes, /) -> None: ...

    async def add_key(self, key: ApiKey, /) -> None: ...

    async def key(self, key_hash: bytes, /) -> tuple[ApiKey, Person] | None: ...

    async def keys(self, person: PersonId, /) -> Sequence[ApiKey]: ...

    async def replace_key(self, key: ApiKey, /) -> None:
        """Change a key's name and limits; what it may do stays as it was made."""
        ...

    async def remove_key(self, person: PersonId, key: str, /) -> None: ...


# Files and secrets ------------------------------------------------------------------------------


class FileRecord(Struct, frozen=True, kw_only=True):
    id: str  # f_…
    person: PersonId
    agent: AgentId | None
    name: str
    media_type: str  # sniffed, never the client's word
    size: int
    sha256: str
    created_at: datetime


class Files(Protocol):
    """Content-addressed bytes with a row each; fsynced before the row is written."""

    async def put(
        self, person: PersonId, name: str, chunks: AsyncIterator[bytes], /, *, limit: int
    ) -> FileRecord:
        """Raises `TooLarge` past `limit` bytes, `StorageFull` when the disk is."""
        ...

    async def get(self, person: PersonId, file: str, /) -> FileRecord:
        """Its owner, or any member of a conversation with a post that names it."""
        ...

    def read(self, record: FileRecord, /) -> AsyncIterator[bytes]: ...


class Secrets(Protocol):
    """Values sealed with AES-GCM under the home's `secret.key`."""

    async def put(self, name: str, value: str, /) -> None: ...

    async def get(self, name: str, /) -> str | None: ...

    async def remove(self, name: str, /) -> None: ...
