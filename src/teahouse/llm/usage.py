"""Who made a call to a model and what came of it: the record that a ledger keeps of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from teahouse.core.messages import Usage

Purpose: TypeAlias = Literal[
    "reply",
    "title",
    "summary",
    "question",
    "test",
    "gateway",
    "embedding",
    "speech",
    "transcription",
    "image",
]
"""What a call was for; `question` is one that a tool asks."""

Outcome: TypeAlias = Literal["answered", "failed", "cancelled"]


class Caller(Struct, frozen=True, kw_only=True):
    """On whose behalf a call is made. Whoever has no house around them needs none of it.

    `allowance`: US dollars a day that `key` may spend, where it has a limit of its own.
    `instead_of`: the model that was asked before this one, and has failed.
    """

    person: str | None = None
    agent: str | None = None
    conversation: str | None = None
    run: str | None = None
    key: str | None = None
    allowance: float | None = None
    instead_of: str | None = None
    purpose: Purpose = "reply"


NOBODY = Caller()


class CallRecord(Struct, frozen=True, kw_only=True):
    """One attempt at one model. It holds no word of what was said.

    `cost` is in US dollars, and None where the price is not known. `code` is the reason for which
    the reply ended, or the code of the error. `input` counts the tokens `cached` and `written` too.
    """

    id: str
    at: datetime
    model: str
    provider: str
    caller: Caller = NOBODY
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    estimated: bool = False
    cost: float | None = None
    first_token_ms: int | None = None
    total_ms: int = 0
    outcome: Outcome = "answered"
    code: str | None = None
    attempt: int = 1


class Counted(Struct, frozen=True, kw_only=True):
    """What each answer of a single call has: the count, in its last piece where there are several,
    and the model, where it is another one than was asked."""

    usage: Usage | None
    model: str | None = None


class Ledger(Protocol):
    """Keeps what calls were made. `note` only takes the record: nobody waits for a disk."""

    def note(self, call: CallRecord, /) -> None: ...


Grouping: TypeAlias = Literal["day", "agent", "person", "model", "provider", "key"]


class UsageRow(Struct, frozen=True, kw_only=True):
    """What one day (UTC), agent, person, model, provider or key came to; with `day`, in that day.

    `replies` are the calls that answered a person or a program; of them `stood_in` counts those of
    a model that stepped in for another. `cost` adds up what is known, in US dollars; `unpriced`
    counts the calls that it lacks, `estimated` those whose tokens were not reported.
    """

    id: str | None
    name: str | None
    day: str | None = None
    calls: int
    replies: int
    failed: int
    stood_in: int
    input: int
    output: int
    cached: int
    written: int
    cost: float
    unpriced: int
    estimated: int


class ProviderState(Struct, frozen=True, kw_only=True):
    """How a provider did of late: its last call, and how soon the last answers began (median)."""

    provider: str
    at: datetime
    model: str
    outcome: Outcome
    code: str | None
    first_token_ms: int | None


class UsageSums(Protocol):
    """What the ledger adds up to."""

    async def sums(
        self,
        by: Grouping,
        /,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        person: str | None = None,
        daily: bool = False,
    ) -> Sequence[UsageRow]:
        """Of one person's calls, or of all; days in order, else the dearest first. `daily`: each
        day by itself."""
        ...

    async def providers(self, *, since: datetime) -> Sequence[ProviderState]:
        """Those that were called since then, by name."""
        ...
