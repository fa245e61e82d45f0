"""The contract of every provider, run against the fake and against each wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from teahouse.core.messages import Thinking, ToolCall
from teahouse.llm.errors import AuthenticationFailed, StreamCut
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.testing.answers import Answer, chunk, error_answer, text_answer, tool_answer
from teahouse.testing.contract.provider import OpenScene, ProviderContract, Scene, Stage
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.providers import Gate, ScriptedProvider


class TestScriptedProvider(ProviderContract):
    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def scene(self) -> OpenScene:
        @asynccontextmanager
        async def open_scene(name: Scene) -> AsyncIterator[Stage]:
            calls = (
                ToolCall(id="a", name="f", arguments={"x": 1}),
                ToolCall(id="b", name="g", arguments={}),
            )
            scripts = {
                "text": "你好, world",
                "thought": (Thinking(text="hm"), "yes"),
                "tools": calls,
                "fails": AuthenticationFailed("fake"),
                "breaks": ("你好", StreamCut("fake")),
                "silent": (Gate(),),
                "stands still": ("你好", Gate()),
            }
            provider = ScriptedProvider([scripts[name]])

            async def left() -> None:
                while not provider.closed:
                    await asyncio.sleep(0)

            yield Stage(provider, left)

        return open_scene


class TestOpenAIChat(ProviderContract):
    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def scene(self) -> OpenScene:
        hello = chunk({"content": "你好"})
        answers = {
            "text": text_answer(["你好", ", world"]),
            "thought": text_answer(["yes"], thinking="hm"),
            "tools": tool_answer([("a", "f", {"x": 1}), ("b", "g", {})]),
            "fails": error_answer(401),
            "breaks": Answer(steps=(hello, "cut")),
            "silent": Answer(steps=("hang",)),
            "stands still": Answer(steps=(hello, "hang")),
        }

        @asynccontextmanager
        async def open_scene(name: Scene) -> AsyncIterator[Stage]:
            async with Transport() as transport, Endpoint([answers[name]]) as endpoint:
                settings = ProviderSettings(base_url=endpoint.base_url)

                async def left() -> None:
                    await (await endpoint.request(0)).closed.wait()

                yield Stage(build_provider("fake", settings, None, transport), left)

        return open_scene
