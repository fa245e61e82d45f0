"""Approvals in memory, and a gate that asks with them: for tests of tools and of turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import structs

from teahouse.agent.approval import Desk
from teahouse.agent.guard import Gate
from teahouse.agent.permission import Grant, Rules
from teahouse.agent.ports import ApprovalRecord, Approvals
from teahouse.core.clock import Clock, SystemClock
from teahouse.core.errors import Conflict, NotFound
from teahouse.core.events import ApprovalState


class MemoryApprovals(Approvals):
    """Runs never end here."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked: dict[str, ApprovalRecord] = {}
        self._grants: dict[str, Grant] = {}

    async def ask(self, approval: ApprovalRecord, /) -> ApprovalRecord:
        found = await self.of_call(approval.run, approval.call, approval.turn)
        if found is None:
            self._asked[approval.id] = approval
        return found or approval

    async def of_call(self, run: str, call: str, turn: int, /) -> ApprovalRecord | None:
        for one in self._asked.values():
            if (one.run, one.call, one.turn) == (run, call, turn):
                return self._now(one)
        return None

    async def get(self, person: str, approval: str, /) -> ApprovalRecord:
        found = self._asked.get(approval)
        if found is None or found.person != person:
            raise NotFound("no_such_approval", id=approval)
        return self._now(found)

    async def all(
        self, person: str, /, *, state: ApprovalState | None, run: str | None, limit: int
    ) -> Sequence[ApprovalRecord]:
        found = [self._now(one) for one in self._asked.values() if one.person == person]
        fit = [one for one in found if state in (None, one.state) and run in (None, one.run)]
        return sorted(fit, key=lambda one: one.id, reverse=True)[:limit]

    async def answer(
        self,
        person: str,
        approval: str,
        state: Literal["granted", "denied"],
        /,
        *,
        grant: Grant | None,
    ) -> ApprovalRecord:
        found, now = await self.get(person, approval), self._clock.now()
        if found.state != "asked":
            over = found.state == "expired"
            raise Conflict("approval_expired" if over else "approval_answered")
        if grant is not None:
            self._grants[grant.id] = grant
        self._asked[approval] = structs.replace(
            found, state=state, decided_by=person, decided_at=now
        )
        return self._asked[approval]

    async def expire(self, approval: str, /) -> ApprovalRecord:
        found = self._asked[approval]
        if found.state == "asked":
            self._asked[approval] = structs.replace(found, state="expired")
        return self._asked[approval]

    async def use(self, approval: str, /) -> bool:
        found = self._asked[approval]
        if found.state != "granted" or found.used_at is not None:
            return False
        self._asked[approval] = structs.replace(found, used_at=self._clock.now())
        return True

    async def grants(self, person: str, agent: str | None = None, /) -> Sequence[Grant]:
        now = self._clock.now()
        return [
            one
            for one in reversed(self._grants.values())
            if one.person == person
            and agent in (None, one.agent)
            and (one.until is None or one.until > now)
        ]

    async def remove_grant(self, person: str, grant: str, /) -> None:
        found = self._grants.get(grant)
        if found is None or found.person != person:
            raise NotFound("no_such_grant", id=grant)
        del self._grants[grant]

    def _now(self, one: ApprovalRecord) -> ApprovalRecord:
        over = one.state == "asked" and one.expires_at <= self._clock.now()
        return structs.replace(one, state="expired") if over else one


def gate(
    approvals: Approvals | None = None,
    *,
    rules: Rules | None = None,
    wait_s: float = 5,
    clock: Clock | None = None,
) -> Gate:
    """The same rules for every agent; `gate.desk` is where the test answers."""
    clock = clock or SystemClock()
    approvals = approvals or MemoryApprovals(clock)

    async def rules_of(_: str) -> Rules:
        return {} if rules is None else rules

    return Gate(
        approvals=approvals,
        desk=Desk(approvals, clock),
        clock=clock,
        rules=rules_of,
        wait_s=lambda: wait_s,
    )
