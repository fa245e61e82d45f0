"""A conversation with one model: what is said is kept, tools are run, and the reply streams.

For programs that use this layer alone: one model, one person, no agents and no store.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from teahouse.core.events import Emit, PartDelta, ReplyDone, RunEvent
from teahouse.core.messages import Message, Part, Text, ToolResult
from teahouse.core.tasks import Push, pulled
from teahouse.llm.connection import Model
from teahouse.llm.context import fit
from teahouse.llm.history import History, MemoryHistory
from teahouse.llm.loop import Limits, run_loop
from teahouse.llm.provider import ModelRequest
from teahouse.llm.tool import Tool, ToolContext


class Chat:
    """`history` keeps it under the name `conversation`. With a `window`, in tokens, the oldest
    turns that have no room in it are not sent."""

    def __init__(
        self,
        model: Model,
        *,
        system: str = "",
        tools: Sequence[Tool] = (),
        history: History | None = None,
        conversation: str = "main",
        limits: Limits | None = None,
        window: int | None = None,
    ) -> None:
        self._model, self._limits, self._window = model, limits, window
        self._system = (Message(role="system", parts=(Text(text=system),)),) if system else ()
        self._tools = {tool.spec.name: tool for tool in tools}
        self._history, self._conversation = history or MemoryHistory(), conversation

    async def stream(self, text: str | Sequence[Part]) -> AsyncGenerator[str, None]:
        """The text of the reply as it comes. Raises `ProviderError`."""
        async with aclosing(self.events(text)) as batches:
            async for batch in batches:
                for event in batch:
                    if isinstance(event, PartDelta) and event.kind == "text":
                        yield event.delta

    async def events(self, text: str | Sequence[Part]) -> AsyncGenerator[Sequence[RunEvent], None]:
        """All that happens until the reply is whole: thoughts and tools too. Leaving early stops
        it; steps that were finished by then are kept."""
        parts = (Text(text=text),) if isinstance(text, str) else tuple(text)
        asked = Message(role="user", parts=parts)
        async with aclosing(pulled(partial(self._work, asked))) as batches:
            async for batch in batches:
                yield batch

    async def _work(self, asked: Message, push: Push[Sequence[RunEvent]]) -> None:
        before = await self._history.load(self._conversation)
        request = ModelRequest(model="", messages=(*self._system, *before, asked))
        kept = _Kept()
        try:
            await run_loop(
                self._ask,
                request,
                self._tools,
                ToolContext(),
                push,
                hooks=kept,
                limits=self._limits,
            )
        finally:
            if kept.messages:
                await self._history.append(self._conversation, (asked, *kept.messages))

    async def _ask(self, request: ModelRequest, emit: Emit) -> tuple[Message, ReplyDone]:
        if self._window is not None:
            request = replace(request, messages=fit(request.messages, self._window * 3 // 4))
        return await self._model.ask(request, emit)


class _Kept:
    """The finished steps of a run, as messages."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def replied(self, message: Message, done: ReplyDone, elapsed_ms: int, /) -> None:
        self.messages.append(message)

    async def resulted(self, result: ToolResult, elapsed_ms: int, /) -> None:
        told = self.messages.pop().parts if self.messages[-1].role == "tool" else ()
        self.messages.append(Message(role="tool", parts=(*told, result)))
