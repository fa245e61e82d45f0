"""Every tool of an agent's turn behind one gate: what the rules do not allow is asked, or refused.

It stands where tools are called, not where they are offered. Texts here are for models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import timedelta
from typing import Final, TypeAlias

from msgspec import Struct

from teahouse.agent.approval import Desk
from teahouse.agent.participant import ResultStep, Turn
from teahouse.agent.permission import (
    Call,
    Decision,
    Rules,
    call_of,
    canonical,
    decide,
    rule_of,
    traits_of,
)
from teahouse.agent.ports import ApprovalRecord, Approvals
from teahouse.core.clock import Clock
from teahouse.core.errors import ToolFailed
from teahouse.core.events import Emit
from teahouse.core.ids import new_id
from teahouse.core.messages import AgentId, JsonObject, Part, ToolCall, ToolResult
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, Resumable, Tool, ToolContext

DENIED: Final = (
    "The person said no to this call, so it was not made. Do not try the same in another way: go"
    " on without it, or ask them what they would rather have."
)
EXPIRED: Final = (
    "A person was asked whether this call may be made, and did not answer in time, so it was not"
    " made. Go on without it, and say what is left to do."
)
NOBODY: Final = (
    "This call needs a person's approval, and nobody can be asked here, so it was not made. Go on"
    " without it, and say so."
)
FORBIDDEN: Final = "This agent may not make this call ({reason}), so it was not made."
TOO_LONG: Final = (
    "The arguments are too long for a person to read and approve, so the call was not made. Use"
    " shorter ones."
)
USED: Final = "This call was begun before; its outcome is unknown. Check before you make it again."


RulesOf: TypeAlias = Callable[[AgentId], Awaitable[Rules]]
"""An agent's rules as they are at this moment."""


class Gate(Struct, frozen=True, kw_only=True):
    """What the guards of all turns share. `wait_s`: how long a person has to answer."""

    approvals: Approvals
    desk: Desk
    clock: Clock
    rules: RulesOf
    wait_s: Callable[[], float]


class Guard:
    """Of one turn of one agent. Rules and grants are read anew at every call."""

    def __init__(self, gate: Gate, agent: AgentId, turn: Turn, emit: Emit) -> None:
        self._gate, self._agent, self._turn, self._emit = gate, agent, turn, emit
        results = (step.result.call for step in turn.steps if isinstance(step, ResultStep))
        self._made = Counter(results)  # vendors may number the calls of each reply anew
        self.has_read_foreign = True  # until `over` has looked

    async def over(self, tools: Mapping[str, Tool]) -> dict[str, Tool]:
        """The tools of this turn, each behind this guard; those that are denied are left out."""
        self.has_read_foreign = has_read_foreign(self._turn, tools)
        rules = await self._gate.rules(self._agent)
        return {
            name: Guarded(self, tool)
            for name, tool in tools.items()
            if rule_of(name, rules) != "deny"
        }

    def resulted(self, result: ToolResult) -> None:
        """Hear of each result, as soon as it is recorded."""
        self._made[result.call] += 1

    async def asked(self, context: ToolContext) -> ApprovalRecord | None:
        """The question that an earlier attempt has put for this call."""
        if context.run is None or context.call is None or not self._turn.steps:
            return None
        call = context.call
        return await self._gate.approvals.of_call(context.run, call, self._made[call])

    async def admit(self, tool: Tool, arguments: JsonObject, context: ToolContext) -> None:
        """Return when the call may begin; raises `ToolFailed` when it may not."""
        asked = await self.asked(context)
        if asked is None:
            call = call_of(tool, arguments)
            decision = await self._decide(call)
            if decision.rule == "allow":
                return
            if decision.rule == "deny":
                raise _refused(decision.reason)
            asked = await self._ask(call, decision.reason, context)
        elif canonical(asked.arguments) != canonical(arguments):
            raise ToolFailed(USED)  # not what was shown
        if asked.state == "asked":
            await self._emit([asked.event()])
            with context.waiting():
                asked = await self._gate.desk.wait(asked)
        await self._emit([asked.event()])
        if asked.state != "granted":
            raise ToolFailed(DENIED if asked.state == "denied" else EXPIRED)
        if rule_of(asked.tool, await self._gate.rules(self._agent)) == "deny":
            raise _refused("rule")
        may_begin_again = tool.repeatable or isinstance(tool, Resumable)
        if not await self._gate.approvals.use(asked.id) and not may_begin_again:
            raise ToolFailed(USED)

    async def _decide(self, call: Call) -> Decision:
        gate, turn = self._gate, self._turn
        return decide(
            call,
            await gate.rules(self._agent),
            await gate.approvals.grants(turn.person, self._agent),
            has_read_foreign=self.has_read_foreign,
            now=gate.clock.now(),
        )

    async def _ask(self, call: Call, reason: str, context: ToolContext) -> ApprovalRecord:
        """Store the question, before anybody sees it."""
        turn, now = self._turn, self._gate.clock.now()
        if turn.conversation is None or context.call is None:
            raise ToolFailed(NOBODY)
        question = ApprovalRecord(
            id=new_id("ap"),
            run=turn.run,
            conversation=turn.conversation,
            agent=self._agent,
            person=turn.person,
            call=context.call,
            turn=self._made[context.call],
            tool=call.tool,
            arguments=call.arguments,
            effect=call.effect,
            reason=reason,
            words=call.judged.words if call.judged else None,
            state="asked",
            asked_at=now,
            expires_at=now + timedelta(seconds=self._gate.wait_s()),
        )
        return await self._gate.approvals.ask(question)


class Guarded:
    """A tool as an agent gets it."""

    def __init__(self, guard: Guard, tool: Tool) -> None:
        self._guard, self._tool = guard, tool
        self._is_foreign = traits_of(tool).is_foreign

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    @property
    def repeatable(self) -> bool:
        return self._tool.repeatable

    async def begun(self, context: ToolContext, /) -> bool:
        """A call that still waits for its answer, or for its turn after that, has not begun."""
        asked = await self._guard.asked(context)
        if asked is not None and asked.used_at is None:
            return False
        return await self._tool.begun(context) if isinstance(self._tool, Resumable) else True

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        await self._guard.admit(self._tool, arguments, context)
        try:
            return await self._tool(arguments, context)
        finally:
            if self._is_foreign:  # what it fails with is foreign too
                self._guard.has_read_foreign = True


def has_read_foreign(turn: Turn, tools: Mapping[str, Tool]) -> bool:
    """Whether a result in sight was written by others: in this run, or earlier in the log. A tool
    that is not there any more may have brought anything."""
    names: dict[str, str] = {}
    for part in _parts(turn):
        if isinstance(part, ToolCall):
            names[part.id] = part.name
        elif isinstance(part, ToolResult):
            tool = tools.get(names.get(part.call, ""))
            if tool is None or traits_of(tool).is_foreign:
                return True
    return False


def _parts(turn: Turn) -> Iterator[Part]:
    for message in turn.messages:
        yield from message.parts
    for step in turn.steps:
        if isinstance(step, ResultStep):
            yield step.result
        else:
            yield from step.message.parts


def _refused(reason: str) -> ToolFailed:
    return ToolFailed(TOO_LONG if reason == "too_long" else FORBIDDEN.format(reason=reason))
