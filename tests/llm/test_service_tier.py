"""Where a budget counts, no request buys a faster service at a price that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from teahouse.llm.budget import Budgets, Cap
from teahouse.llm.catalog import Facts
from teahouse.llm.client import Client
from teahouse.llm.errors import RequestRefused, TierUnpriced
from teahouse.llm.provider import ModelRequest
from teahouse.llm.settings import BudgetLimits
from teahouse.llm.usage import NOBODY, Caller
from teahouse.testing.clock import FakeClock
from teahouse.testing.providers import ScriptedProvider
from tests.llm.conversation import said

pytestmark = pytest.mark.anyio
MEI = Caller(person="u_1")


class OpenPurse:
    """Has always enough."""

    async def reserve(self, caps: Sequence[Cap], amount: int, /) -> str:
        return "r"

    def settle(self, reservation: str, spent: int, /) -> None:
        pass


async def ask(limits: BudgetLimits, caller: Caller = NOBODY, **fields: Any) -> ModelRequest:
    """The request as the provider got it."""
    provider = ScriptedProvider(default=lambda _: "hello")
    facts = Facts(input=1, output=1)
    budgets = Budgets(OpenPurse(), lambda: limits, lambda _: facts, FakeClock())
    client = Client({"a": provider}, facts=lambda _: facts, budgets=budgets)
    request = ModelRequest(model="", messages=(said("user", "hi"),), max_tokens=9, **fields)
    async for _ in client.stream("a/m", request, caller=caller):
        pass
    return provider.requests[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"own": {"openai_chat": {"service_tier": "priority"}}},
        {"own": {"openai_responses": {"service_tier": "scale"}}},
        {"own": {"anthropic": {"service_tier": "fast"}}},
        {"own": {"openai_chat": {"service_tier": ["priority"]}}},
        {"extra": {"service_tier": "priority"}},
    ],
)
async def test_a_dear_tier_is_refused_by_name_while_a_budget_applies(
    fields: dict[str, Any],
) -> None:
    with pytest.raises(TierUnpriced) as caught:
        await ask(BudgetLimits(person=5), MEI, **fields)

    assert isinstance(caught.value, RequestRefused)
    (own,) = [*fields.get("own", {}).values(), *([fields["extra"]] if "extra" in fields else [])]
    assert str(own["service_tier"]) in caught.value.problem("en-US").message
    assert not caught.value.retryable


async def test_it_is_passed_on_where_no_budget_applies() -> None:
    own = {"openai_chat": {"service_tier": "priority"}}

    for limits, caller in ((BudgetLimits(), MEI), (BudgetLimits(person=5), NOBODY)):
        assert (await ask(limits, caller, own=own)).own == own


@pytest.mark.parametrize("tier", ["auto", "default", "flex", "standard_only", None])
async def test_usual_tiers_are_passed_on_under_a_budget(tier: str | None) -> None:
    own = {"openai_chat": {"service_tier": tier}}

    assert (await ask(BudgetLimits(day=5), MEI, own=own)).own == own
