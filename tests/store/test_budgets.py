"""Budgets are hard: however many call at once, no more is spent than was allowed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from pathlib import Path

import pytest
from msgspec import structs

from teahouse.core.events import Usage
from teahouse.core.messages import Message, Text
from teahouse.llm.budget import NANO, Budgets, Cap
from teahouse.llm.catalog import UNKNOWN, Facts
from teahouse.llm.client import Client
from teahouse.llm.errors import BudgetSpent, BudgetUnpriced, Overloaded
from teahouse.llm.provider import ModelRequest
from teahouse.llm.retry import Retry
from teahouse.llm.route import Routes
from teahouse.llm.settings import BudgetLimits
from teahouse.llm.usage import Caller
from teahouse.store.home import Store, open_store
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_house import House, OpenAgain
from teahouse.testing.providers import Finish, Gate, Script, ScriptedProvider

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(
    model="", messages=(Message(role="user", parts=(Text(text="hi"),)),), max_tokens=1000
)
DEAR = Facts(input=0, output=100)  # 0.1 dollars for an answer of 1000 tokens
MEI = Caller(person="u_1", agent="a_1", run="r_1", key="k_1")


def client_of(
    store: Store,
    limits: BudgetLimits,
    *replies: Script,
    default: Script = "hello",
    facts: Facts = DEAR,
    clock: FakeClock | None = None,
) -> tuple[Client, ScriptedProvider]:
    provider = ScriptedProvider(replies, default=lambda _: default)
    clock = clock or FakeClock()
    budgets = Budgets(store.purse, lambda: limits, lambda _: facts, clock)
    client = Client(
        {"a": provider},
        retry=Retry(tries=1),
        clock=clock,
        ledger=store.ledger,
        facts=lambda _: facts,
        budgets=budgets,
    )
    return client, provider


async def read(client: Client, caller: Caller = MEI, request: ModelRequest = REQUEST) -> None:
    async with aclosing(client.stream("a/m", request, caller=caller)) as batches:
        async for _ in batches:
            pass


def used(tokens: int) -> Script:
    return ["hello", Finish(usage=Usage(input=0, output=tokens))]


async def account(store: Store, name: str) -> tuple[int, int]:
    """Spent and put aside, in thousandths of a dollar."""
    await store.behind.flush()

    def work(connection):  # type: ignore[no-untyped-def]
        statement = "SELECT spent, reserved FROM budget WHERE account LIKE ?"
        return connection.exec_driver_sql(statement, (f"{name}%",)).one()

    spent, reserved = await store.behind._write(work)
    return spent * 1000 // NANO, reserved * 1000 // NANO


async def test_64_racing_calls_never_pass_the_cap(house: House) -> None:
    store = house.store
    client, provider = client_of(store, BudgetLimits(day=1), default=used(1000))
    refused = 0

    async def one() -> None:
        nonlocal refused
        try:
            await read(client)
        except BudgetSpent:
            refused += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(64):
            group.create_task(one())

    assert len(provider.requests) == 10
    assert refused == 54
    assert await account(store, "day") == (1000, 0)
    await store.behind.flush()
    [spent] = await store.ledger.sums("model")
    assert spent.cost == pytest.approx(1)


@pytest.mark.parametrize("setting", [None, 50.0, 0.3])
async def test_64_racing_calls_never_pass_the_key_s_own_budget(
    house: House, setting: float | None
) -> None:
    """The smaller of the two holds: what the settings say of every key, and what this one may."""
    client, provider = client_of(house.store, BudgetLimits(key=setting), default=used(1000))
    caller = structs.replace(MEI, allowance=0.5)
    refused: list[BudgetSpent] = []

    async def one() -> None:
        try:
            await read(client, caller)
        except BudgetSpent as error:
            refused.append(error)

    async with asyncio.TaskGroup() as group:
        for _ in range(64):
            group.create_task(one())

    reached = 3 if setting == 0.3 else 5
    assert len(provider.requests) == reached
    assert {error.code for error in refused} == {"budget_key"}
    assert await account(house.store, "key k_1") == (reached * 100, 0)
    await read(client, structs.replace(caller, key="k_2"))  # another key has its own


async def test_what_was_put_aside_and_not_spent_is_given_back(house: House) -> None:
    gate = Gate()
    client, _ = client_of(house.store, BudgetLimits(day=0.1), [gate, *used(10)], used(10))

    async with asyncio.TaskGroup() as group:
        group.create_task(read(client))
        await gate.reached.wait()
        with pytest.raises(BudgetSpent):
            await read(client)
        gate.open()

    assert await account(house.store, "day") == (1, 0)


@pytest.mark.parametrize("scope", ["run", "agent", "person", "key", "day"])
async def test_each_budget_says_that_it_is_spent(house: House, scope: str) -> None:
    client, provider = client_of(house.store, BudgetLimits(**{scope: 0.05}))  # type: ignore[arg-type]

    with pytest.raises(BudgetSpent) as caught:
        await read(client)

    assert caught.value.code == f"budget_{scope}"
    assert caught.value.values == {"left": "0.0500", "limit": "0.05"}
    assert not provider.requests
    if scope != "day":
        await read(client, Caller())  # a call of nobody's meets no budget of somebody's


async def test_none_is_charged_where_one_refuses(house: House) -> None:
    limits = BudgetLimits(run=1, person=1, day=0.15)
    client, _ = client_of(house.store, limits, default=used(1000))

    await read(client)
    with pytest.raises(BudgetSpent):
        await read(client)

    assert await account(house.store, "run") == (100, 0)
    assert await account(house.store, "day") == (100, 0)


async def test_a_new_day_has_a_new_budget(house: House) -> None:
    clock = FakeClock()
    client, _ = client_of(house.store, BudgetLimits(day=0.1), default=used(1000), clock=clock)

    await read(client)
    await house.store.behind.flush()
    with pytest.raises(BudgetSpent):
        await read(client)
    clock.advance(24 * 3600)
    await read(client)


async def test_failed_and_stopped_calls_give_back_what_they_did_not_use(house: House) -> None:
    gate = Gate()
    client, _ = client_of(house.store, BudgetLimits(day=1), Overloaded("a"), ["x" * 40, gate])

    with pytest.raises(Overloaded):
        await read(client)
    task = asyncio.create_task(read(client))
    await gate.reached.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task

    assert await account(house.store, "day") == (1, 0)


async def test_what_nobody_knows_the_price_of_is_refused_or_allowed(house: House) -> None:
    refusing, _ = client_of(house.store, BudgetLimits(day=1), facts=UNKNOWN)
    allowing, _ = client_of(house.store, BudgetLimits(day=1, unpriced="allow"), facts=UNKNOWN)

    with pytest.raises(BudgetUnpriced):
        await read(refusing)
    await read(allowing)


async def test_a_model_of_unknown_price_is_passed_over_for_one_whose_price_is_known(
    house: House,
) -> None:
    provider = ScriptedProvider(default=lambda _: "hello")
    facts = {"a/dear": DEAR, "a/unknown": UNKNOWN}
    limits, clock = BudgetLimits(day=1), FakeClock()
    budgets = Budgets(house.store.purse, lambda: limits, facts.__getitem__, clock)
    routes = Routes(fallbacks={"a/unknown": ("a/dear",)})
    client = Client(
        {"a": provider},
        clock=clock,
        facts=facts.__getitem__,
        budgets=budgets,
        routes=lambda: routes,
    )

    async with aclosing(client.stream("a/unknown", REQUEST, caller=MEI)) as batches:
        told = [event async for batch in batches for event in batch]

    assert [one.model for one in provider.requests] == ["dear"]
    assert told[-1].model == "a/dear"


async def test_an_answer_without_an_end_gets_one_while_a_budget_is_set(house: House) -> None:
    endless = ModelRequest(model="", messages=REQUEST.messages)
    bounded, asked = client_of(house.store, BudgetLimits(day=10))
    free, asked_freely = client_of(house.store, BudgetLimits())

    await read(bounded, request=endless)
    await read(free, request=endless)

    assert asked.requests[0].max_tokens == 8192
    assert asked_freely.requests[0].max_tokens is None


async def test_a_call_that_a_crash_has_cut_costs_what_was_put_aside(
    home: Path, clock: FakeClock, open_again: OpenAgain
) -> None:
    cap = Cap(scope="day", account="day today", limit=NANO)
    async with open_store(home, clock) as store:
        await store.purse.reserve([cap], NANO)
        async with open_again() as after:
            assert await account(after, "day") == (1000, 0)
            with pytest.raises(BudgetSpent):
                await after.purse.reserve([cap], 1)


async def test_accounts_of_old_days_are_cleared_away(home: Path, clock: FakeClock) -> None:
    cap = Cap(scope="day", account="day long ago", limit=NANO)
    async with open_store(home, clock) as store:
        store.purse.settle(await store.purse.reserve([cap], NANO), NANO)
    clock.advance(8 * 24 * 3600)

    async with open_store(home, clock) as store:
        await store.purse.reserve([cap], NANO)
