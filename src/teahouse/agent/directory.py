"""The house's agents as contacts: who may see, use and change which, and their workspaces."""

from __future__ import annotations

import asyncio
import logging
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType, field, structs

from teahouse.agent.permission import Rule, Rules, check_rules
from teahouse.agent.ports import AgentRecord, Agents
from teahouse.agent.workspace import Workspaces, check_soul, folder_name
from teahouse.core import i18n
from teahouse.core.clock import Clock
from teahouse.core.errors import Conflict, Invalid, NotAllowed, NotFound, TeahouseError, TooLarge
from teahouse.core.ids import new_id
from teahouse.core.messages import AgentId, Person, PersonId
from teahouse.core.names import clean_name, folded

log = logging.getLogger(__name__)

MAX_DESCRIPTION = 280
HUES = 10
STARTERS = ("host", "scribe", "smith")


class Agent(AgentRecord, frozen=True, kw_only=True):
    """An agent as its readers see it; `soul` only where one agent was asked for."""

    soul: str | None = None


class AgentDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    description: str = ""
    soul: str = ""
    model: str | None = None
    temperature: float | None = None
    shared: bool = False
    permissions: dict[str, Rule] = field(default_factory=dict[str, Rule])


class AgentChanges(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is unset stays."""

    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    soul: str | UnsetType = UNSET
    model: str | UnsetType | None = UNSET
    temperature: float | UnsetType | None = UNSET
    shared: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    permissions: dict[str, Rule] | UnsetType = UNSET


class Directory:
    def __init__(self, agents: Agents, root: Path, clock: Clock) -> None:
        self._agents = agents
        self._workspaces = Workspaces(root)
        self._clock = clock
        # A row is read, then written; hue and folder are chosen among those taken.
        self._changing = asyncio.Lock()

    async def list(self, person: Person, *, archived: bool = False) -> Sequence[Agent]:
        """Those the person may talk to, oldest first."""
        rows = await self._agents.all()
        return [_agent(row) for row in rows if _sees(person.id, row) and row.archived == archived]

    async def get(self, person: Person, agent: AgentId) -> Agent:
        row = await self.record(person, agent)
        try:
            soul = await asyncio.to_thread(self._workspaces.soul, row.workspace)
        except NotFound:
            soul = ""
        return _agent(row, soul)

    async def record(self, person: Person, agent: AgentId) -> AgentRecord:
        """The row alone; raises `NotFound` also for what the person may not see."""
        row = await self._agents.get(agent)
        if not _sees(person.id, row):
            raise NotFound("agent_unknown", agent=agent)
        return row

    async def rules_of(self, agent: AgentId) -> Rules:
        """For the agent's own run: which tools it may use at this moment."""
        return (await self._agents.get(agent)).permissions

    async def named(self, person: PersonId, name: str) -> AgentRecord:
        """The agent that the person means by a name or an id; their own before a shared one.

        Raises `NotFound`, and `Conflict` for a name that several bear.
        """
        seen = [row for row in await self._agents.all() if _sees(person, row) and not row.archived]
        called = [row for row in seen if row.id == name or folded(row.name) == folded(name)]
        called = [row for row in called if row.owner == person] or called
        if not called:
            raise NotFound("agent_unknown", agent=name)
        if len(called) > 1:
            ids = ", ".join(row.id for row in called)
            raise Conflict("agent_name_shared", name=name, ids=ids)
        return called[0]

    async def row_and_soul(
        self, agent: AgentId, person: PersonId | None
    ) -> tuple[AgentRecord, str]:
        """For the agent's own run: what it is at this moment, straight from its folder.

        Raises `NotFound` when it is shared with `person` no more, although they talked before.
        """
        row = await self._agents.get(agent)
        if person is not None and not _sees(person, row):
            raise NotFound("agent_unknown", agent=agent)
        return row, await asyncio.to_thread(self._workspaces.soul, row.workspace)

    async def create(self, person: Person, draft: AgentDraft) -> Agent:
        if person.role == "guest":
            raise NotAllowed("guests_create_no_agents")
        name = clean_name(draft.name)
        _check(draft.description, draft.temperature)
        check_soul(draft.soul)
        check_rules(draft.permissions)
        async with self._changing:
            rows = await self._agents.all()
            taken = await asyncio.to_thread(self._workspaces.names)
            workspace = folder_name(name, taken | {row.workspace for row in rows})
            now = self._clock.now()
            row = AgentRecord(
                id=new_id("a"),
                owner=person.id,
                name=name,
                description=draft.description.strip(),
                workspace=workspace,
                hue=free_hue(name, [row.hue for row in rows if not row.archived]),
                model=draft.model or None,
                temperature=draft.temperature,
                shared=draft.shared,
                archived=False,
                created_at=now,
                updated_at=now,
                permissions=draft.permissions,
            )
            await asyncio.to_thread(self._workspaces.create, workspace, draft.soul)
            try:
                await self._agents.add(row)
            except BaseException:
                await asyncio.to_thread(self._workspaces.remove, workspace)
                raise
        return _agent(row, draft.soul)

    async def change(self, person: Person, agent: AgentId, changes: AgentChanges) -> Agent:
        """All of it or nothing: what is refused is refused before anything is written."""
        fields = {
            name: value
            for name, value in structs.asdict(changes).items()
            if value is not UNSET and name != "soul"
        }
        if "name" in fields:
            fields["name"] = clean_name(fields["name"])
        if "description" in fields:
            fields["description"] = fields["description"].strip()
        if "model" in fields:
            fields["model"] = fields["model"] or None
        _check(fields.get("description", ""), fields.get("temperature"))
        check_rules(fields.get("permissions", {}))
        if changes.soul is not UNSET:
            check_soul(changes.soul)
        async with self._changing:
            row = await self._changeable(person, agent)
            if fields:
                row = structs.replace(row, **fields, updated_at=self._clock.now())
                await self._agents.replace(row)
            if changes.soul is not UNSET:
                await asyncio.to_thread(self._workspaces.write_soul, row.workspace, changes.soul)
        return _agent(row, await self._legible_soul(row))

    async def remove(self, person: Person, agent: AgentId) -> None:
        """Delete for good: the row and the workspace. What it said stays in the conversations."""
        async with self._changing:
            row = await self._changeable(person, agent)
            await self._agents.remove(row.id)
            await asyncio.to_thread(self._workspaces.remove, row.workspace)

    async def forget(self, owner: PersonId) -> None:
        """Delete the agents that were this person's alone; shared ones stay with the house."""
        async with self._changing:
            for row in await self._agents.all():
                if row.owner == owner and not row.shared:
                    await self._agents.remove(row.id)
                    await asyncio.to_thread(self._workspaces.remove, row.workspace)

    async def ensure_starters(self, owner: Person, language: i18n.Language) -> None:
        """Give a house its first three agents, in the language that the owner has chosen.

        Those that nobody has touched learn another language when the choice comes after them. One
        that cannot, or whose SOUL.md cannot be read, stays as it is: it keeps no house shut.
        """
        rows = [row for row in await self._agents.all() if row.owner == owner.id]
        for draft in _starters(language) if not rows else ():
            await self.create(owner, draft)
        former = [numbered for known in i18n.LANGUAGES for numbered in _numbered(known)]
        for row in rows:
            try:
                draft = _draft_of(await self.get(owner, row.id))
                place = next((place for place, starter in former if starter == draft), None)
                if place is not None:
                    new = _starters(language)[place]
                    changes = AgentChanges(
                        name=new.name, description=new.description, soul=new.soul
                    )
                    await self.change(owner, row.id, changes)
            except (Invalid, TooLarge, Conflict) as error:
                log.warning("The agent %s keeps its words: %s", row.name, error)

    async def _legible_soul(self, row: AgentRecord) -> str | None:
        """None where the file is gone or cannot be read: what else was changed is changed."""
        try:
            return await asyncio.to_thread(self._workspaces.soul, row.workspace)
        except TeahouseError:
            return None

    async def _changeable(self, person: Person, agent: AgentId) -> AgentRecord:
        row = await self.record(person, agent)
        manages = row.shared and person.role in ("owner", "admin")
        if row.owner != person.id and not manages:
            raise NotAllowed("agent_not_yours", name=row.name)
        return row


def _starters(language: i18n.Language) -> list[AgentDraft]:
    return [
        AgentDraft(
            name=i18n.text(language, f"prompts.starter.{key}.name"),
            description=i18n.text(language, f"prompts.starter.{key}.description"),
            soul=i18n.text(language, f"prompts.starter.{key}.soul"),
            shared=True,
        )
        for key in STARTERS
    ]


def _numbered(language: i18n.Language) -> Iterable[tuple[int, AgentDraft]]:
    return enumerate(_starters(language))


def _draft_of(agent: Agent) -> AgentDraft:
    return AgentDraft(
        name=agent.name,
        description=agent.description,
        soul=agent.soul or "",
        model=agent.model,
        temperature=agent.temperature,
        shared=agent.shared,
        permissions=agent.permissions,
    )


def free_hue(name: str, taken: Sequence[int]) -> int:
    """The hue that the name's FNV-1a hash points at, or the next one nobody has yet."""
    value = 0x811C9DC5
    for byte in unicodedata.normalize("NFC", name).encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    start = value % HUES
    probes = [(start + step) % HUES for step in range(HUES)]
    return next((hue for hue in probes if hue not in taken), start)


def _agent(row: AgentRecord, soul: str | None = None) -> Agent:
    return Agent(**structs.asdict(row), soul=soul)


def _sees(person: PersonId, row: AgentRecord) -> bool:
    return row.shared or row.owner == person


def _check(description: str, temperature: float | None) -> None:
    if len(description) > MAX_DESCRIPTION:
        raise Invalid("description_too_long", length=len(description), limit=MAX_DESCRIPTION)
    if temperature is not None and not 0 <= temperature <= 2:
        raise Invalid("temperature_out_of_range", temperature=temperature)
