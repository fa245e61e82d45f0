"""The real local model, in its own process: it answers, it comes back, it is never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text
from teahouse.llm.errors import StreamCut
from teahouse.llm.local.model_file import DEFAULT_MODEL, model_file, present
from teahouse.llm.local.provider import LocalModel
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.transport import Transport

FOLDER = Path(os.environ.get("TEAHOUSE_MODELS") or "~/.cache/teahouse/models").expanduser()
NOW = ToolSpec(name="now", description="Tell the present date and time.", parameters={})

pytestmark = pytest.mark.anyio
real = pytest.mark.model


def asked(text: str, *, tools: tuple[ToolSpec, ...] = (), most: int = 40) -> ModelRequest:
    message = Message(role="user", parts=(Text(text=text),))
    return ModelRequest(
        model=DEFAULT_MODEL, messages=(message,), tools=tools, max_tokens=most, temperature=0
    )


async def reply(model: LocalModel, request: ModelRequest) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    async with asyncio.timeout(300), aclosing(model.stream(request)) as batches:
        async for batch in batches:
            events += batch
    return events


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    async with Transport() as transport:
        yield transport


@pytest.fixture
async def local(transport: Transport) -> AsyncIterator[LocalModel]:
    assert present(model_file(DEFAULT_MODEL), FOLDER), (
        "run `teahouse models pull`, or -m 'not model'"
    )
    async with LocalModel(DEFAULT_MODEL, FOLDER, transport, threads=1, context=2048) as model:
        yield model


async def test_without_its_file_it_says_so_at_once(tmp_path: Path, transport: Transport) -> None:
    async with LocalModel(DEFAULT_MODEL, tmp_path, transport) as model:
        with pytest.raises(ProviderError) as absent:
            await reply(model, asked("Hi"))

        assert model.state == "absent"
        assert absent.value.code == "local_model_absent"
        assert await model.models() == ()


@real
async def test_it_answers_in_both_languages_in_a_stream(local: LocalModel) -> None:
    assert local.state == "ready"
    chinese = await reply(local, asked("用一句话介绍北京。"))
    english = await reply(local, asked("Describe Paris in one sentence."))

    assert local.state == "running"
    for events in (chinese, english):
        assert sum(isinstance(event, PartDelta) for event in events) > 5
        assert isinstance(events[-1], ReplyDone)
        assert events[-1].usage.output > 5
    assert "北京" in fold(chinese).text
    assert "Paris" in fold(english).text


@real
async def test_it_calls_a_tool_when_one_is_needed_and_only_then(local: LocalModel) -> None:
    time = fold(await reply(local, asked("现在几点了？", tools=(NOW,))))
    greeting = fold(await reply(local, asked("你好", tools=(NOW,))))

    assert [call.name for call in time.tool_calls] == ["now"]
    assert not greeting.tool_calls
    assert greeting.text


@real
async def test_a_model_that_is_killed_while_it_speaks_cuts_the_answer_and_comes_back(
    local: LocalModel,
) -> None:
    async with asyncio.timeout(300):
        async with aclosing(local.stream(asked("数到一百。", most=400))) as batches:
            await anext(batches)
            first = local.pid
            assert first
            os.kill(first, signal.SIGKILL)
            with pytest.raises(StreamCut):
                [batch async for batch in batches]

    async with asyncio.timeout(60):
        while local.pid == first:  # its death is noticed by its thread
            await asyncio.sleep(0)
    again = await reply(local, asked("Say hello."))

    assert fold(again).text
    assert local.pid not in {None, first}


@real
async def test_requests_that_come_while_it_starts_all_get_their_answer(local: LocalModel) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(reply(local, asked(f"Say {word}.", most=8)))
            for word in ("one", "two", "three", "four")
        ]

    assert all(fold(task.result()).text for task in tasks)


@real
async def test_the_model_does_not_outlive_a_parent_that_is_killed() -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from teahouse.llm.local.provider import LocalModel\n"
        "from teahouse.llm.transport import Transport\n"
        "async def main():\n"
        "    async with Transport() as transport:\n"
        f"        model = LocalModel({DEFAULT_MODEL!r}, Path({str(FOLDER)!r}), transport)\n"
        "        model.start()\n"
        "        while model.pid is None: await asyncio.sleep(0.02)\n"
        "        print(model.pid, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    async with asyncio.timeout(300):
        child = int(await parent.stdout.readline())
    assert alive(child)

    parent.kill()
    await parent.wait()

    async with asyncio.timeout(10):
        while alive(child):
            await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    """A zombie that nobody has buried yet is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
