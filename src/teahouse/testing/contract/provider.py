"""What every provider must do, whatever dialect it speaks and wherever its words come from.

A test module subclasses `ProviderContract`, marks it `pytest.mark.anyio` and gives it the fixture
`scene`: called with the name of a scene it returns an async context manager of a `Stage`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Literal, TypeAlias

import msgspec
import pytest
from msgspec import Struct

from teahouse.core.codec import encode
from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text, Thinking, ToolCall
from teahouse.llm.loop import said
from teahouse.llm.provider import ModelRequest, Provider, ToolSpec

Scene: TypeAlias = Literal["text", "thought", "tools", "fails", "breaks", "silent", "stands still"]
"""What the provider's other side does:

`text` says `你好, world`. `thought` thinks `hm` and says `yes`. `tools` asks for `f({"x": 1})` and
`g({})`. `fails` refuses at once. `breaks` says `你好` and breaks off. `silent` never begins.
`stands still` says `你好` and nothing more.
"""
DEADLINE_S = 10


class Stage(Struct, frozen=True):
    """`left` returns once the other side has noticed that the stream was left."""

    provider: Provider
    left: Callable[[], Awaitable[None]]


OpenScene: TypeAlias = Callable[[Scene], AbstractAsyncContextManager[Stage]]

REQUEST = ModelRequest(
    model="fake",
    messages=(Message(role="user", parts=(Text(text="hi"),)),),
    tools=tuple(
        ToolSpec(name=name, description="", parameters={"type": "object", "properties": {}})
        for name in ("f", "g")
    ),
)


async def collect(provider: Provider, events: list[StreamEvent]) -> None:
    async with asyncio.timeout(DEADLINE_S), aclosing(provider.stream(REQUEST)) as batches:
        async for batch in batches:
            assert batch, "an empty batch tells nobody anything"
            events += batch


def _silent(part: object) -> bool:
    """Whether a part shows nothing: it only bears what the vendor wants back."""
    return isinstance(part, Thinking) and not part.text


class ProviderContract:
    async def test_a_stream_ends_with_its_only_reply_done(self, scene: OpenScene) -> None:
        events = await self.play(scene, "text")

        assert [isinstance(event, ReplyDone) for event in events].count(True) == 1
        assert isinstance(events[-1], ReplyDone)
        assert events[-1].reason == "stop"

    async def test_deltas_say_what_the_parts_say(self, scene: OpenScene) -> None:
        events = await self.play(scene, "text")

        assert fold(events).text == "你好, world"
        assert "".join(e.delta for e in events if isinstance(e, PartDelta)) == "你好, world"

    async def test_folding_survives_a_json_round_trip(self, scene: OpenScene) -> None:
        events = await self.play(scene, "tools")
        again = msgspec.json.decode(encode(events), type=list[PartDelta | PartDone | ReplyDone])

        assert fold(again) == fold(events)

    async def test_thoughts_are_a_part_of_their_own_before_the_text(self, scene: OpenScene) -> None:
        parts = fold(await self.play(scene, "thought")).parts
        thought, text = (part for part in parts if not _silent(part))

        assert isinstance(thought, Thinking)
        assert thought.text == "hm"
        assert text == Text(text="yes")

    async def test_tool_calls_come_whole_and_in_order(self, scene: OpenScene) -> None:
        events = await self.play(scene, "tools")
        calls = fold(events).tool_calls

        assert [(call.name, call.arguments) for call in calls] == [("f", {"x": 1}), ("g", {})]
        assert len({call.id for call in calls}) == 2
        assert all(isinstance(call, ToolCall) and call.id for call in calls)
        assert isinstance(events[-1], ReplyDone)
        assert events[-1].reason == "tool_calls"

    async def test_every_reply_has_its_tokens_counted(self, scene: OpenScene) -> None:
        done = (await self.play(scene, "text"))[-1]

        assert isinstance(done, ReplyDone)
        assert done.usage.input > 0
        assert done.usage.output > 0

    async def test_a_refusal_raises_and_shows_nothing(self, scene: OpenScene) -> None:
        events: list[StreamEvent] = []
        async with scene("fails") as stage:
            with pytest.raises(ProviderError):
                await collect(stage.provider, events)

        assert events == []

    async def test_a_stream_that_breaks_off_raises_and_keeps_its_part(
        self, scene: OpenScene
    ) -> None:
        events: list[StreamEvent] = []
        async with scene("breaks") as stage:
            with pytest.raises(ProviderError):
                await collect(stage.provider, events)

        assert said(events) == (Text(text="你好"),)
        assert not any(isinstance(event, ReplyDone) for event in events)

    async def test_cancelling_a_silent_stream_reaches_the_other_side(
        self, scene: OpenScene
    ) -> None:
        async with scene("silent") as stage:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05), aclosing(stage.provider.stream(REQUEST)) as it:
                    await anext(it)

            async with asyncio.timeout(DEADLINE_S):
                await stage.left()

    async def test_closing_a_stream_in_the_middle_reaches_the_other_side(
        self, scene: OpenScene
    ) -> None:
        async with scene("stands still") as stage:
            async with asyncio.timeout(DEADLINE_S), aclosing(stage.provider.stream(REQUEST)) as it:
                shown = ""
                while shown != "你好":
                    shown += "".join(e.delta for e in await anext(it) if isinstance(e, PartDelta))

            async with asyncio.timeout(DEADLINE_S):
                await stage.left()

    async def test_models_are_listed(self, scene: OpenScene) -> None:
        async with scene("text") as stage, asyncio.timeout(DEADLINE_S):
            assert [model.id for model in await stage.provider.models()] == ["fake"]

    @staticmethod
    async def play(scene: OpenScene, name: Scene) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        async with scene(name) as stage:
            await collect(stage.provider, events)
        return events
