"""Hard budgets: the worst that a call may cost is put aside before it is made, and the rest given
back when it has ended. So no number of calls at once can spend more than was allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC
from math import ceil
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.clock import Clock
from teahouse.core.events import Usage
from teahouse.llm.catalog import FactsOf
from teahouse.llm.errors import BudgetUnpriced
from teahouse.llm.provider import ModelRequest
from teahouse.llm.settings import BudgetLimits
from teahouse.llm.usage import Caller
from teahouse.llm.worst import ANSWER_TOKENS, refuse_dear_tier

NANO = 1_000_000_000  # accounts are kept in billionths of a dollar: sums stay exact

Scope: TypeAlias = Literal["run", "agent", "person", "key", "day"]


class Cap(Struct, frozen=True, kw_only=True):
    """What one account may come to; `account` names whose it is and for which time."""

    scope: Scope
    account: str
    limit: int  # in billionths of a dollar


class Purse(Protocol):
    """Keeps what is spent and what is put aside."""

    async def reserve(self, caps: Sequence[Cap], amount: int, /) -> str:
        """Put `amount` aside in every account, or in none: raises `BudgetSpent`."""
        ...

    def settle(self, reservation: str, spent: int, /) -> None:
        """Take what was `spent` and give the rest back. Nobody waits for it to be written."""
        ...


class Budgets:
    """`limits` is asked at each call, so that a changed setting counts at once."""

    def __init__(
        self, purse: Purse, limits: Callable[[], BudgetLimits], facts: FactsOf, clock: Clock
    ) -> None:
        self._purse, self._limits = purse, limits
        self._facts, self._clock = facts, clock

    def bounded(self, request: ModelRequest, caller: Caller) -> ModelRequest:
        """A request whose answer has an end: what has none could cost anything. Raises
        `TierUnpriced` where it wishes to be served at another price than the one known."""
        if not self.caps(caller):
            return request
        refuse_dear_tier(request)
        if request.max_tokens is not None:
            return request
        return replace(request, max_tokens=ANSWER_TOKENS)

    async def reserve(self, model: str, worst: Callable[[], Usage], caller: Caller) -> str | None:
        """Put aside what this call may cost at worst; None where no budget applies. Raises
        `BudgetSpent`, and `BudgetUnpriced` for a model whose price is unknown."""
        caps = self.caps(caller)
        if not caps:
            return None
        cost = self._facts(model).cost(worst())
        if cost is None:
            if self._limits().unpriced == "allow":
                return None
            raise BudgetUnpriced(model)
        return await self._purse.reserve(caps, ceil(cost * NANO)) if cost else None

    def settle(self, reservation: str | None, cost: float | None) -> None:
        if reservation is not None:
            self._purse.settle(reservation, ceil((cost or 0) * NANO))

    def caps(self, caller: Caller) -> Sequence[Cap]:
        limits, day = self._limits(), self._clock.now().astimezone(UTC).date().isoformat()
        wanted: Sequence[tuple[Scope, float | None, str | None]] = (
            ("run", limits.run, caller.run),
            ("agent", limits.agent, caller.agent and f"{caller.agent} {day}"),
            ("person", limits.person, caller.person and f"{caller.person} {day}"),
            ("key", _least(limits.key, caller.allowance), caller.key and f"{caller.key} {day}"),
            ("day", limits.day, day),
        )
        return [
            Cap(scope=scope, account=f"{scope} {whose}", limit=int(limit * NANO))
            for scope, limit, whose in wanted
            if limit is not None and whose
        ]


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
