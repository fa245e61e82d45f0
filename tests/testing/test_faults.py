"""Every fault does what its name says, and no turn past any of them is stuck or without a name."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing
from urllib.parse import urlsplit

import pytest

from teahouse.core.errors import ProviderError
from teahouse.core.events import ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text
from teahouse.llm.errors import Overloaded, RateLimited, StreamCut
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, Timeouts, WireName
from teahouse.llm.transport import Transport
from teahouse.testing.faults import Turn, ground, play, turns
from teahouse.testing.faulty_endpoint import WIRE_FAULTS, FaultyEndpoint, nobody_listens
from teahouse.testing.providers import FaultyProvider, ScriptedProvider
from teahouse.testing.stream_faults import STREAM_FAULTS, Batches, Spoil, StreamFault, fails

pytestmark = pytest.mark.anyio

QUESTION = Message(role="user", parts=(Text(text="hi"),))
QUICK = Timeouts(connect_s=5, first_event_s=0.2, idle_s=0.2, total_s=0.5)
PATIENT = Timeouts(connect_s=60, first_event_s=60, idle_s=60, total_s=60)


async def ask(provider: Provider, model: str = "m") -> list[StreamEvent]:
    request = ModelRequest(model=model, messages=(QUESTION,))
    async with aclosing(provider.stream(request)) as batches:
        return [event async for batch in batches for event in batch]


@pytest.fixture
async def endpoint() -> AsyncIterator[FaultyEndpoint]:
    async with FaultyEndpoint() as endpoint:
        yield endpoint


def test_there_are_many_kinds_and_each_says_what_must_come_of_it() -> None:
    assert len(WIRE_FAULTS) >= 100
    assert len(STREAM_FAULTS) >= 40
    assert all(fault.about and fault.ends for fault in WIRE_FAULTS.values())
    assert all((fault.about and fault.ends) or fault.silent for fault in STREAM_FAULTS.values())


@pytest.mark.parametrize("name", WIRE_FAULTS)
async def test_a_fault_on_the_wire_comes_to_what_it_says(
    name: str, endpoint: FaultyEndpoint
) -> None:
    fault = WIRE_FAULTS[name]
    with nobody_listens() as nobody:
        async with Transport() as transport:
            settings = ProviderSettings(
                base_url=endpoint.url_for(fault, nobody),
                timeouts=QUICK if fault.silent else PATIENT,
            )
            provider = build_provider("faulty", settings, "key", transport)
            end: type[ProviderError] | None = None
            try:
                events = await ask(provider, name)
            except ProviderError as error:
                end = type(error)
            else:
                assert isinstance(events[-1], ReplyDone)

    assert end in fault.ends


@pytest.mark.parametrize("wire", ["openai_responses", "anthropic", "gemini", "ollama"])
async def test_no_dialect_meets_a_fault_that_has_no_name(
    wire: WireName, endpoint: FaultyEndpoint
) -> None:
    ends: dict[str, str] = {}
    async with Transport() as transport:
        settings = ProviderSettings(base_url=endpoint.base_url, wire=wire, timeouts=PATIENT)
        provider = build_provider("faulty", settings, "key", transport)
        for name, fault in WIRE_FAULTS.items():
            if fault.silent or fault.at != "endpoint":
                continue
            endpoint.answers.append(fault.answer)
            try:
                await ask(provider)
                ends[name] = "answer"
            except ProviderError as error:
                ends[name] = error.code

    assert len(ends) > 100
    assert ends["401"] == "provider_authentication"
    assert {"provider_malformed", "provider_stream_cut", "provider_overloaded"} <= {*ends.values()}


@pytest.mark.parametrize("name", [n for n, fault in STREAM_FAULTS.items() if not fault.silent])
async def test_a_fault_of_a_provider_comes_to_what_it_says(name: str) -> None:
    fault = STREAM_FAULTS[name]
    inner = ScriptedProvider(["a sound reply"])
    end: type[ProviderError] | None = None
    events: list[StreamEvent] = []
    try:
        events = await ask(FaultyProvider(inner, [fault]))
    except ProviderError as error:
        end = type(error)
    if end is None and not (events and isinstance(events[-1], ReplyDone)):
        end = StreamCut  # what a client makes of it

    assert end in fault.ends


async def test_faults_are_met_in_order_and_then_no_more() -> None:
    inner = ScriptedProvider(["one", "two", "three", "four"])
    provider = FaultyProvider(
        inner, [fails(Overloaded("acme")), None, fails(RateLimited("acme"), after=1)]
    )

    with pytest.raises(Overloaded):
        await ask(provider)
    assert fold(await ask(provider)).text
    with pytest.raises(RateLimited):
        await ask(provider)
    assert fold(await ask(provider)).text
    assert provider.calls == 4


async def test_a_seed_draws_the_same_faults_again_and_another_seed_others() -> None:
    async def met(seed: int) -> list[str]:
        pool = [fault for fault in STREAM_FAULTS.values() if not fault.silent]
        provider = FaultyProvider(ScriptedProvider(), pool, seed=seed)
        ends: list[str] = []
        for _ in range(40):
            try:
                ends.append(str(len(await ask(provider))))
            except ProviderError as error:
                ends.append(error.code)
        return ends

    assert await met(7) == await met(7) != await met(8)


async def test_an_endpoint_keeps_to_a_plan_for_a_model(endpoint: FaultyEndpoint) -> None:
    endpoint.plans["tea"] = deque([WIRE_FAULTS["503"], WIRE_FAULTS["cut_mid_stream"]])
    async with Transport() as transport:
        settings = ProviderSettings(base_url=endpoint.base_url)
        provider = build_provider("faulty", settings, "key", transport)
        with pytest.raises(Overloaded):
            await ask(provider, "tea")
        with pytest.raises(StreamCut):
            await ask(provider, "tea")

        assert fold(await ask(provider, "tea")).text == "a sound reply"


async def test_no_turn_past_any_fault_is_stuck_or_ends_without_a_name() -> None:
    report = await play(400, seed=5)

    assert report.bad == []
    assert report.turns == 400
    assert len(report.outcomes) == len(WIRE_FAULTS) + len(STREAM_FAULTS)
    assert report.over_sockets >= len(WIRE_FAULTS)
    said = {outcome for met in report.outcomes.values() for outcome in met}
    assert {"answer", "limit: repeats", "limit: wall_s", "provider_stream_cut"} <= said


def test_the_same_seed_plays_the_same_turns() -> None:
    def met(seed: int) -> list[list[str]]:
        played = turns(600, seed, 0.5)
        return [[fault.name if fault else "-" for fault in turn.faults] for turn in played]

    assert met(1) == met(1) != met(2)


def spoilt(spoil: Spoil) -> Turn:
    fault = StreamFault(name="rude", about="breaks the rules", ends=(), spoil=spoil)
    return Turn(number=7, faults=(fault,), fallback=False, breaker=False)


async def test_a_run_tells_of_an_error_without_a_name() -> None:
    async def raises(sound: Batches, chance: random.Random) -> Batches:
        await sound.aclose()
        raise ValueError("nobody knows me")
        yield []

    async with ground() as shared:
        await shared.play(spoilt(raises))

    assert shared.report.bad == ["turn 7: UNNAMED ValueError: nobody knows me (rude)"]


async def test_a_run_tells_of_a_turn_that_is_stuck() -> None:
    async def sleeps(sound: Batches, chance: random.Random) -> Batches:
        await sound.aclose()
        await asyncio.Event().wait()
        yield []

    async with ground(stuck_s=0.05) as shared:
        await shared.play(spoilt(sleeps))

    assert shared.report.bad == ["turn 7: STUCK (rude)"]


async def test_a_run_tells_of_a_connection_and_a_task_that_are_left() -> None:
    waiting = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        async with ground(settle_s=0.05) as shared:
            port = urlsplit(shared.endpoint.base_url).port
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            group.create_task(waiting.wait())
            while shared.endpoint.open_connections == 0:
                await asyncio.sleep(0)
        waiting.set()
        writer.close()

    assert shared.report.bad == ["1 connections left open", "1 tasks left running"]
