"""What the owner says of an endpoint. Imports nothing heavy: `teahouse --help` reads this."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

WireName: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "gemini", "ollama"]
"""The dialects that are spoken here."""


class Timeouts(Struct, frozen=True, kw_only=True):
    """The four clocks, in seconds.

    `first_event` runs from the request to the first event that is data: comments do not stop it.
    `idle` runs between reads after that, and any byte restarts it; as long as nothing is said yet,
    it does not end before `first_event` would. `total` None: no limit.
    """

    connect_s: float = 10
    first_event_s: float = 120
    idle_s: float = 60
    total_s: float | None = 1800


class RateLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of our own calls to a provider: at once, and begun within a minute; None is no limit. Who
    comes too many waits for `wait_s` at most."""

    concurrent: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    per_minute: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    wait_s: Annotated[float, Meta(gt=0, le=3600)] = 30


class BreakerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`failures` in a row and the model is left alone for `rest_s`; then one call tries it."""

    failures: Annotated[int, Meta(ge=1, le=1000)] = 5
    rest_s: Annotated[float, Meta(gt=0, le=86_400)] = 30


_Dollars: TypeAlias = Annotated[float, Meta(ge=0, le=1_000_000)] | None


class BudgetLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In US dollars: for one run, and for one agent, person, key or the whole house in a day (UTC).
    None is no limit. `unpriced` says what becomes of a call whose price nobody knows."""

    run: _Dollars = None
    agent: _Dollars = None
    person: _Dollars = None
    key: _Dollars = None
    day: _Dollars = None
    unpriced: Literal["refuse", "allow"] = "refuse"


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """One endpoint. `vendor` names a row of `llm.vendors`, which fills in what is not given here,
    the wire too.

    `models` are offered even if the endpoint does not list them; `quirks` are fields of
    `llm.profiles.Profile`. Keyless endpoints are legal. `api_keys` are further keys by names of
    the owner's choice: calls take turns, and a key that is refused rests.
    """

    wire: WireName | None = None
    vendor: str = "custom"
    base_url: str | None = None
    api_key: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    models: tuple[str, ...] = ()
    quirks: dict[str, Any] = field(default_factory=dict[str, Any])
    timeouts: Timeouts = Timeouts()
    limits: RateLimits = RateLimits()
    api_keys: dict[str, str] = field(default_factory=dict[str, str])
