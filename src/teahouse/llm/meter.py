"""Watches one attempt at a model and writes it down when it ends, however it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from teahouse.core.clock import Clock
from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, ReplyDone, StreamEvent, Usage
from teahouse.core.ids import new_id
from teahouse.llm.calibration import Calibration
from teahouse.llm.catalog import Facts
from teahouse.llm.errors import TimedOut
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import Caller, CallRecord, Ledger, Outcome

log = logging.getLogger(__name__)


class Meter:
    def __init__(
        self,
        model: str,
        request: ModelRequest,
        caller: Caller,
        *,
        attempt: int,
        facts: Facts,
        clock: Clock,
        calibration: Calibration,
    ) -> None:
        self._model, self._request, self._caller = model, request, caller
        self._attempt, self._facts, self._clock = attempt, facts, clock
        self._calibration = calibration
        self._at, self._started = clock.now(), clock.monotonic()
        self._first: float | None = None
        self._said: list[str] = []
        self._done: ReplyDone | None = None

    def saw(self, batch: Sequence[StreamEvent]) -> None:
        if self._first is None:
            self._first = self._clock.monotonic()
        for event in batch:
            if isinstance(event, PartDelta):
                self._said.append(event.delta)
            elif isinstance(event, ReplyDone):
                self._done = event

    def end(self, error: BaseException | None, ledger: Ledger | None) -> CallRecord:
        """Write the attempt down. Whoever stopped reading after the end has had an answer."""
        outcome, code = _outcome(error, self._done)
        usage = self._usage(error)
        record = CallRecord(
            id=new_id("l"),
            at=self._at,
            model=self._model,
            provider=self._model.partition("/")[0],
            caller=self._caller,
            input=usage.input,
            output=usage.output,
            cached=usage.cached,
            estimated=usage.estimated,
            cost=self._facts.cost(usage),
            first_token_ms=None if self._first is None else self._since_start(self._first),
            total_ms=self._since_start(self._clock.monotonic()),
            outcome=outcome,
            code=code,
            attempt=self._attempt,
        )
        log.info("%s", _Line(record), extra={"call": record})
        if ledger is not None:
            ledger.note(record)
        return record

    def _usage(self, error: BaseException | None) -> Usage:
        """As reported; of what was cut, an estimate of what it had come to."""
        request, counts = self._request, self._calibration
        if self._done is not None:
            usage = self._done.usage
            if not usage.estimated:
                counts.learn(self._model, request.messages, request.tools, usage.input)
            return usage
        refused = isinstance(error, ProviderError) and not isinstance(error, TimedOut)
        if refused and self._first is None:
            return Usage()
        return Usage(
            input=counts.messages(self._model, request.messages, request.tools),
            output=counts.text(self._model, "".join(self._said)),
            estimated=True,
        )

    def _since_start(self, moment: float) -> int:
        return round((moment - self._started) * 1000)


def _outcome(error: BaseException | None, done: ReplyDone | None) -> tuple[Outcome, str | None]:
    if done is not None:
        return "answered", done.reason
    if isinstance(error, ProviderError):
        return "failed", error.code
    if error is None or isinstance(error, GeneratorExit | asyncio.CancelledError):
        return "cancelled", None
    return "failed", "internal"


class _Line:
    """A record in one line; written only where somebody logs it."""

    def __init__(self, record: CallRecord) -> None:
        self._record = record

    def __str__(self) -> str:
        one = self._record
        cost = "?" if one.cost is None else f"{one.cost:.6f}"
        return (
            f"{one.model} {one.caller.purpose} {one.outcome} {one.code or '-'}: "
            f"{one.input}+{one.output} tokens, {cost} USD, {one.total_ms} ms"
        )
