"""What can go wrong between us and a model, one type per thing a person or a retry would do.

ProviderError
├── AuthenticationFailed    401, 403: the key is wrong or may not use this model
├── QuotaExceeded           the account has no money or quota left; waiting does not help
├── RateLimited *           429
├── Overloaded *            500, 502, 503, 529 and the like
├── ContextTooLong          the request has more tokens than the model takes
├── ContentFiltered         the endpoint refused the content
│   └── WordRefused         our own word filter did
├── RequestRefused          any other 4xx: a wrong model name, a wrong parameter
│   ├── NoAddresses         a file was given by its address, and this endpoint fetches none
│   └── TierUnpriced        a budget is set and nobody knows what this service tier costs
├── Malformed *             what came back is not of the dialect (HTML, broken JSON)
├── TimedOut *              one of the four clocks: connect, first_event, idle, total
├── StreamCut *             the stream ended without its dialect's final event
├── Unreachable *           no connection: wrong host or port, nothing listens, TLS
├── Resting                 it failed again and again: left alone for a while, without a call
├── Busy                    our own limit of calls to this provider was reached for too long
├── BudgetSpent             the budget of a run, agent, person, key or day does not reach
├── BudgetUnpriced          a budget is set and nobody knows what this model costs
├── NotOffered              the vendor has no such endpoint: embeddings, speech, …
├── NoSuchModel             no provider or model of this name is configured
└── NoModelChosen           no model is set up at all
(* retryable, as long as nothing was shown)

Each takes the provider's name, and as `detail` what the endpoint itself said.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from teahouse.core.errors import ProviderError

Phase: TypeAlias = Literal["connect", "first_event", "idle", "total"]
Offer: TypeAlias = Literal["embeddings", "speech", "transcription", "images"]


class EndpointError(ProviderError):
    """`retry_after_s`: how long the endpoint asks to be left alone, where it says so. `status`: of
    its answer, where it was not 200."""

    name: ClassVar[str]
    retry_after_s: float | None = None
    status: int | None = None

    def __init__(self, provider: str, detail: str = "", **values: object) -> None:
        super().__init__(self.name, provider=provider, detail=detail, **values)


class AuthenticationFailed(EndpointError):
    name = "provider_authentication"


class QuotaExceeded(EndpointError):
    name = "provider_quota"


class RateLimited(EndpointError):
    name = "provider_rate_limited"
    retryable = True


class Overloaded(EndpointError):
    name = "provider_overloaded"
    retryable = True


class ContextTooLong(EndpointError):
    name = "provider_context_too_long"


class ContentFiltered(EndpointError):
    name = "provider_content_filtered"


class WordRefused(ContentFiltered):
    """Not the endpoint: the house's own word filter."""

    name = "word_refused"


class RequestRefused(EndpointError):
    name = "provider_refused"


class NoAddresses(RequestRefused):
    """Ours, before anything is sent: the model would never have seen the file."""

    name = "provider_no_addresses"

    def __init__(self, provider: str, file: str) -> None:
        super().__init__(provider, file=file)


class TierUnpriced(RequestRefused):
    """Ours, before anything is sent: a budget counts in the usual prices."""

    name = "budget_service_tier"

    def __init__(self, tier: object) -> None:
        super().__init__("", tier=str(tier)[:40])


class Malformed(EndpointError):
    name = "provider_malformed"
    retryable = True


class TimedOut(EndpointError):
    name = "provider_timed_out"
    retryable = True

    def __init__(self, provider: str, phase: Phase, seconds: float) -> None:
        super().__init__(provider, phase=phase, seconds=f"{seconds:g}")
        self.phase: Phase = phase


class StreamCut(EndpointError):
    name = "provider_stream_cut"
    retryable = True


class Unreachable(EndpointError):
    name = "provider_unreachable"
    retryable = True


class Resting(EndpointError):
    """Another model may be tried at once; this one after a while."""

    name = "provider_resting"
    passes = True

    def __init__(self, model: str, seconds: float) -> None:
        super().__init__(model, seconds=round(seconds))
        self.retry_after_s = seconds


class Busy(EndpointError):
    name = "provider_busy"
    passes = True

    def __init__(self, provider: str, seconds: float) -> None:
        super().__init__(provider, seconds=f"{seconds:g}")


class BudgetSpent(ProviderError):
    """`left` and `limit` in US dollars; `code` says whose budget it is."""

    def __init__(self, scope: str, left: float, limit: float) -> None:
        super().__init__(f"budget_{scope}", left=f"{left:.4f}", limit=f"{limit:g}")


class BudgetUnpriced(ProviderError):
    def __init__(self, model: str) -> None:
        super().__init__("budget_unpriced", model=model)


class NotOffered(ProviderError):
    def __init__(self, provider: str, what: Offer) -> None:
        super().__init__(f"provider_no_{what}", provider=provider)


class NoSuchModel(ProviderError):
    def __init__(self, model: str, known: str = "") -> None:
        super().__init__("no_such_model", model=model, known=known or "-")


class NoModelChosen(ProviderError):
    def __init__(self) -> None:
        super().__init__("no_model")
