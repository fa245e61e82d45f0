"""What a model can do besides talk. Usable without agents."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable

from msgspec import Struct

from teahouse.core.messages import Blob, ConversationId, JsonObject, ParticipantId, RunId, Text
from teahouse.llm.provider import ToolSpec

Content = tuple[Text | Blob, ...]


class ToolContext(Struct, frozen=True, kw_only=True):
    """On whose behalf a tool runs. Outside of conversations the first four are None.

    `call` is the id of the call that is made. In `waiting()` the clock of the run stands still: it
    is for a tool that asks a person.
    """

    conversation: ConversationId | None = None
    run: RunId | None = None
    agent: ParticipantId | None = None
    person: ParticipantId | None = None
    call: str | None = None
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext


class Tool(Protocol):
    """Raises `ToolFailed` with a text for the model; any other exception is a bug and is logged.

    `repeatable`: a call that was cut by a crash may be made again.
    """

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def repeatable(self) -> bool: ...
    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content: ...


@runtime_checkable
class Resumable(Protocol):
    """A tool that knows of its calls how far they got before a crash."""

    async def begun(self, context: ToolContext, /) -> bool:
        """Whether this call may have had an effect already: then it is not made again."""
        ...
