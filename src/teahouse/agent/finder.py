"""Makes the participant that an agent is at this moment: row, SOUL, model and tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from teahouse.agent.directory import Directory
from teahouse.agent.guard import Gate, Guard
from teahouse.agent.loop import AgentParticipant, Folding
from teahouse.agent.participant import Participant
from teahouse.agent.permission import Rule, rule_of, traits_of, usual_rule
from teahouse.agent.prompt import system_message
from teahouse.core import i18n
from teahouse.core.clock import Clock
from teahouse.core.events import Effect
from teahouse.core.messages import AgentId, ParticipantId, Person, PersonId
from teahouse.llm.client import Client
from teahouse.llm.errors import NoModelChosen
from teahouse.llm.loop import Limits
from teahouse.llm.summary import Summaries
from teahouse.llm.tool import Tool


class Surroundings(Struct, frozen=True, kw_only=True):
    """The settings that agents live under; asked for at each turn, so that changes count at once.

    `window` tells how many tokens a model takes, if that is known. `summarise`: what is too old for
    it is folded into a summary, by `summary_model` or the agent's own.
    """

    language: i18n.Language
    default_model: str | None
    limits: Limits
    window: Callable[[str], int | None]
    summarise: bool = False
    summary_model: str | None = None


class ToolOfAgent(Struct, frozen=True, kw_only=True):
    """A tool as its agent may use it: `rule` is what counts, `usual` what would without rules.
    `is_foreign`: what it returns was written by others."""

    name: str
    description: str
    effect: Effect
    is_foreign: bool
    rule: Rule
    usual: Rule


class AgentFinder:
    def __init__(
        self,
        directory: Directory,
        client: Client,
        clock: Clock,
        *,
        tools: Mapping[str, Tool],
        gate: Gate,
        surroundings: Callable[[], Surroundings],
    ) -> None:
        self._directory, self._client, self._clock = directory, client, clock
        self._tools, self._gate, self._surroundings = tools, gate, surroundings
        self._summaries = Summaries()

    async def model_of(self, agent: ParticipantId) -> str:
        """The model an agent speaks with; raises `NoModelChosen` when there is none at all."""
        row, _ = await self._directory.row_and_soul(agent, None)
        return self._chosen(None, row.model)

    async def find(
        self, participant: ParticipantId, /, *, person: PersonId, model: str | None
    ) -> Participant:
        row, soul = await self._directory.row_and_soul(participant, person)
        around = self._surroundings()
        chosen = self._chosen(model, row.model)
        return AgentParticipant(
            row.id,
            client=self._client,
            model=chosen,
            system=system_message(row.name, soul, now=self._clock.now(), language=around.language),
            tools=self._tools,
            guard=partial(Guard, self._gate, row.id),
            limits=around.limits,
            window=around.window(chosen),
            temperature=row.temperature,
            folding=self._folding(around),
        )

    async def tools_of(self, person: Person, agent: AgentId) -> Sequence[ToolOfAgent]:
        """Every tool there is, and whether this agent may use it. Raises `NotFound`."""
        rules = (await self._directory.record(person, agent)).permissions
        found: list[ToolOfAgent] = []
        for tool in self._tools.values():
            name, traits, usual = tool.spec.name, traits_of(tool), usual_rule(tool)
            found.append(
                ToolOfAgent(
                    name=name,
                    description=tool.spec.description,
                    effect=traits.effect,
                    is_foreign=traits.is_foreign,
                    rule=rule_of(name, rules) or usual,
                    usual=usual,
                )
            )
        return sorted(found, key=lambda one: one.name)

    def _folding(self, around: Surroundings) -> Folding | None:
        if not around.summarise:
            return None
        model = around.summary_model
        return Folding(
            summaries=self._summaries,
            language=around.language,
            model=model,
            window=around.window(model) if model else None,
        )

    def _chosen(self, *models: str | None) -> str:
        for model in (*models, self._surroundings().default_model):
            if model:
                return model
        raise NoModelChosen
