"""When a failed call is made again, and after how long a pause."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from teahouse.core import ids
from teahouse.core.errors import ProviderError
from teahouse.llm.errors import EndpointError


class Retry(Struct, frozen=True, kw_only=True):
    """Exponential back-off with full jitter; what the endpoint asks for wins over it.

    An endpoint that asks for more than `longest_wait_s` is not waited for: its error says why.
    """

    tries: int = 3
    first_delay_s: float = 0.5
    longest_delay_s: float = 8.0
    longest_wait_s: float = 30.0

    def delay_s(
        self, error: ProviderError, failures: int, fraction: Callable[[], float] = ids.fraction
    ) -> float | None:
        """The pause after the `failures`th failure, or None when it is final."""
        if not error.retryable or failures >= self.tries:
            return None
        asked = error.retry_after_s if isinstance(error, EndpointError) else None
        if asked is not None:
            return asked if asked <= self.longest_wait_s else None
        highest = min(self.longest_delay_s, self.first_delay_s * 2 ** (failures - 1))
        return highest * fraction()
