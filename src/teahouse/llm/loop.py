"""The one tool-call loop: ask, run what was asked for, tell the results, ask again, until done.

Usable without agents; `hooks`, limits and recorded steps are all that a journal needs on top.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from teahouse.core.codec import encode
from teahouse.core.events import (
    Emit,
    PartDelta,
    PartDone,
    Reason,
    ReplyDone,
    RunEvent,
    ToolFinished,
    ToolStarted,
    Usage,
    compact,
)
from teahouse.core.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.provider import ModelRequest
from teahouse.llm.tool import Resumable, Tool, ToolContext
from teahouse.llm.tool_run import INTERRUPTED, NOT_RUN, failed, run_tool
from teahouse.llm.wall import Wall

Ask: TypeAlias = Callable[[ModelRequest, Emit], Awaitable[tuple[Message, ReplyDone]]]
Limit: TypeAlias = Literal["steps", "repeats", "wall_s", "tokens"]


class Limits(Struct, frozen=True, kw_only=True):
    """Where a run ends although its model would go on.

    `steps`: model replies. `repeats`: how often in a row the very same calls are made. `wall_s`:
    seconds, counted anew in each attempt. `tokens`: input and output of all replies together.
    """

    steps: int = 25
    repeats: int = 3
    wall_s: float = 600
    tokens: int | None = None


class Answered(Struct, frozen=True, kw_only=True):
    """A model reply that an earlier attempt had finished and recorded."""

    message: Message
    done: ReplyDone


Recorded: TypeAlias = Answered | ToolResult


class Hooks(Protocol):
    """Awaited before the next step starts: what is recorded here is not done again on resume."""

    async def replied(self, message: Message, done: ReplyDone, elapsed_ms: int, /) -> None: ...
    async def resulted(self, result: ToolResult, elapsed_ms: int, /) -> None: ...


class LoopResult(Struct, frozen=True, kw_only=True):
    """All parts in order. When the reason is `limit`, `limit` says which one ended the run."""

    parts: tuple[Part, ...]
    reason: Literal["stop", "length", "content_filter", "limit"]
    usage: Usage
    limit: Limit | None = None


async def run_loop(
    ask: Ask,
    request: ModelRequest,
    tools: Mapping[str, Tool],
    context: ToolContext,
    emit: Emit,
    *,
    hooks: Hooks | None = None,
    limits: Limits | None = None,
    steps: Sequence[Recorded] = (),
) -> LoopResult:
    """Let the model talk and use `tools` until it stops or a limit does.

    The calls of one reply run side by side; each is recorded when it finishes and shown in the
    order of the calls. `steps` is what an earlier attempt recorded: it is shown again first, so
    that a reader who starts anew has the whole run, and it is never done again. A recorded call
    without a result is made again only if its tool is `repeatable`, else the model is told.
    Raises `ProviderError` and what `hooks` and `emit` raise; a tool's errors go to the model.
    """
    specs = request.tools or tuple(tool.spec for tool in tools.values())
    run = _Run(
        ask=ask,
        request=replace(request, tools=specs),
        tools=tools,
        context=context,
        emit=emit,
        hooks=hooks,
        limits=limits or Limits(),
    )
    return await run.go(steps)


class _Turn(Struct):
    """One reply and the results of its calls, with the milliseconds they took."""

    message: Message
    done: ReplyDone
    results: dict[str, tuple[ToolResult, int]] = field(
        default_factory=dict[str, tuple[ToolResult, int]]
    )

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.message.tool_calls

    @property
    def told(self) -> tuple[Part, ...]:
        """The results so far in the order of the calls."""
        return tuple(self.results[c.id][0] for c in self.calls if c.id in self.results)


class _Run:
    def __init__(
        self,
        *,
        ask: Ask,
        request: ModelRequest,
        tools: Mapping[str, Tool],
        context: ToolContext,
        emit: Emit,
        hooks: Hooks | None,
        limits: Limits,
    ) -> None:
        self._ask, self._request, self._tools, self._context = ask, request, tools, context
        self._emit, self._hooks, self._limits = emit, hooks, limits
        self._time = asyncio.get_running_loop().time
        self._wall = Wall(limits.wall_s)
        self._turns: list[_Turn] = []
        self._unfinished: list[RunEvent] = []  # of the reply that is being made

    async def go(self, steps: Sequence[Recorded]) -> LoopResult:
        await self._show_again(steps)
        fresh = False
        while True:
            limit = self._reached()
            if self._turns:
                turn = self._turns[-1]
                if not turn.calls:
                    return self._result(_ending(turn.done.reason))
                await self._settle(turn, limit, fresh=fresh)
            if limit is not None or not await self._reply():
                return self._result("limit", limit or "wall_s")
            fresh = True

    async def _show_again(self, steps: Sequence[Recorded]) -> None:
        for step in steps:
            if isinstance(step, Answered):
                self._turns.append(_Turn(step.message, step.done))
            elif self._turns:
                self._turns[-1].results[step.call] = (step, 0)
        for turn in self._turns:
            parts = [PartDone(index=n, part=part) for n, part in enumerate(turn.message.parts)]
            await self._emit([*parts, turn.done])
            if turn is not self._turns[-1]:
                await self._settle(turn, None, fresh=False)

    async def _reply(self) -> bool:
        """Ask once; returns False when the time is up before the reply is whole."""
        if self._wall.late:
            return False
        self._unfinished = []
        messages = list(self._request.messages)
        for turn in self._turns:
            messages.append(turn.message)
            if turn.calls:
                messages.append(Message(role="tool", parts=turn.told))
        request = replace(self._request, messages=tuple(messages))
        started = self._time()
        try:
            async with self._wall.limit():
                message, done = await self._ask(request, self._watch)
        except TimeoutError:
            if self._wall.late:
                return False
            raise
        self._unfinished = []
        if self._hooks is not None:
            await self._hooks.replied(message, done, self._since(started))
        self._turns.append(_Turn(message, done))
        return True

    async def _watch(self, events: Sequence[RunEvent]) -> None:
        self._unfinished += events
        await self._emit(events)

    async def _settle(self, turn: _Turn, limit: Limit | None, *, fresh: bool) -> None:
        """Give every call of `turn` its result, and show them in the order of the calls."""
        await self._emit(
            [ToolStarted(call=c.id, name=c.name, arguments=c.arguments) for c in turn.calls]
        )
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    call.id: group.create_task(self._make(turn, call, limit, fresh=fresh))
                    for call in turn.calls
                    if call.id not in turn.results
                }
                for call in turn.calls:
                    if call.id in tasks:
                        await tasks[call.id]
                    result, elapsed_ms = turn.results[call.id]
                    await self._emit([ToolFinished(result=result, elapsed_ms=elapsed_ms)])
        except ExceptionGroup as errors:  # callers expect the error itself, as from `emit`
            raise errors.exceptions[0] from None

    async def _make(self, turn: _Turn, call: ToolCall, limit: Limit | None, *, fresh: bool) -> None:
        started = self._time()
        tool = self._tools.get(call.name)
        if limit is not None:
            result = failed(call, NOT_RUN)
        elif not fresh and tool is not None and not await self._may_be_made(tool, call):
            result = failed(call, INTERRUPTED)
        else:
            result = await run_tool(tool, call, self._context, known=self._tools, wall=self._wall)
        elapsed_ms = self._since(started)
        if self._hooks is not None:
            await self._hooks.resulted(result, elapsed_ms)
        turn.results[call.id] = (result, elapsed_ms)

    async def _may_be_made(self, tool: Tool, call: ToolCall) -> bool:
        """Of a call whose first attempt was cut by a crash."""
        if tool.repeatable:
            return True
        context = replace(self._context, call=call.id)
        return isinstance(tool, Resumable) and not await tool.begun(context)

    def _reached(self) -> Limit | None:
        limits, turns = self._limits, self._turns
        if len(turns) >= limits.steps:
            return "steps"
        if self._wall.late:
            return "wall_s"
        usage = self._usage()
        if limits.tokens is not None and usage.input + usage.output >= limits.tokens:
            return "tokens"
        last = [_wish(turn) for turn in turns[-limits.repeats - 1 :]]
        if len(last) > limits.repeats and len(set(last)) == 1:
            return "repeats"
        return None

    def _result(
        self,
        reason: Literal["stop", "length", "content_filter", "limit"],
        limit: Limit | None = None,
    ) -> LoopResult:
        parts: list[Part] = []
        for turn in self._turns:
            parts += [*turn.message.parts, *turn.told]
        parts += said(self._unfinished)
        return LoopResult(parts=tuple(parts), reason=reason, usage=self._usage(), limit=limit)

    def _usage(self) -> Usage:
        return sum((turn.done.usage for turn in self._turns), Usage())

    def _since(self, started: float) -> int:
        return round((self._time() - started) * 1000)


def said(events: Sequence[RunEvent]) -> tuple[Part, ...]:
    """What a reply that was cut off had said until then; calls are left out, none was made."""
    parts: dict[int, Part] = {}
    for event in compact(events):
        match event:
            case PartDone(part=Text() | Thinking()):
                parts[event.index] = event.part
            case PartDelta(kind="text"):
                parts[event.index] = Text(text=event.delta)
            case PartDelta(kind="thinking"):
                parts[event.index] = Thinking(text=event.delta)
            case _:
                pass
    return tuple(parts[index] for index in sorted(parts))


def _wish(turn: _Turn) -> bytes:
    return encode([(call.name, call.arguments, call.malformed) for call in turn.calls])


def _ending(reason: Reason) -> Literal["stop", "length", "content_filter"]:
    return "stop" if reason == "tool_calls" else reason
