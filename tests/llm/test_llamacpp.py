"""A server that nobody here wrote speaks three of the dialects: llama.cpp's own."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from teahouse.core.codec import decode
from teahouse.core.events import ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message
from teahouse.llm.client import Client
from teahouse.llm.compare import CaseName, compare
from teahouse.llm.embedding import EmbedRequest, floats
from teahouse.llm.errors import NotOffered
from teahouse.llm.local.model_file import DEFAULT_MODEL, model_file, present
from teahouse.llm.local.process import Address, LocalProcess, State
from teahouse.llm.provider import ModelRequest, Provider, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, Timeouts, WireName
from teahouse.llm.transport import Transport
from tests.llm.conversation import call, result, said

FOLDER = Path(os.environ.get("TEAHOUSE_MODELS") or "~/.cache/teahouse/models").expanduser()
TOOL = ToolSpec(
    name="f", description="Tell the time.", parameters={"type": "object", "properties": {}}
)
TALK = (
    said("system", "Be brief."),
    said("user", "What time is it?"),
    said("assistant", "Let me see.", call("call_1", zone="UTC")),
    said("tool", result("call_1", "12:34")),
    said("user", "Say the time again, in digits."),
)

pytestmark = [pytest.mark.anyio, pytest.mark.model]


@pytest.fixture
async def address() -> AsyncIterator[Address]:
    path = present(model_file(DEFAULT_MODEL), FOLDER)
    assert path, "run `teahouse models pull`, or -m 'not model'"
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Address] = loop.create_future()

    def tell(state: State, address: Address | None, problem: str) -> None:
        if address is not None:
            loop.call_soon_threadsafe(found.set_result, address)

    process = LocalProcess(path, threads=1, context=2048, tell=tell)
    try:
        process.want()
        async with asyncio.timeout(300):
            yield await found
    finally:
        await asyncio.to_thread(process.close)


async def ask(provider: Provider, *messages: Message) -> list[StreamEvent]:
    request = ModelRequest(
        model="local", messages=messages, tools=(TOOL,), max_tokens=40, temperature=0
    )
    async with aclosing(provider.stream(request)) as batches:
        return [event async for batch in batches for event in batch]


async def test_each_dialect_tells_it_a_conversation_with_a_call_and_its_result(
    address: Address,
) -> None:
    wires: tuple[WireName, ...] = ("openai_chat", "openai_responses", "anthropic")
    for wire in wires:
        async with Transport() as transport:
            settings = ProviderSettings(
                wire=wire, base_url=f"{address.url}/v1", timeouts=Timeouts(first_event_s=300)
            )
            provider = build_provider(wire, settings, address.key, transport)
            events = await ask(provider, *TALK)

        done = events[-1]
        assert isinstance(done, ReplyDone)
        assert done.usage.output > 0
        assert not done.usage.estimated
        assert fold(events).text or fold(events).tool_calls, wire


@pytest.fixture
async def embedder() -> AsyncIterator[Address]:
    path = present(model_file(DEFAULT_MODEL), FOLDER)
    assert path, "run `teahouse models pull`, or -m 'not model'"
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "teahouse.llm.local.child", "--embeddings"),
        *("--model", str(path), "--context", "512"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert child.stdout
    assert child.stdin
    try:
        async with asyncio.timeout(300):
            yield decode(await child.stdout.readline(), Address)
    finally:
        child.stdin.close()  # its parent's end is its own
        await child.wait()


async def test_it_embeds_in_both_forms_and_like_texts_lie_near(embedder: Address) -> None:
    texts = ("Green tea is a drink.", "Black tea is a drink.", "for (int i = 0; i < n; i++) {")
    async with Transport() as transport:
        settings = ProviderSettings(
            base_url=f"{embedder.url}/v1", timeouts=Timeouts(first_event_s=300)
        )
        client = Client({"real": build_provider("real", settings, embedder.key, transport)})
        numbers = await client.embed("real/local", EmbedRequest(inputs=texts))
        packed = await client.embed("real/local", EmbedRequest(inputs=texts, packed=True))

    assert all(isinstance(one, str) for one in packed.vectors)
    assert numbers.usage.input > 0
    assert not numbers.usage.estimated
    found = [floats(one) for one in numbers.vectors]
    for one, other in zip(found, packed.vectors, strict=True):
        assert list(floats(other)) == pytest.approx(list(one), rel=1e-3, abs=1e-5)
    assert _near(found[0], found[1]) > _near(found[0], found[2])


async def test_it_says_that_it_embeds_nothing_while_it_talks(address: Address) -> None:
    async with Transport() as transport:
        settings = ProviderSettings(base_url=f"{address.url}/v1")
        client = Client({"real": build_provider("real", settings, address.key, transport)})
        with pytest.raises(NotOffered):
            await client.embed("real/local", EmbedRequest(inputs=("tea",)))


def _near(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors."""
    return _product(one, other) / math.hypot(*one) / math.hypot(*other)


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_a_real_model_is_compared_with_itself_by_two_dialects(address: Address) -> None:
    wires: tuple[WireName, ...] = ("openai_chat", "anthropic")
    names: tuple[CaseName, ...] = ("plain", "length")  # what is seen before one leaves is chance
    async with Transport() as transport:
        providers: dict[str, Provider] = {}
        for wire in wires:
            settings = ProviderSettings(
                wire=wire, base_url=f"{address.url}/v1", timeouts=Timeouts(first_event_s=300)
            )
            providers[wire] = build_provider(wire, settings, address.key, transport)
        client = Client(providers)
        found = [
            await compare(name, client.stream, "openai_chat/local", "anthropic/local")
            for name in names
        ]

    assert [(one.case, one.differences) for one in found] == [(name, ()) for name in names]
    assert found[0].a.usage == "counted"
    assert found[1].a.finish == "length"
