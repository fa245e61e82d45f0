"""An agent's turn: the tool-call loop of `llm`, with the run's journal on top."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from teahouse.agent.guard import Guard
from teahouse.agent.participant import Journal, Reply, ReplyStep, ResultStep, Step, Turn
from teahouse.core import i18n
from teahouse.core.errors import Problem, ProviderError, TeahouseError
from teahouse.core.events import Emit, ReplyDone, RunEvent
from teahouse.core.messages import Ending, Message, ParticipantId, Text, ToolResult
from teahouse.llm.client import Client
from teahouse.llm.context import fit
from teahouse.llm.loop import Answered, Limits, LoopResult, Recorded, run_loop
from teahouse.llm.provider import ModelRequest
from teahouse.llm.summary import Summaries
from teahouse.llm.tokens import estimate_messages
from teahouse.llm.tool import Tool, ToolContext
from teahouse.llm.usage import Caller

log = logging.getLogger(__name__)

MOST_KEPT_FOR_ANSWER = 4096  # tokens of the window, or a quarter of a small one

_ENDINGS: dict[Literal["stop", "length", "content_filter", "limit"], Ending] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filtered",
    "limit": "limit",
}


class Folding(Struct, frozen=True, kw_only=True):
    """How the oldest turns become a summary; `model` None: the agent's own writes it. `window` is
    that of `model`, if known."""

    summaries: Summaries
    language: i18n.Language
    model: str | None = None
    window: int | None = None


class AgentParticipant:
    """An agent as it is at this moment; one is made for each turn."""

    def __init__(
        self,
        agent: ParticipantId,
        *,
        client: Client,
        model: str,
        system: Message,
        tools: Mapping[str, Tool],
        guard: Callable[[Turn, Emit], Guard],
        limits: Limits,
        window: int | None = None,
        temperature: float | None = None,
        folding: Folding | None = None,
    ) -> None:
        """`guard` stands before all `tools`. `window`: tokens that the model takes, question and
        answer together, if known. Without `folding` what is too old for it is cut."""
        self._id, self._client, self._model = agent, client, model
        self._system, self._tools, self._guard, self._limits = system, tools, guard, limits
        self._window, self._temperature, self._folding = window, temperature, folding

    async def respond(self, turn: Turn, journal: Journal, emit: Emit, /) -> Reply:
        wished = turn.wishes.temperature
        request = replace(
            turn.wishes,
            model=self._model,
            messages=(self._system, *turn.messages),
            temperature=self._temperature if wished is None else wished,
        )
        context = ToolContext(
            conversation=turn.conversation, run=turn.run, agent=self._id, person=turn.person
        )
        caller = replace(
            turn.caller,
            person=turn.person,
            agent=self._id,
            conversation=turn.conversation or turn.caller.conversation,
            run=turn.run,
        )
        guard = self._guard(turn, emit)
        result = await run_loop(
            partial(self._ask, caller),
            request,
            await guard.over(self._tools),
            context,
            emit,
            hooks=_Recorder(journal, self._model, guard),
            limits=self._limits,
            steps=_recorded(turn.steps),
        )
        return Reply(
            parts=result.parts,
            ending=_ENDINGS[result.reason],
            usage=result.usage,
            problem=self._reached(result),
        )

    async def _ask(
        self, caller: Caller, request: ModelRequest, emit: Emit
    ) -> tuple[Message, ReplyDone]:
        if self._window is not None:
            room = self._room(request, self._window)
            messages = await self._fitted(caller, request.messages, room)
            request = replace(request, messages=messages)
        return await self._client.ask(self._model, request, emit, caller=caller)

    def _room(self, request: ModelRequest, window: int) -> int:
        """How many tokens messages may have, besides the tools and room for an answer.

        They are estimated as for any model; so the room is measured by what this one was seen to
        count.
        """
        counts, messages = self._client.calibration, request.messages
        room = window - min(MOST_KEPT_FOR_ANSWER, window // 4)
        room -= counts.messages(self._model, (), request.tools)
        real = max(counts.messages(self._model, messages), 1)
        return room * estimate_messages(messages) // real

    async def _fitted(
        self, caller: Caller, messages: tuple[Message, ...], tokens: int
    ) -> tuple[Message, ...]:
        folding = self._folding
        if folding is None:
            return fit(messages, tokens)
        write = partial(self._summarise, replace(caller, purpose="summary"), folding.model)
        try:
            return await folding.summaries.fit(
                messages, tokens, write, folding.language, readable=folding.window
            )
        except ProviderError as error:
            log.warning("No summary was written (%s), the oldest turns are cut", error.code)
            self._folding = None  # for the rest of this turn
            return fit(messages, tokens)

    async def _summarise(self, caller: Caller, model: str | None, question: str, most: int) -> str:
        asked = Message(role="user", parts=(Text(text=question),))
        request = ModelRequest(model="", messages=(asked,), max_tokens=most)
        reply, _ = await self._client.ask(
            model or self._model, request, _nobody_listens, caller=caller
        )
        return reply.text

    def _reached(self, result: LoopResult) -> Problem | None:
        if result.limit is None:
            return None
        reached = getattr(self._limits, result.limit)
        return TeahouseError(f"limit_{result.limit}", limit=reached).problem()


async def _nobody_listens(events: Sequence[RunEvent]) -> None:
    return None


class _Recorder:
    """Writes each finished step to the journal before the next one starts."""

    def __init__(self, journal: Journal, model: str, guard: Guard) -> None:
        self._journal, self._model, self._guard = journal, model, guard

    async def replied(self, message: Message, done: ReplyDone, elapsed_ms: int, /) -> None:
        step = ReplyStep(
            message=message,
            reason=done.reason,
            usage=done.usage,
            model=done.model or self._model,
            elapsed_ms=elapsed_ms,
        )
        await self._journal.append(step)

    async def resulted(self, result: ToolResult, elapsed_ms: int, /) -> None:
        await self._journal.append(ResultStep(result=result, elapsed_ms=elapsed_ms))
        self._guard.resulted(result)


def _recorded(steps: Sequence[Step]) -> tuple[Recorded, ...]:
    return tuple(
        Answered(message=step.message, done=ReplyDone(reason=step.reason, usage=step.usage))
        if isinstance(step, ReplyStep)
        else step.result
        for step in steps
    )
