"""What the owner says of an endpoint. Imports nothing heavy: `teahouse --help` reads this."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

WireName: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "gemini", "ollama"]
"""The dialects that are spoken here."""


class Timeouts(Struct, frozen=True, kw_only=True):
    """The four clocks, in seconds.

    `first_event` runs from the request to the first event that is data: comments do not stop it.
    `idle` runs between reads after that, and any byte restarts it. `total` None: no limit.
    """

    connect_s: float = 10
    first_event_s: float = 120
    idle_s: float = 60
    total_s: float | None = 1800


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """One endpoint. `vendor` names a row of `llm.vendors`, which fills in what is not given here,
    the wire too.

    `models` are offered even if the endpoint does not list them; `quirks` are fields of
    `llm.profiles.Profile`. Keyless endpoints are legal.
    """

    wire: WireName | None = None
    vendor: str = "custom"
    base_url: str | None = None
    api_key: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    models: tuple[str, ...] = ()
    quirks: dict[str, Any] = field(default_factory=dict[str, Any])
    timeouts: Timeouts = Timeouts()
