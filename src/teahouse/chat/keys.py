"""Keys for programs: what may be asked of one, and the memory of those that were seen of late.

The gateway looks at the key of every request. This process is the only writer of a home, so what
was looked up once holds until a key or a person changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from math import isfinite
from typing import TypeAlias

from msgspec import UNSET, Struct, UnsetType, structs

from teahouse.chat.ports import ApiKey, Identity
from teahouse.core.clock import Clock
from teahouse.core.errors import Invalid
from teahouse.core.names import clean_name

KNOWN_S = 60.0  # then it is looked up again, which notes that the key is in use
MOST_BUDGET, MOST_RATE, MOST_AT_ONCE = 1_000_000, 100_000, 10_000

LookUp: TypeAlias = Callable[[bytes], Awaitable[Identity | None]]


class KeyChanges(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is unset stays; None lifts a limit. Scopes do not change: whoever holds a key must not
    find that it can do more than when it was given to them."""

    name: str | UnsetType = UNSET
    budget: float | UnsetType | None = UNSET
    rate: int | UnsetType | None = UNSET
    concurrent: int | UnsetType | None = UNSET


def changed(key: ApiKey, changes: KeyChanges) -> ApiKey:
    """The key with its changes; raises `Invalid` for none, and for a limit that makes no sense."""
    wanted = {name: value for name, value in structs.asdict(changes).items() if value is not UNSET}
    if not wanted:
        raise Invalid("nothing_to_change")
    return checked(structs.replace(key, **wanted))


def checked(key: ApiKey) -> ApiKey:
    """The key with a clean name; raises `Invalid` for a limit that makes no sense."""
    for field, value, least, most in (
        ("budget", key.budget, 0, MOST_BUDGET),
        ("rate", key.rate, 1, MOST_RATE),
        ("concurrent", key.concurrent, 1, MOST_AT_ONCE),
    ):
        if value is not None and not (isfinite(value) and least <= value <= most):
            raise Invalid("key_limit_wrong", field=field, value=value, least=least, most=most)
    return structs.replace(key, name=clean_name(key.name))


def is_whole(key: ApiKey) -> bool:
    """Whether it may do all that its person may, without a limit."""
    return not key.scopes and key.budget is key.rate is key.concurrent is None


class KnownKeys:
    """Only keys that exist are remembered: guesses would be without number."""

    def __init__(self, look_up: LookUp, clock: Clock) -> None:
        self._look_up, self._clock = look_up, clock
        self._known: dict[bytes, tuple[Identity, float]] = {}
        self._changes = 0

    async def get(self, digest: bytes) -> Identity | None:
        now, changes = self._clock.monotonic(), self._changes
        known = self._known.get(digest)
        if known is not None and now < known[1]:
            return known[0]
        found = await self._look_up(digest)
        # What was read while something changed may be from before: it is not remembered.
        if found is None:
            self._known.pop(digest, None)
        elif changes == self._changes:
            self._known[digest] = (found, now + KNOWN_S)
        return found

    @contextmanager
    def changing(self) -> Generator[None]:
        """Around every change of a key or a person: afterwards nothing is known any more."""
        try:
            yield
        finally:
            self._changes += 1
            self._known.clear()
