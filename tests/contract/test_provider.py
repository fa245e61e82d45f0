"""The contract of every provider, run against the fake and against each wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from teahouse.core.messages import Thinking, ToolCall
from teahouse.llm.errors import AuthenticationFailed, StreamCut
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, WireName
from teahouse.llm.transport import Transport
from teahouse.testing import anthropic_answers as anthropic
from teahouse.testing import gemini_answers as gemini
from teahouse.testing import ollama_answers as ollama
from teahouse.testing import responses_answers as responses
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


class WireContract(ProviderContract):
    """A wire, before an endpoint that speaks its dialect."""

    wire: WireName
    answers: Mapping[Scene, Answer]

    @pytest.fixture
    def scene(self) -> OpenScene:
        @asynccontextmanager
        async def open_scene(name: Scene) -> AsyncIterator[Stage]:
            async with Transport() as transport, Endpoint([self.answers[name]]) as endpoint:
                settings = ProviderSettings(wire=self.wire, base_url=endpoint.base_url)

                async def left() -> None:
                    await (await endpoint.request(0)).closed.wait()

                yield Stage(build_provider("fake", settings, None, transport), left)

        return open_scene


def scenes(
    text: Answer, thought: Answer, tools: Answer, begun: Sequence[bytes]
) -> dict[Scene, Answer]:
    """`begun` is the start of a reply that says `你好`."""
    return {
        "text": text,
        "thought": thought,
        "tools": tools,
        "fails": error_answer(401),
        "breaks": Answer(steps=(*begun, "cut")),
        "silent": Answer(steps=("hang",)),
        "stands still": Answer(steps=(*begun, "hang")),
    }


WORDS = ("你好", ", world")
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (("a", "f", {"x": 1}), ("b", "g", {}))


class TestOpenAIChat(WireContract):
    pytestmark = pytest.mark.anyio
    wire = "openai_chat"
    answers = scenes(
        text_answer(WORDS),
        text_answer(["yes"], thinking="hm"),
        tool_answer(CALLS),
        [chunk({"content": "你好"})],
    )


class TestOpenAIResponses(WireContract):
    pytestmark = pytest.mark.anyio
    wire = "openai_responses"
    answers = scenes(
        responses.text_answer(WORDS),
        responses.text_answer(["yes"], thought="hm"),
        responses.tool_answer(CALLS),
        responses.text(0, ["你好"])[:2],
    )


class TestAnthropic(WireContract):
    pytestmark = pytest.mark.anyio
    wire = "anthropic"
    answers = scenes(
        anthropic.text_answer(WORDS),
        anthropic.text_answer(["yes"], thought="hm"),
        anthropic.tool_answer(CALLS),
        [anthropic.start(), *anthropic.text(0, ["你好"])[:2]],
    )


class TestGemini(WireContract):
    pytestmark = pytest.mark.anyio
    wire = "gemini"
    answers = scenes(
        gemini.text_answer(WORDS),
        gemini.text_answer(["yes"], thought="hm"),
        gemini.tool_answer(CALLS),
        [gemini.chunk([{"text": "你好"}])],
    )


class TestOllama(WireContract):
    pytestmark = pytest.mark.anyio
    wire = "ollama"
    answers = scenes(
        ollama.text_answer(WORDS),
        ollama.text_answer(["yes"], thought="hm"),
        ollama.tool_answer(CALLS),
        [ollama.line("你好")],
    )
