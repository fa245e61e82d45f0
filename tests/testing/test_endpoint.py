"""The scripted endpoint's own commands: other tests rely on them word for word."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from teahouse.core.errors import ProviderError
from teahouse.core.events import ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.errors import (
    AuthenticationFailed,
    Malformed,
    Overloaded,
    RateLimited,
    StreamCut,
    TimedOut,
)
from teahouse.llm.loop import said
from teahouse.llm.provider import ModelRequest
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, Timeouts
from teahouse.llm.transport import Transport
from teahouse.testing.answers import MARKDOWN, text_answer
from teahouse.testing.endpoint import Endpoint, read_script

pytestmark = pytest.mark.anyio

Say = Callable[..., "asyncio.Future[list[StreamEvent]]"]


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def say(endpoint: Endpoint) -> AsyncIterator[Say]:
    async with Transport() as transport:
        settings = ProviderSettings(
            base_url=endpoint.base_url, timeouts=Timeouts(first_event_s=0.2, idle_s=0.2)
        )
        provider = build_provider("fake", settings, "any", transport)

        async def say(
            text: str, *more: Message, events: list[StreamEvent] | None = None
        ) -> list[StreamEvent]:
            events = [] if events is None else events
            messages = (Message(role="user", parts=(Text(text=text),)), *more)
            stream = provider.stream(ModelRequest(model="fake", messages=messages))
            async with asyncio.timeout(20), aclosing(stream) as batches:
                async for batch in batches:
                    events += batch
            return events

        yield say


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("hello 你好", "echo: hello 你好"),
        ("[slow 3 1] x", "echo: [slow 3 1] x 1 2 3"),
        ("[long 4]", "word1 word2 word3 word4 "),
        ("[markdown]", MARKDOWN),
        ("a [b] c", "echo: a [b] c"),
    ],
)
async def test_the_text_is_known_beforehand(say: Say, asked: str, text: str) -> None:
    assert fold(await say(asked)).text == text


async def test_it_counts_tokens_and_ends_with_stop(say: Say) -> None:
    done = (await say("hello"))[-1]

    assert isinstance(done, ReplyDone)
    assert done.reason == "stop"
    assert not done.usage.estimated


async def test_it_thinks_when_told_to(say: Say) -> None:
    thought, _ = fold(await say("[think] a")).parts

    assert isinstance(thought, Thinking)
    assert thought.text == "thinking about [think] a"


async def test_it_asks_for_a_tool_once_and_then_tells_the_result(say: Say) -> None:
    first = fold(await say('[tool now {"zone": "UTC"}] time?'))
    (call,) = first.tool_calls
    told = ToolResult(call=call.id, content=(Text(text="noon"),))
    second = await say(
        '[tool now {"zone": "UTC"}] time?', first, Message(role="tool", parts=(told,))
    )

    assert call == ToolCall(id=call.id, name="now", arguments={"zone": "UTC"})
    assert fold(second).text == 'echo: [tool now {"zone": "UTC"}] time? now: noon'


@pytest.mark.parametrize(
    ("asked", "kind", "kept"),
    [
        ("[fail 401]", AuthenticationFailed, ""),
        ("[fail 429]", RateLimited, ""),
        ("[fail 500]", Overloaded, ""),
        ("[cut]", StreamCut, "echo: "),
        ("[reset]", StreamCut, "echo: "),
        ("[error]", Overloaded, "echo: "),
        ("[hang]", TimedOut, ""),
        ("[hang first]", TimedOut, ""),
        ("[hang mid]", TimedOut, "echo: "),
        ("[html]", Malformed, ""),
        ("[garbage]", Malformed, ""),
    ],
)
async def test_every_fault_is_the_error_it_should_be(
    say: Say, asked: str, kind: type[ProviderError], kept: str
) -> None:
    events: list[StreamEvent] = []
    with pytest.raises(kind):
        await say(asked, events=events)

    assert "".join(part.text for part in said(events) if isinstance(part, Text)) == kept


async def test_a_failure_once_is_over_the_second_time(say: Say) -> None:
    with pytest.raises(Overloaded):
        await say("[fail 503 once] a")

    assert fold(await say("[fail 503 once] a")).text == "echo: [fail 503 once] a"


async def test_a_gate_holds_the_answer_until_it_is_released(say: Say, endpoint: Endpoint) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(say("[hold door] a"))
        recorded = await endpoint.request(0)
        await endpoint.sent(recorded, 2)
        assert not recorded.finished
        endpoint.release("door")

    assert fold(task.result()).text == "echo: [hold door] a"


async def test_scripted_answers_come_first(say: Say, endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    items = [
        {"text": "one"},
        {"pieces": ["t", "wo"], "delay_ms": 1},
        {"tools": [["k", "f", {}]]},
        {"status": 401},
    ]
    path.write_text(json.dumps(items), encoding="utf-8")
    endpoint.answers.extend(read_script(path))

    assert [fold(await say("x")).text for _ in range(2)] == ["one", "two"]
    assert fold(await say("x")).tool_calls[0].name == "f"
    with pytest.raises(AuthenticationFailed):
        await say("x")
    assert fold(await say("x")).text == "echo: x"


async def test_own_answers_can_be_scripted_by_a_function() -> None:
    async with (
        Endpoint(script=lambda body: text_answer([body["model"]])) as endpoint,
        Transport() as transport,
    ):
        provider = build_provider(
            "fake", ProviderSettings(base_url=endpoint.base_url), None, transport
        )
        request = ModelRequest(
            model="m7", messages=(Message(role="user", parts=(Text(text="?"),)),)
        )
        events = [event async for batch in provider.stream(request) for event in batch]

    assert fold(events).text == "m7"


def test_it_runs_alone_and_prints_where() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "teahouse.testing.endpoint", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()
        process.wait(timeout=20)

    assert line.startswith("http://127.0.0.1:")
    assert line.endswith("/v1\n")
