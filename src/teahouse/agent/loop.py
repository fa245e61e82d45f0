"""An agent's turn: the tool-call loop of `llm`, with the run's journal on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec.structs import replace

from teahouse.agent.participant import Journal, Reply, ReplyStep, ResultStep, Step, Turn
from teahouse.core.errors import Problem, TeahouseError
from teahouse.core.events import Emit, ReplyDone
from teahouse.core.messages import Ending, Message, ParticipantId, ToolResult
from teahouse.llm.client import Client
from teahouse.llm.context import fit
from teahouse.llm.loop import Answered, Limits, LoopResult, Recorded, run_loop
from teahouse.llm.provider import ModelRequest
from teahouse.llm.tokens import estimate_messages
from teahouse.llm.tool import Tool, ToolContext
from teahouse.llm.usage import Caller

MOST_KEPT_FOR_ANSWER = 4096  # tokens of the window, or a quarter of a small one

_ENDINGS: dict[Literal["stop", "length", "content_filter", "limit"], Ending] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filtered",
    "limit": "limit",
}


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
        limits: Limits,
        window: int | None = None,
        temperature: float | None = None,
    ) -> None:
        """`window`: tokens that the model takes, question and answer together, if known."""
        self._id, self._client, self._model = agent, client, model
        self._system, self._tools, self._limits = system, tools, limits
        self._window, self._temperature = window, temperature

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
        result = await run_loop(
            partial(self._ask, caller),
            request,
            self._tools,
            context,
            emit,
            hooks=_Recorder(journal, self._model),
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
            request = replace(request, messages=self._fitted(request, self._window))
        return await self._client.ask(self._model, request, emit, caller=caller)

    def _fitted(self, request: ModelRequest, window: int) -> tuple[Message, ...]:
        """What of the messages the window takes, besides the tools and room for an answer.

        `fit` counts as for any model; so the room is measured by what this one was seen to count.
        """
        counts, messages = self._client.calibration, request.messages
        room = window - min(MOST_KEPT_FOR_ANSWER, window // 4)
        room -= counts.messages(self._model, (), request.tools)
        real = max(counts.messages(self._model, messages), 1)
        return fit(messages, room * estimate_messages(messages) // real)

    def _reached(self, result: LoopResult) -> Problem | None:
        if result.limit is None:
            return None
        reached = getattr(self._limits, result.limit)
        return TeahouseError(f"limit_{result.limit}", limit=reached).problem()


class _Recorder:
    """Writes each finished step to the journal before the next one starts."""

    def __init__(self, journal: Journal, model: str) -> None:
        self._journal, self._model = journal, model

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


def _recorded(steps: Sequence[Step]) -> tuple[Recorded, ...]:
    return tuple(
        Answered(message=step.message, done=ReplyDone(reason=step.reason, usage=step.usage))
        if isinstance(step, ReplyStep)
        else step.result
        for step in steps
    )
