"""What agents need kept: their rows. Their words live in files, see `workspace`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from teahouse.core.messages import AgentId, PersonId


class AgentRecord(Struct, frozen=True, kw_only=True):
    """An agent as a contact. `model` None means the default model; `hue` 0–9 colours the seal.

    `shared`: every person of the house may talk to it, else only its owner.
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
