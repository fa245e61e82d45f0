"""What happens while a reply is made. `fold` is the meaning of a stream.

The names on every wire (WebSocket, SSE, journal) are the tags of these types.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from teahouse.core.errors import Problem
from teahouse.core.messages import (
    ConversationId,
    Ending,
    JsonObject,
    Message,
    Part,
    ParticipantId,
    PersonId,
    Post,
    PostId,
    RunId,
    Text,
    Thinking,
    ToolResult,
    Usage,
)

VERSION = 1
DeltaKind: TypeAlias = Literal["text", "thinking", "tool_call"]
Reason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter"]
Effect: TypeAlias = Literal["read", "write", "external"]
"""What a tool call may do: look; change what is the agent's own; reach anything else."""
ApprovalState: TypeAlias = Literal["asked", "granted", "denied", "expired"]


class PartDelta(Struct, frozen=True, kw_only=True, tag="stream_chunk"):
    """A piece of part `index` of the reply being streamed. Deltas are for eyes; parts are truth."""

    index: int
    kind: DeltaKind
    delta: str


class PartDone(Struct, frozen=True, kw_only=True, tag="part"):
    index: int
    part: Part


class ReplyDone(Struct, frozen=True, kw_only=True, tag="reply_done", omit_defaults=True):
    """The end of one model reply. `problem` is set when tool arguments were cut by length;
    `model` is the one that answered, where it is another than was asked."""

    reason: Reason
    usage: Usage = Usage()
    problem: Literal["invalid_tool_args"] | None = None
    model: str | None = None


StreamEvent: TypeAlias = PartDelta | PartDone | ReplyDone


class StreamStart(Struct, frozen=True, kw_only=True, tag="stream_start"):
    """First of a run, and again at each further attempt: what the reader had of it is void."""

    author: ParticipantId
    attempt: int


class ToolStarted(Struct, frozen=True, kw_only=True, tag="tool_call"):
    call: str
    name: str
    arguments: JsonObject


class ToolFinished(Struct, frozen=True, kw_only=True, tag="tool_result"):
    result: ToolResult
    elapsed_ms: int = 0


class Approval(Struct, frozen=True, kw_only=True, tag="approval", omit_defaults=True):
    """A person is asked whether a call may be made, or has answered; the newest of one id counts.

    `arguments` are those that the tool gets. `reason` is a code that says why it is asked. `words`
    are those of a plain command: an answer may hold for others that begin alike. Of any other
    command there are none; it is None where the tool runs no commands.
    """

    id: str  # ap_…
    call: str
    tool: str
    arguments: JsonObject
    effect: Effect
    reason: str
    state: ApprovalState
    expires_at: datetime
    words: tuple[str, ...] | None = None
    decided_by: PersonId | None = None


class RunFailed(Struct, frozen=True, kw_only=True, tag="error", omit_defaults=True):
    """A run's error. `ref` instead names the socket frame that was refused."""

    problem: Problem
    ref: str | None = None


class StreamEnd(Struct, frozen=True, kw_only=True, tag="stream_end"):
    """Last of a run: the post that holds the reply, and why it ends."""

    post_id: PostId
    reason: Ending
    usage: Usage = Usage()


class PostAdded(Struct, frozen=True, kw_only=True, tag="post"):
    """A post was written or changed; the reader keeps the newest of one id."""

    post: Post


class ConversationChanged(Struct, frozen=True, kw_only=True, tag="conversation"):
    """Title, members or flags changed; the reader asks for the conversation again."""

    title: str


class Resync(Struct, frozen=True, kw_only=True, tag="resync"):
    """The reader was away too long: the latest posts and running answers follow in full."""


class Unknown(Struct, frozen=True, kw_only=True):
    """An event of a newer version: its type and its bytes, kept and passed on, never an error."""

    type: str
    raw: bytes


RunEvent: TypeAlias = (
    PartDelta
    | PartDone
    | ReplyDone
    | StreamStart
    | ToolStarted
    | ToolFinished
    | Approval
    | RunFailed
    | StreamEnd
)
Event: TypeAlias = RunEvent | PostAdded | ConversationChanged | Resync
Emit: TypeAlias = Callable[[Sequence[RunEvent]], Awaitable[None]]


class Envelope(Struct, frozen=True, kw_only=True):
    """An event in its place. `seq` only rises within a conversation and is never used twice."""

    v: int = VERSION
    seq: int
    conversation: ConversationId
    run: RunId | None
    at: datetime
    event: Event


def fold(events: Iterable[Any]) -> Message:
    """Build the message that a stream, or a whole run of several replies and tools, describes.

    Indices count within one reply; a tool's result follows the replies before it.
    """
    parts: list[Part] = []
    reply: dict[int, Part] = {}
    for event in events:
        match event:
            case StreamStart():
                parts, reply = [], {}
            case PartDone():
                reply[event.index] = event.part
            case ReplyDone():
                parts += [reply[index] for index in sorted(reply)]
                reply = {}
            case ToolFinished():
                parts.append(event.result)
            case _:
                pass
    parts += [reply[index] for index in sorted(reply)]
    return Message(role="assistant", parts=tuple(parts))


def unfinished(events: Sequence[RunEvent]) -> tuple[Part, ...]:
    """The parts of a run that was cut: those that were done, and what had come of open ones.

    A tool call whose arguments were still coming is no part yet.
    """
    parts = [*fold(events).parts]
    for event in compact(events):
        if isinstance(event, PartDelta) and event.kind != "tool_call":
            kind = Text if event.kind == "text" else Thinking
            parts.append(kind(text=event.delta))
    return tuple(parts)


def compact(events: Iterable[RunEvent]) -> list[RunEvent]:
    """Shorten what has happened so far to what a late reader needs: `fold` stays the same.

    Deltas of a finished part are dropped, those of an open part become one. Of an approval the
    newest word stays.
    """
    short: list[RunEvent] = []
    open_parts: dict[int, _OpenPart] = {}
    approvals: dict[str, int] = {}  # where each stands
    for event in events:
        match event:
            case StreamStart():
                short, open_parts, approvals = [event], {}, {}
            case Approval():
                place = approvals.setdefault(event.id, len(short))
                short[place : place + 1] = [event]
            case PartDelta():
                part = open_parts.get(event.index)
                if part is None:
                    open_parts[event.index] = _OpenPart(len(short), event.kind, [event.delta])
                    short.append(event)
                else:
                    part.pieces.append(event.delta)
            case PartDone():
                part = open_parts.pop(event.index, None)
                if part is None:
                    short.append(event)
                else:
                    short[part.place] = event
            case ReplyDone():
                _close(short, open_parts)
                short.append(event)
            case _:
                short.append(event)
    _close(short, open_parts)
    return short


class _OpenPart(Struct):
    place: int
    kind: DeltaKind
    pieces: list[str]


def _close(short: list[RunEvent], open_parts: dict[int, _OpenPart]) -> None:
    for index, part in open_parts.items():
        short[part.place] = PartDelta(index=index, kind=part.kind, delta="".join(part.pieces))
    open_parts.clear()
