"""What happens when a model fails: the next key, the next model, or a rest; and never twice."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing

import pytest

from teahouse.core.errors import Invalid, ProviderError
from teahouse.core.events import ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text
from teahouse.llm.breaker import Breakers
from teahouse.llm.client import Client
from teahouse.llm.errors import (
    AuthenticationFailed,
    Busy,
    ContentFiltered,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    Resting,
)
from teahouse.llm.gates import Gates
from teahouse.llm.key_pool import KeyPool
from teahouse.llm.provider import ModelRequest
from teahouse.llm.retry import Retry
from teahouse.llm.route import Routes
from teahouse.llm.settings import BreakerSettings, RateLimits
from teahouse.llm.usage import NOBODY, Caller, CallRecord, Ledger
from teahouse.testing.clock import FakeClock
from teahouse.testing.providers import Gate, Script, ScriptedProvider

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(model="", messages=(Message(role="user", parts=(Text(text="hi"),)),))
ONCE = Retry(tries=1)


class Kept(Ledger):
    def __init__(self, calls: list[CallRecord]) -> None:
        self._calls = calls

    def note(self, call: CallRecord, /) -> None:
        self._calls.append(call)


async def read(client: Client, model: str, caller: Caller = NOBODY) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    async with aclosing(client.stream(model, REQUEST, caller=caller)) as batches:
        async for batch in batches:
            events += batch
    return events


def said(events: Sequence[StreamEvent]) -> tuple[str, str | None]:
    done = events[-1]
    assert isinstance(done, ReplyDone)
    return fold(events).text, done.model


def client_of(routes: Routes, **scripts: Sequence[Script]) -> Client:
    providers = {name: ScriptedProvider(script) for name, script in scripts.items()}
    return Client(providers, retry=ONCE, clock=FakeClock(), routes=lambda: routes)


CHAIN = Routes(fallbacks={"a/m": ("b/m", "c/m")})


async def test_the_next_model_answers_and_the_answer_says_so() -> None:
    client = client_of(CHAIN, a=[Overloaded("a")], b=[QuotaExceeded("b")], c=["from c"])

    assert said(await read(client, "a/m")) == ("from c", "c/m")


async def test_a_call_that_stands_in_is_noted_with_the_model_that_was_asked() -> None:
    kept: list[CallRecord] = []
    client = Client(
        {"a": ScriptedProvider([Overloaded("a")]), "b": ScriptedProvider(["from b"])},
        retry=ONCE,
        clock=FakeClock(),
        ledger=Kept(kept),
        routes=lambda: CHAIN,
    )

    await read(client, "a/m")

    assert [(call.model, call.caller.instead_of) for call in kept] == [
        ("a/m", None),
        ("b/m", "a/m"),
    ]


async def test_the_model_that_was_asked_signs_nothing() -> None:
    client = client_of(CHAIN, a=["from a"], b=[], c=[])

    assert said(await read(client, "a/m")) == ("from a", None)


async def test_nothing_is_begun_anew_once_it_was_seen() -> None:
    client = client_of(CHAIN, a=[["begun", Overloaded("a")]], b=["from b"], c=[])

    with pytest.raises(Overloaded):
        await read(client, "a/m")


async def test_the_last_models_error_is_told() -> None:
    client = client_of(CHAIN, a=[Overloaded("a")], b=[Overloaded("b")], c=[QuotaExceeded("c")])

    with pytest.raises(QuotaExceeded):
        await read(client, "a/m")


async def test_what_one_vendor_refuses_for_its_content_goes_to_no_other() -> None:
    client = client_of(CHAIN, a=[ContentFiltered("a")], b=["from b"], c=[])

    with pytest.raises(ContentFiltered):
        await read(client, "a/m")


async def test_an_agents_own_chain_comes_first() -> None:
    routes = Routes(fallbacks={"a/m": ("b/m",), "a_1": ("c/m",)})
    client = client_of(routes, a=[Overloaded("a")], b=["from b"], c=["from c"])

    assert said(await read(client, "a/m", Caller(agent="a_1"))) == ("from c", "c/m")


def test_an_alias_shares_the_conversations_out_by_weight_and_keeps_each() -> None:
    routes = Routes(aliases={"fast": {"a/m": 95, "b/m": 5, "c/m": 0}})
    drawn = [
        routes.candidates("fast", Caller(conversation=f"c_{number}")) for number in range(2000)
    ]

    share = drawn.count(("b/m",)) / len(drawn)
    assert 0.03 < share < 0.07
    assert ("c/m",) not in drawn
    assert drawn[7] == routes.candidates("fast", Caller(conversation="c_7"))
    assert routes.candidates("fast", NOBODY, lambda: 0.96) == ("b/m",)
    assert routes.candidates("other/m", NOBODY) == ("other/m",)


def test_an_alias_may_have_and_be_a_fallback() -> None:
    routes = Routes(
        aliases={"fast": {"a/m": 1}, "slow": {"b/m": 1}}, fallbacks={"fast": ("slow", "a/m")}
    )

    assert routes.candidates("fast", NOBODY) == ("a/m", "b/m")


async def test_a_model_that_fails_and_fails_is_left_alone_then_one_call_tries_it() -> None:
    clock, gate = FakeClock(), Gate()
    provider = ScriptedProvider(
        [Overloaded("a"), Overloaded("a"), Overloaded("a"), [gate, "back"], "well"]
    )
    breakers = Breakers(clock, lambda: BreakerSettings(failures=2, rest_s=30))
    client = Client({"a": provider}, retry=ONCE, clock=clock, breakers=breakers)

    async def fails(kind: type[ProviderError]) -> None:
        with pytest.raises(kind):
            await read(client, "a/m")

    await fails(Overloaded)
    await fails(Overloaded)
    await fails(Resting)
    clock.advance(31)
    await fails(Overloaded)  # the one that tries: still ill
    await fails(Resting)
    clock.advance(31)
    async with asyncio.TaskGroup() as group:
        trying = group.create_task(read(client, "a/m"))
        await gate.reached.wait()
        await fails(Resting)  # while one tries, no other does
        gate.open()
    assert said(trying.result()) == ("back", None)
    assert said(await read(client, "a/m")) == ("well", None)


async def test_a_call_that_was_left_gives_its_try_to_the_next() -> None:
    clock, gate = FakeClock(), Gate()
    provider = ScriptedProvider([Overloaded("a"), ["x", gate], "well"])
    breakers = Breakers(clock, lambda: BreakerSettings(failures=1, rest_s=30))
    client = Client({"a": provider}, retry=ONCE, clock=clock, breakers=breakers)
    with pytest.raises(Overloaded):
        await read(client, "a/m")
    clock.advance(31)

    async with aclosing(client.stream("a/m", REQUEST)) as batches:
        await anext(batches)

    assert said(await read(client, "a/m")) == ("well", None)


async def test_a_wrong_key_is_no_illness_and_a_new_provider_begins_anew() -> None:
    breakers = Breakers(FakeClock(), lambda: BreakerSettings(failures=1))
    old, new = object(), object()
    for error in (AuthenticationFailed("a"), RateLimited("a")):
        breakers.settle("a/m", old, error)
    breakers.admit("a/m", old)
    breakers.settle("a/m", old, Overloaded("a"))

    with pytest.raises(Resting):
        breakers.admit("a/m", old)
    breakers.admit("a/m", new)


async def test_no_more_calls_than_allowed_are_made_at_once() -> None:
    gate = Gate()
    provider = ScriptedProvider([[gate, "one"], "two"])
    gates = Gates(FakeClock(), lambda _: RateLimits(concurrent=1))
    client = Client({"a": provider}, gates=gates)

    async with asyncio.TaskGroup() as group:
        first = group.create_task(read(client, "a/m"))
        await gate.reached.wait()
        second = group.create_task(read(client, "a/m"))
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(provider.requests) == 1
        gate.open()
    assert [said(task.result())[0] for task in (first, second)] == ["one", "two"]


async def test_who_waits_too_long_for_a_place_is_told() -> None:
    gate = Gate()
    provider = ScriptedProvider([[gate, "one"]])
    gates = Gates(FakeClock(), lambda _: RateLimits(concurrent=1, wait_s=0.01))
    client = Client({"a": provider}, gates=gates, retry=ONCE)

    async with asyncio.TaskGroup() as group:
        group.create_task(read(client, "a/m"))
        await gate.reached.wait()
        with pytest.raises(Busy):
            await read(client, "a/m")
        gate.open()


async def test_no_more_calls_than_allowed_begin_within_a_minute() -> None:
    clock, pauses = FakeClock(), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    gates = Gates(clock, lambda _: RateLimits(per_minute=2), sleep)
    for _ in range(5):
        async with gates.pass_through("a"):
            clock.advance(1)

    assert pauses == [58, 58]


def pool_of(**scripts: Sequence[Script]) -> tuple[Client, Mapping[str, ScriptedProvider]]:
    keys = {name: ScriptedProvider(script) for name, script in scripts.items()}
    return Client({"a": KeyPool(keys)}, retry=ONCE), keys


async def test_keys_take_turns() -> None:
    client, keys = pool_of(first=[], second=[])

    for _ in range(4):
        await read(client, "a/m")

    assert [len(key.requests) for key in keys.values()] == [2, 2]


async def test_a_key_that_is_refused_rests_and_the_next_one_answers() -> None:
    client, keys = pool_of(first=[QuotaExceeded("a"), "late"], second=["one", "two", "three"])

    texts = [said(await read(client, "a/m"))[0] for _ in range(3)]

    assert texts == ["one", "two", "three"]
    assert len(keys["first"].requests) == 1


async def test_when_every_key_is_refused_the_reason_is_told_and_asked_anew_later() -> None:
    client, _ = pool_of(first=[AuthenticationFailed("a"), "x"], second=[QuotaExceeded("a"), "y"])

    with pytest.raises(QuotaExceeded):
        await read(client, "a/m")
    assert said(await read(client, "a/m"))[0] in "xy"


async def test_an_error_that_is_not_the_keys_is_not_tried_with_another() -> None:
    client, keys = pool_of(first=[Overloaded("a")], second=["never"])

    with pytest.raises(Overloaded):
        await read(client, "a/m")
    assert not keys["second"].requests


async def test_a_name_with_space_around_it_is_the_same_model_in_every_account() -> None:
    calls: list[CallRecord] = []
    provider = ScriptedProvider(["ok"])
    client = Client({"a": provider}, clock=FakeClock(), ledger=Kept(calls))

    await read(client, " a/m\n")

    assert ([one.model for one in calls], provider.requests[0].model) == (["a/m"], "m")


@pytest.mark.parametrize("name", ["a/../b/m", "a/m/..", "a/.", "a/./m"])
async def test_no_name_leads_up_in_an_endpoint_s_address(name: str) -> None:
    with pytest.raises(Invalid, match="is not the name of a model"):
        await read(Client({"a": ScriptedProvider([])}), name)
