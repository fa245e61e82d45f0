"""Which models a name stands for, in the order in which they are tried."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from teahouse.core import ids
from teahouse.llm.usage import Caller


class Routes(Struct, frozen=True, kw_only=True):
    """`aliases` are names without a slash, each with models and their weights; `fallbacks` says
    for a model, an alias or an agent's id what is tried when the first one fails."""

    aliases: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict[str, Mapping[str, float]]
    )
    fallbacks: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def candidates(
        self, model: str, caller: Caller, fraction: Callable[[], float] = ids.fraction
    ) -> tuple[str, ...]:
        """An agent's own chain comes before that of its model. A chain is not followed further:
        what stands behind a fallback is not tried."""
        first = self._drawn(model, caller, fraction)
        own = self.fallbacks.get(caller.agent or "", ())
        chain = own or self.fallbacks.get(model, ()) or self.fallbacks.get(first, ())
        return tuple(dict.fromkeys((first, *(self._drawn(one, caller, fraction) for one in chain))))

    def models(self, name: str) -> tuple[str, ...]:
        """Those that a name may stand for."""
        return tuple(self.aliases.get(name, {name: 1.0}))

    def _drawn(self, name: str, caller: Caller, fraction: Callable[[], float]) -> str:
        """The same conversation always draws the same model, while the weights stay."""
        weights = {model: weight for model, weight in self.aliases.get(name, {}).items() if weight}
        if not weights:
            return name
        place = _place(f"{name} {caller.conversation}") if caller.conversation else fraction()
        left = place * sum(weights.values())
        for model, weight in weights.items():
            left -= weight
            if left < 0:
                return model
        return next(reversed(weights))


NO_ROUTES = Routes()


def no_routes() -> Routes:
    return NO_ROUTES


def _place(text: str) -> float:
    """A number of at least 0 and below 1 that is always the same for one text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / (1 << 48)
