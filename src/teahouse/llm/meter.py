"""Watches one attempt at a model and writes it down when it ends, however it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from msgspec.structs import replace

from teahouse.core.clock import Clock
from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, ReplyDone, StreamEvent, Usage
from teahouse.core.ids import new_id
from teahouse.llm.calibration import Calibration
from teahouse.llm.catalog import Facts
from teahouse.llm.errors import TimedOut
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import Caller, CallRecord, Counted, Ledger, Outcome

log = logging.getLogger(__name__)

Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)


class Count(Protocol[Item_contra]):
    """Counts what one attempt has come to."""

    @property
    def reason(self) -> str | None:
        """For which the answer ended; None while it has not."""
        ...

    def saw(self, item: Item_contra, /) -> None: ...

    def reported(self) -> Usage | None: ...

    def estimate(self) -> Usage:
        """Of what was cut."""
        ...


class TalkCount:
    def __init__(self, model: str, request: ModelRequest, calibration: Calibration) -> None:
        self._model, self._request, self._calibration = model, request, calibration
        self._said: list[str] = []
        self._done: ReplyDone | None = None

    @property
    def reason(self) -> str | None:
        return self._done and self._done.reason

    def saw(self, item: Sequence[StreamEvent], /) -> None:
        for event in item:
            if isinstance(event, PartDelta):
                self._said.append(event.delta)
            elif isinstance(event, ReplyDone):
                self._done = event

    def reported(self) -> Usage | None:
        if self._done is None:
            return None
        usage, request = self._done.usage, self._request
        if not usage.estimated:
            counts = self._calibration
            counts.learn(self._model, request.messages, request.tools, usage.input)
        return usage

    def estimate(self) -> Usage:
        request, counts = self._request, self._calibration
        return Usage(
            input=counts.messages(self._model, request.messages, request.tools),
            output=counts.text(self._model, "".join(self._said)),
            estimated=True,
        )


class MediaCount:
    """Of a single call. What was cut may have come to all that it could: nobody has told, and a
    budget must hold."""

    def __init__(self, most: Usage) -> None:
        self._most = most
        self._usage: Usage | None = None

    @property
    def reason(self) -> str | None:
        return self._usage and "stop"

    def saw(self, item: Counted, /) -> None:
        self._usage = item.usage or self._usage

    def reported(self) -> Usage | None:
        return self._usage

    def estimate(self) -> Usage:
        return replace(self._most, estimated=True)


class Meter(Generic[Item]):
    def __init__(
        self,
        model: str,
        count: Count[Item],
        caller: Caller,
        *,
        attempt: int,
        facts: Facts,
        clock: Clock,
    ) -> None:
        self._model, self._count, self._caller = model, count, caller
        self._attempt, self._facts, self._clock = attempt, facts, clock
        self._at, self._started = clock.now(), clock.monotonic()
        self._first: float | None = None

    def saw(self, item: Item) -> None:
        if self._first is None:
            self._first = self._clock.monotonic()
        self._count.saw(item)

    def end(self, error: BaseException | None, ledger: Ledger | None) -> CallRecord:
        """Write the attempt down. Whoever stopped reading after the end has had an answer."""
        outcome, code = _outcome(error, self._count.reason)
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
            written=usage.written,
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
        usage = self._count.reported()
        if usage is not None:
            return usage
        refused = isinstance(error, ProviderError) and not isinstance(error, TimedOut)
        return Usage() if refused and self._first is None else self._count.estimate()

    def _since_start(self, moment: float) -> int:
        return round((moment - self._started) * 1000)


def _outcome(error: BaseException | None, reason: str | None) -> tuple[Outcome, str | None]:
    if reason is not None:
        return "answered", reason
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
