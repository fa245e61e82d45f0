"""Leaves a model alone for a while that has failed again and again; then one call tries it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from teahouse.core.clock import Clock
from teahouse.core.errors import ProviderError
from teahouse.llm.errors import RateLimited, Resting
from teahouse.llm.settings import BreakerSettings


class _State(Struct):
    provider: object
    failures: int = 0
    until: float | None = None  # open until then
    probing: bool = False


class Breakers:
    """One circuit per `provider/model`. Only what says that the endpoint is ill counts: a wrong
    key or a refused request says nothing, and a rate limit is no illness. A provider that was set
    up anew begins anew."""

    def __init__(
        self, clock: Clock, settings: Callable[[], BreakerSettings] = BreakerSettings
    ) -> None:
        """`settings` is asked at each failure, so that a change counts at once."""
        self._clock, self._settings = clock, settings
        self._states: dict[str, _State] = {}  # of those that have failed last

    def admit(self, model: str, provider: object) -> None:
        """Raises `Resting` while the circuit is open, or half open with a call on its way."""
        state = self._states.get(model)
        if state is None or state.until is None:
            return
        if state.provider is not provider:
            del self._states[model]
            return
        left = state.until - self._clock.monotonic()
        if left > 0 or state.probing:
            raise Resting(model, max(left, 1.0))
        state.probing = True

    def settle(self, model: str, provider: object, error: BaseException | None) -> None:
        """Tell how an admitted call ended; whoever left or was stopped says nothing."""
        state = self._states.get(model)
        if error is None:
            self._states.pop(model, None)
        elif _ill(error):
            state = self._states.setdefault(model, _State(provider))
            state.failures += 1
            settings = self._settings()
            if state.probing or state.failures >= settings.failures:
                state.until = self._clock.monotonic() + settings.rest_s
            state.probing = False
        elif state is not None:
            state.probing = False


def _ill(error: BaseException) -> bool:
    return (
        isinstance(error, ProviderError) and error.retryable and not isinstance(error, RateLimited)
    )
