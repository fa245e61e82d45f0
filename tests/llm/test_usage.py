"""Each attempt is written down, however it ends, and costs what the vendor says."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from datetime import date

import pytest

from teahouse.core.errors import ProviderError
from teahouse.core.events import Usage
from teahouse.core.messages import Message, Text
from teahouse.llm.catalog import UNKNOWN, Facts, LongPrice, dated, published
from teahouse.llm.client import Client
from teahouse.llm.errors import AuthenticationFailed, Overloaded
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import Caller, CallRecord
from teahouse.llm.worst import worst_of
from teahouse.testing.clock import FakeClock
from teahouse.testing.providers import Finish, Gate, Script, ScriptedProvider

pytestmark = pytest.mark.anyio

SECRET = "the word that must stay here"
REQUEST = ModelRequest(model="", messages=(Message(role="user", parts=(Text(text=SECRET),)),))
FACTS = Facts(input=2, output=10, cached=0.5)
USAGE = Usage(input=1000, output=100, cached=400, written=100)
MEI = Caller(person="u_1", agent="a_1", conversation="c_1", run="r_1", purpose="gateway")


class Kept:
    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def note(self, call: CallRecord, /) -> None:
        self.calls.append(call)


async def nobody_waits(seconds: float) -> None:
    return None


def client_of(*replies: Script, facts: Facts = FACTS) -> tuple[Client, Kept]:
    kept = Kept()
    client = Client(
        {"acme": ScriptedProvider(replies)},
        sleep=nobody_waits,
        clock=FakeClock(),
        ledger=kept,
        facts=lambda _: facts,
    )
    return client, kept


async def read(client: Client) -> None:
    with suppress(ProviderError):
        async with aclosing(client.stream("acme/fake", REQUEST, caller=MEI)) as batches:
            async for _ in batches:
                pass


async def test_an_answer_is_noted_with_whose_it_was_and_what_it_cost() -> None:
    client, kept = client_of(["hello", Finish(usage=USAGE)])

    await read(client)

    [call] = kept.calls
    assert (call.model, call.provider, call.caller) == ("acme/fake", "acme", MEI)
    assert (call.input, call.output, call.estimated) == (1000, 100, False)
    assert (call.cached, call.written) == (400, 100)
    assert call.cost == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
    assert (call.outcome, call.code, call.attempt) == ("answered", "stop", 1)
    assert call.first_token_ms is not None


async def test_a_price_that_is_unknown_is_never_zero() -> None:
    client, kept = client_of("hello", facts=UNKNOWN)

    await read(client)

    assert kept.calls[0].cost is None


async def test_each_attempt_is_noted_with_its_error() -> None:
    client, kept = client_of(Overloaded("acme"), "hello")

    await read(client)

    failed, answered = kept.calls
    assert (failed.outcome, failed.code, failed.attempt) == ("failed", "provider_overloaded", 1)
    assert (failed.input, failed.output) == (0, 0)
    assert (answered.outcome, answered.attempt) == ("answered", 2)


async def test_a_reply_that_broke_off_is_noted_with_an_estimate() -> None:
    client, kept = client_of(["你好世界", Overloaded("acme")])

    await read(client)

    [call] = kept.calls
    assert (call.outcome, call.output, call.estimated) == ("failed", 4, True)
    assert call.input > 0
    assert call.cost


async def test_a_call_that_was_left_or_cancelled_is_noted_with_an_estimate() -> None:
    gate = Gate()
    client, kept = client_of(["你好", gate], ["你好", gate])

    async with aclosing(client.stream("acme/fake", REQUEST)) as batches:
        await anext(batches)
    task = asyncio.create_task(read(client))
    await gate.reached.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task

    assert [(c.outcome, c.output, c.estimated) for c in kept.calls] == [("cancelled", 2, True)] * 2


async def test_who_leaves_after_the_end_had_an_answer() -> None:
    client, kept = client_of("hi")

    async with aclosing(client.stream("acme/fake", REQUEST)) as batches:
        async for _ in batches:
            if kept.calls:
                break

    assert [call.outcome for call in kept.calls] == ["answered"]


async def test_one_line_of_the_log_tells_of_a_call_and_nothing_of_what_was_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client, kept = client_of(AuthenticationFailed("acme", SECRET))
    caplog.set_level(logging.INFO)

    await read(client)

    [line] = [record for record in caplog.records if hasattr(record, "call")]
    assert line.call == kept.calls[0]  # type: ignore[attr-defined]
    assert "acme/fake gateway failed provider_authentication" in line.getMessage()
    assert SECRET not in line.getMessage() + repr(kept.calls)


def test_a_long_input_costs_what_long_inputs_cost() -> None:
    facts = Facts(input=1, output=2, long=LongPrice(over=1000, input=3, output=4))

    assert facts.cost(Usage(input=1000, output=1)) == pytest.approx(1002 / 1e6)
    assert facts.cost(Usage(input=1001, output=1, cached=1)) == pytest.approx(3007 / 1e6)


def test_what_is_read_from_a_cache_and_written_into_it_has_prices_of_its_own() -> None:
    facts = published("anthropic", "claude-sonnet-4-6")

    usage = Usage(input=1000, cached=600, written=300, output=10)

    assert facts.cost(usage) == pytest.approx((100 * 3 + 600 * 0.3 + 300 * 3.75 + 10 * 15) / 1e6)
    assert Facts(input=2, output=0).cost(usage) == pytest.approx(2000 / 1e6)
    more = Usage(input=10, cached=8, written=8)
    assert facts.cost(more) == pytest.approx((8 * 0.3 + 2 * 3.75) / 1e6)


def test_the_worst_case_writes_all_of_its_input_into_a_cache() -> None:
    worst, facts = worst_of(REQUEST), published("anthropic", "claude-sonnet-4-6")

    real = Usage(input=worst.input, written=worst.input, output=worst.output)
    assert (facts.cost(worst) or 0) >= (facts.cost(real) or 0) > 0


def test_the_catalog_knows_models_and_their_snapshots_and_says_when_it_was_made() -> None:
    model = published("openai", "gpt-5-mini")

    assert model.window == 400_000
    assert published("openai", "gpt-5-mini-2025-08-07") == model
    assert published("anthropic", "claude-sonnet-4-5-20250929").input == 3
    assert published("google", "gemini-2.5-flash") == published("gemini", "gemini-2.5-flash")
    assert published("openai", "gpt-5-minimal") is UNKNOWN
    assert published("nobody", "gpt-5") is UNKNOWN
    assert dated() >= date(2026, 11, 30)
