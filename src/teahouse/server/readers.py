"""Everyone who listens at this moment, so that nobody goes on listening after losing the right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from teahouse.core.messages import Person
from teahouse.server.credentials import Credential, identify

if TYPE_CHECKING:
    from teahouse.chat.accounts import Accounts

CHECK_EVERY_S = 0.5
ENDED = 4401  # close code: the login ended or the person's rights changed
TOO_SLOW = 4409  # close code: come back with `after`
RESTARTING = 1012

End: TypeAlias = Callable[[int], None]


class Readers:
    """Open sockets and streams by their credential: one look-up serves all tabs of a session."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._ends: dict[Credential, dict[End, int]] = {}  # with the epoch at which each came
        self._closing = False

    def __len__(self) -> int:
        return sum(len(ends) for ends in self._ends.values())

    def enter(self, credential: Credential, person: Person, end: End) -> Callable[[], None]:
        """Have `end` called with a close code when the reader must go; returns how to leave."""
        if self._closing:
            end(RESTARTING)
        self._ends.setdefault(credential, {})[end] = person.epoch

        def leave() -> None:
            ends = self._ends.get(credential, {})
            ends.pop(end, None)
            if not ends:
                self._ends.pop(credential, None)

        return leave

    async def now(self, credential: Credential, person: Person) -> Person | None:
        """The person, unless the rights with which the reader came are no longer those."""
        found = await identify(self._accounts, credential)
        if found is None or found.person.epoch != person.epoch:
            return None
        return found.person

    async def watch(self) -> None:
        """Look again and again; ends only by cancellation."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            for credential in list(self._ends):
                found = await identify(self._accounts, credential)
                epoch = found.person.epoch if found is not None else None
                for end, since in list(self._ends.get(credential, {}).items()):
                    if since != epoch:
                        end(ENDED)

    def end_all(self) -> None:
        """Send everyone away, as the server stops."""
        self._closing = True
        for ends in list(self._ends.values()):
            for end in list(ends):
                end(RESTARTING)
