"""A run's events told again from the record: after a crash, or to a reader who comes late."""

from __future__ import annotations

from collections.abc import Iterable

from teahouse.agent.participant import ReplyStep, ResultStep, Step
from teahouse.chat.ports import Run
from teahouse.core.events import (
    Event,
    PartDone,
    PostAdded,
    Reason,
    ReplyDone,
    RunEvent,
    RunFailed,
    StreamEnd,
    StreamStart,
    ToolFinished,
    ToolStarted,
    Usage,
)
from teahouse.core.messages import Part, Post, ToolCall, ToolResult


def replay(steps: Iterable[Step]) -> list[RunEvent]:
    """The events of the steps that an earlier attempt had finished."""
    events: list[RunEvent] = []
    calls: dict[str, ToolCall] = {}
    for step in steps:
        match step:
            case ReplyStep():
                parts = step.message.parts
                events += [PartDone(index=index, part=part) for index, part in enumerate(parts)]
                events.append(ReplyDone(reason=step.reason, usage=step.usage))
                calls |= {call.id: call for call in step.message.tool_calls}
            case ResultStep():
                events += _finished(calls.get(step.result.call), step.result, step.elapsed_ms)
    return events


def used(events: Iterable[RunEvent]) -> Usage:
    """The tokens of all replies among the events."""
    total = Usage()
    for event in events:
        if isinstance(event, ReplyDone):
            total += event.usage
    return total


def retell(run: Run, post: Post) -> list[Event]:
    """The whole story of a run that has ended, from `stream_start` to `stream_end`."""
    events: list[Event] = [StreamStart(author=run.participant, attempt=run.attempt)]
    calls: dict[str, ToolCall] = {}
    reply: list[Part] = []
    for part in post.parts:
        if isinstance(part, ToolResult):
            events += _reply(reply, "tool_calls")
            reply = []
            events += _finished(calls.get(part.call), part, 0)
            continue
        if isinstance(part, ToolCall):
            calls[part.id] = part
        reply.append(part)
    events += _reply(reply, "length" if post.ending == "length" else "stop")
    return [*events, *ending(run, post)]


def ending(run: Run, post: Post) -> list[Event]:
    """The last events of every run: what went wrong if anything, the post, and the end."""
    failed = [RunFailed(problem=post.problem)] if post.problem else []
    end = StreamEnd(post_id=post.id, reason=post.ending or "stop", usage=run.usage)
    return [*failed, PostAdded(post=post), end]


def _reply(parts: list[Part], reason: Reason) -> list[Event]:
    if not parts:
        return []
    done = [PartDone(index=index, part=part) for index, part in enumerate(parts)]
    return [*done, ReplyDone(reason=reason)]


def _finished(call: ToolCall | None, result: ToolResult, elapsed_ms: int) -> list[RunEvent]:
    started = [ToolStarted(call=call.id, name=call.name, arguments=call.arguments)] if call else []
    return [*started, ToolFinished(result=result, elapsed_ms=elapsed_ms)]
