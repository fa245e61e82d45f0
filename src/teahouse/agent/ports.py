"""What agents need kept: their rows, and what people allowed them. Their words live in files, see
`workspace`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct, field

from teahouse.agent.permission import Grant, Rule
from teahouse.core.events import Approval, ApprovalState, Effect
from teahouse.core.messages import AgentId, ConversationId, JsonObject, PersonId, RunId


class AgentRecord(Struct, frozen=True, kw_only=True):
    """An agent as a contact. `model` None means the default model; `hue` 0–9 colours the seal.

    `shared`: every person of the house may talk to it, else only its owner. `permissions`: which
    tools it may use, see `permission.Rules`.
    """

    id: AgentId
    owner: PersonId
    name: str
    description: str
    workspace: str  # folder name below the home's `agents/`
    hue: int
    model: str | None
    temperature: float | None
    shared: bool
    archived: bool
    created_at: datetime
    updated_at: datetime
    permissions: dict[str, Rule] = field(default_factory=dict[str, Rule])


class Agents(Protocol):
    async def add(self, agent: AgentRecord, /) -> None:
        """Raises `Conflict` when the owner has an unarchived agent of this name already."""
        ...

    async def get(self, agent: AgentId, /) -> AgentRecord:
        """Raises `NotFound`."""
        ...

    async def all(self) -> Sequence[AgentRecord]:
        """Every agent, archived ones too, oldest first."""
        ...

    async def replace(self, agent: AgentRecord, /) -> None:
        """Raises `NotFound` or `Conflict`."""
        ...

    async def remove(self, agent: AgentId, /) -> None:
        """Take the row away; what the agent wrote stays in the conversations."""
        ...


class ApprovalRecord(Struct, frozen=True, kw_only=True):
    """A question to a person whether a call may be made, and what became of it.

    `turn` counts the calls of the same id in one run before this one. `used_at`: the call began.
    """

    id: str  # ap_…
    run: RunId
    conversation: ConversationId
    agent: AgentId
    person: PersonId
    call: str
    turn: int
    tool: str
    arguments: JsonObject
    effect: Effect
    reason: str
    words: tuple[str, ...] | None
    state: ApprovalState
    asked_at: datetime
    expires_at: datetime
    decided_by: PersonId | None = None
    decided_at: datetime | None = None
    used_at: datetime | None = None

    def event(self) -> Approval:
        return Approval(
            id=self.id,
            call=self.call,
            tool=self.tool,
            arguments=self.arguments,
            effect=self.effect,
            reason=self.reason,
            state=self.state,
            expires_at=self.expires_at,
            words=self.words,
            decided_by=self.decided_by,
        )


class Approvals(Protocol):
    """Questions and standing answers. All that returns has been committed durably."""

    async def ask(self, approval: ApprovalRecord, /) -> ApprovalRecord:
        """Store a question; one of the same run, call and turn answers what is stored."""
        ...

    async def of_call(self, run: RunId, call: str, turn: int, /) -> ApprovalRecord | None: ...

    async def get(self, person: PersonId, approval: str, /) -> ApprovalRecord:
        """Raises `NotFound` also for what another person is asked."""
        ...

    async def all(
        self, person: PersonId, /, *, state: ApprovalState | None, run: RunId | None, limit: int
    ) -> Sequence[ApprovalRecord]:
        """What this person was asked, the newest first. A question whose run has ended, or whose
        time is up, reads `expired`."""
        ...

    async def answer(
        self,
        person: PersonId,
        approval: str,
        state: Literal["granted", "denied"],
        /,
        *,
        grant: Grant | None,
    ) -> ApprovalRecord:
        """Answer an open question, and keep the grant with it. Raises `NotFound`, and `Conflict`
        for one that is answered, expired, or whose run has ended."""
        ...

    async def expire(self, approval: str, /) -> ApprovalRecord:
        """End a question that nobody has answered; one that is answered stays as it is."""
        ...

    async def use(self, approval: str, /) -> bool:
        """Note that the granted call begins now; False where it had begun before."""
        ...

    async def grants(self, person: PersonId, agent: AgentId | None = None, /) -> Sequence[Grant]:
        """Those that hold, the newest first."""
        ...

    async def remove_grant(self, person: PersonId, grant: str, /) -> None:
        """Raises `NotFound`."""
        ...
