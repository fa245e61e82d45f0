"""What was spent on models: managers see the whole house, everyone else their own calls."""

from __future__ import annotations

from datetime import UTC, datetime

from litestar import get
from litestar.params import FromQuery

from teahouse.chat.ports import Page
from teahouse.llm.usage import Grouping, ProviderState, UsageRow
from teahouse.server.answers import whole
from teahouse.server.body import Request
from teahouse.server.credentials import MANAGERS

EVER = datetime(1970, 1, 1, tzinfo=UTC)


@get("/api/usage")
async def get_usage(
    request: Request,
    by: FromQuery[Grouping] = "day",
    since: FromQuery[datetime | None] = None,
    until: FromQuery[datetime | None] = None,
    daily: FromQuery[bool] = False,
) -> Page[UsageRow]:
    """Calls, tokens and cost, added up by day (UTC), agent, person, model, provider or key; with
    `daily` for each day by itself.

    `since` and `until` are instants such as `2026-11-01T00:00:00Z`; `until` is not included.
    `cost` is in US dollars; `unpriced` counts the calls whose price is not known.
    """
    person = None if request.person.role in MANAGERS else request.person.id
    sums = await request.house.usage.sums(
        by, since=_instant(since), until=_instant(until), person=person, daily=daily
    )
    return whole(sums)


@get("/api/usage/providers", managers=True)
async def get_providers(
    request: Request, since: FromQuery[datetime | None] = None
) -> Page[ProviderState]:
    """How each provider did at last that was called since then, or ever."""
    return whole(await request.house.usage.providers(since=_instant(since) or EVER))


def _instant(given: datetime | None) -> datetime | None:
    """What names no zone is meant in UTC, like the days."""
    return given.replace(tzinfo=UTC) if given is not None and given.tzinfo is None else given


HANDLERS = (get_usage, get_providers)
