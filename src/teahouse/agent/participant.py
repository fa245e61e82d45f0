"""Anyone who can take a turn: an agent; later a group, a flow, a person behind a channel."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from msgspec import Struct

from teahouse.core.errors import Problem
from teahouse.core.events import Emit, Reason, Usage
from teahouse.core.messages import (
    ConversationId,
    Ending,
    Message,
    Part,
    ParticipantId,
    PersonId,
    RunId,
    ToolResult,
)
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import NOBODY, Caller

NO_WISHES = ModelRequest(model="", messages=())


class ReplyStep(Struct, frozen=True, kw_only=True, tag="reply"):
    """A model reply that was finished and recorded."""

    message: Message
    reason: Reason
    usage: Usage
    model: str
    elapsed_ms: int = 0


class ResultStep(Struct, frozen=True, kw_only=True, tag="result"):
    """A tool call that was finished and recorded: it is never made again."""

    result: ToolResult
    elapsed_ms: int = 0


Step: TypeAlias = ReplyStep | ResultStep


class Journal(Protocol):
    """The record of one run. A step is durable before the next one starts."""

    async def append(self, step: Step, /) -> None: ...


class Turn(Struct, frozen=True, kw_only=True):
    """One run's work. `steps` is what an earlier attempt had finished before it was cut.

    A program that asks without a conversation may say by `wishes` how the model is to be asked.
    `caller` holds what else is known of whoever asks, such as the key of a program.
    """

    run: RunId
    conversation: ConversationId | None
    person: PersonId
    messages: tuple[Message, ...]  # the log as this participant sees it
    steps: tuple[Step, ...] = ()
    wishes: ModelRequest = NO_WISHES
    caller: Caller = NOBODY


class Reply(Struct, frozen=True, kw_only=True):
    """What a turn ends in: the parts of all its replies and tool results, in order."""

    parts: tuple[Part, ...]
    ending: Ending
    usage: Usage
    problem: Problem | None = None  # which limit ended it, or what failed


class Participant(Protocol):
    """Takes one turn: records each step, pushes progress to `emit`, returns its reply.

    Raises `TeahouseError` on failure; cancellation is the only stop.
    """

    async def respond(self, turn: Turn, journal: Journal, emit: Emit, /) -> Reply: ...


class Participants(Protocol):
    """Finds who is to take a turn for `person`, with a model chosen for this turn alone or its own.

    Raises `NotFound`, also for one that the person may not talk to any more.
    """

    async def find(
        self, participant: ParticipantId, /, *, person: PersonId, model: str | None
    ) -> Participant: ...
