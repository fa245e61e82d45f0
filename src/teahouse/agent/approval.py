"""The desk at which people are asked: questions wait here for their answer, over restarts too.

What is asked and answered lies in the store; here is only who waits for it in this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from teahouse.agent.permission import Grant, granted_by
from teahouse.agent.ports import ApprovalRecord, Approvals
from teahouse.core.clock import Clock
from teahouse.core.errors import Invalid, NotAllowed
from teahouse.core.events import ApprovalState
from teahouse.core.ids import new_id
from teahouse.core.messages import Person, RunId

GRANTED_FOR: Final = timedelta(hours=24)
LISTED: Final = 200
LOOK_AGAIN_S: Final = 30.0  # a safety net: every answer also wakes who waits for it

Choice: TypeAlias = Literal["once", "always", "deny"]


class Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person says. `always` makes a grant: for the same arguments, for commands of the words
    of `pattern`, or for all of the tool (`["*"]`); it ends at `until`, a day later where that is
    left out, and never for null."""

    decision: Choice
    pattern: tuple[str, ...] | None = None
    until: datetime | UnsetType | None = UNSET


class Desk:
    def __init__(self, approvals: Approvals, clock: Clock) -> None:
        self._approvals, self._clock = approvals, clock
        self._waiting: dict[str, asyncio.Event] = {}

    async def all(
        self, person: Person, *, state: ApprovalState | None = None, run: RunId | None = None
    ) -> Sequence[ApprovalRecord]:
        return await self._approvals.all(person.id, state=state, run=run, limit=LISTED)

    async def answer(self, person: Person, approval: str, answer: Answer) -> ApprovalRecord:
        """Only the person for whom the run is may answer. Raises `NotFound`, `Conflict` when it is
        answered already, and `Invalid` for a pattern that does not fit the call."""
        if answer.decision != "always":
            if answer.pattern is not None or answer.until is not UNSET:
                raise Invalid("pattern_without_always")
            state = "denied" if answer.decision == "deny" else "granted"
            answered = await self._approvals.answer(person.id, approval, state, grant=None)
        else:
            asked = await self._approvals.get(person.id, approval)
            if person.role == "guest":
                raise NotAllowed("guests_grant_nothing")
            grant = self._grant(asked, answer)
            answered = await self._approvals.answer(person.id, approval, "granted", grant=grant)
        if approval in self._waiting:
            self._waiting[approval].set()
        return answered

    async def grants(self, person: Person) -> Sequence[Grant]:
        return await self._approvals.grants(person.id)

    async def remove_grant(self, person: Person, grant: str) -> None:
        await self._approvals.remove_grant(person.id, grant)

    async def wait(self, asked: ApprovalRecord) -> ApprovalRecord:
        """Wait until the question is answered or its time is up, and return what became of it."""
        news = self._waiting.setdefault(asked.id, asyncio.Event())
        try:
            while True:
                news.clear()  # before it is read: an answer that comes meanwhile wakes us again
                found = await self._approvals.get(asked.person, asked.id)
                if found.state in ("granted", "denied"):
                    return found
                left_s = (found.expires_at - self._clock.now()).total_seconds()
                if found.state == "expired" or left_s <= 0:
                    return await self._approvals.expire(asked.id)
                try:
                    async with asyncio.timeout(min(left_s, LOOK_AGAIN_S)):
                        await news.wait()
                except TimeoutError:
                    pass
        finally:
            del self._waiting[asked.id]

    def _grant(self, asked: ApprovalRecord, answer: Answer) -> Grant:
        now = self._clock.now()
        until = now + GRANTED_FOR if answer.until is UNSET else answer.until
        if until is not None and (until.tzinfo is None or until <= now):
            raise Invalid("grant_over")
        arguments, words = granted_by(answer.pattern, asked.arguments, asked.words)
        return Grant(
            id=new_id("g"),
            agent=asked.agent,
            person=asked.person,
            tool=asked.tool,
            created_at=now,
            arguments=arguments,
            words=words,
            until=until,
        )
