"""What answers at a path, and in whose words an error is told there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from teahouse.server.gateway.dialect import Dialect, Refusal
from teahouse.server.gateway.visit import Visit

Handle: TypeAlias = Callable[[Visit], Awaitable[None]]
Refuse: TypeAlias = Callable[[Refusal], bytes]


class Route(Struct, frozen=True, kw_only=True):
    method: str = "POST"
    handle: Handle
    refuse: Refuse


def talk(dialect: Dialect) -> Route:
    async def handle(visit: Visit) -> None:
        await visit.talk(dialect)

    return Route(handle=handle, refuse=dialect.refuse)
