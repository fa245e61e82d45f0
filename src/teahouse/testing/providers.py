"""Providers for tests: one that says what it is told to, and one that fails as it is told to."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TypeAlias

from msgspec import Struct

from teahouse.core.events import Reason, ReplyDone, StreamEvent, Usage
from teahouse.core.messages import Part, Text, Thinking, ToolCall
from teahouse.llm.parts import PartsBuilder
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider
from teahouse.llm.tokens import estimate_messages, estimate_parts
from teahouse.testing.stream_faults import StreamFault


class Gate:
    """A point where a scripted stream stands still until the test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._open = asyncio.Event()

    def open(self) -> None:
        self._open.set()

    async def passed(self) -> None:
        self.reached.set()
        await self._open.wait()


class Finish(Struct, frozen=True):
    """Ends a scripted reply for this reason, or with these counts."""

    reason: Reason | None = None
    usage: Usage | None = None


Item: TypeAlias = str | Part | Gate | Finish | Exception
Script: TypeAlias = str | Exception | Sequence[Item]


def echo(request: ModelRequest) -> Script:
    """What a scripted provider says when it has no more script."""
    asked = next((m.text for m in reversed(request.messages) if m.role == "user"), "")
    return f"echo: {asked}"


class ScriptedProvider:
    """Gives one scripted reply to each request, and `default` when the script is used up.

    A reply is a text, an exception to raise, or a sequence of texts (streamed in pieces of `piece`
    characters; neighbours are one part), other parts, gates, exceptions and a `Finish`. `requests`
    records what was asked, `closed` counts the streams that were left before their end.
    """

    def __init__(
        self,
        replies: Iterable[Script] = (),
        *,
        default: Callable[[ModelRequest], Script] = echo,
        piece: int = 8,
        models: Sequence[str] = ("fake",),
    ) -> None:
        self.replies = deque(replies)
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self._default, self._piece, self._models = default, piece, models

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        self.requests.append(request)
        script = self.replies.popleft() if self.replies else self._default(request)
        items: Sequence[Item] = [script] if isinstance(script, str | Exception) else script
        parts, finish, whole = PartsBuilder(), Finish(), False
        try:
            for item in items:
                match item:
                    case Finish():
                        finish = item
                    case Exception():
                        parts.close()
                        if events := parts.take():
                            yield events
                        raise item
                    case Gate():
                        await item.passed()
                    case str() | Text() | Thinking():
                        for piece in self._pieces(item):
                            parts.say("thinking" if isinstance(item, Thinking) else "text", piece)
                            yield parts.take()
                    case _:
                        parts.add(parts.reserve(), item)
                        yield parts.take()
            parts.close()
            whole = True
            yield [*parts.take(), _done(request, parts, finish)]
        except Exception:
            whole = True
            raise
        finally:
            self.closed += not whole

    async def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo(id=name) for name in self._models]

    def _pieces(self, item: str | Text | Thinking) -> Iterable[str]:
        text = item if isinstance(item, str) else item.text
        return (text[n : n + self._piece] for n in range(0, len(text), self._piece))


def _done(request: ModelRequest, parts: PartsBuilder, finish: Finish) -> ReplyDone:
    calls = any(isinstance(part, ToolCall) for part in parts.parts.values())
    usage = finish.usage or Usage(
        input=estimate_messages(request.messages),
        output=estimate_parts(parts.parts.values()),
        estimated=True,
    )
    return ReplyDone(reason=finish.reason or ("tool_calls" if calls else "stop"), usage=usage)


class FaultyProvider:
    """Another provider, spoilt: its first call meets the first of `faults`, and so on (None is a
    sound call); when they are used up it is sound. With a `seed` each call meets one that is drawn
    by lot, without end, the same ones for the same seed.
    """

    def __init__(
        self, inner: Provider, faults: Iterable[StreamFault | None], *, seed: int | None = None
    ) -> None:
        self.calls = 0
        self._inner, self._faults, self._drawn = inner, tuple(faults), seed is not None
        self._chance = random.Random(seed or 0)  # noqa: S311  a repeatable choice, no secret

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        fault = self._next()
        self.calls += 1
        sound = self._inner.stream(request)
        stream = sound if fault is None else fault.spoil(sound, self._chance)
        async with aclosing(stream) as batches:
            async for batch in batches:
                yield batch

    async def models(self) -> Sequence[ModelInfo]:
        return await self._inner.models()

    def _next(self) -> StreamFault | None:
        if self._drawn:
            return self._chance.choice(self._faults)
        return self._faults[self.calls] if self.calls < len(self._faults) else None
