"""What a model can do besides talk. Usable without agents."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from teahouse.core.messages import Blob, ConversationId, JsonObject, ParticipantId, RunId, Text
from teahouse.llm.provider import ToolSpec

Content = tuple[Text | Blob, ...]


class ToolContext(Struct, frozen=True, kw_only=True):
    """On whose behalf a tool runs. Outside of conversations all are None."""

    conversation: ConversationId | None = None
    run: RunId | None = None
    agent: ParticipantId | None = None
    person: ParticipantId | None = None


class Tool(Protocol):
    """Raises `ToolFailed` with a text for the model; any other exception is a bug and is logged.

    `repeatable`: a call that was cut by a crash may be made again.
    """

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def repeatable(self) -> bool: ...
    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content: ...
