"""What may be put around every call to a model: the stages of middlewares, in a set order.

before_call    in order: may change the call, answer it (the model is not asked), or refuse it
on_event       in order: sees and may change each batch of events on its way to the reader
before_retry   in order: sees each failure that nobody has seen yet, may change the pause before the
               next attempt or, with None, let it fail
on_finish      in reverse order: learns how the call ended, whatever happened

A middleware is a function that takes its options and returns its `Stages`; those it does not need
are None and cost nothing. A third party's is found by the entry point `teahouse.middleware`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeAlias

from msgspec import Struct, field

from teahouse.core.errors import ProviderError
from teahouse.core.events import StreamEvent
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import NOBODY, Caller

Batch: TypeAlias = Sequence[StreamEvent]


class Call(Struct, frozen=True, kw_only=True):
    """A call on its way. `notes` is for a middleware to carry something from stage to stage."""

    model: str
    request: ModelRequest
    caller: Caller = NOBODY
    notes: dict[str, Any] = field(default_factory=dict[str, Any])


class Answer(Struct, frozen=True):
    """What `before_call` returns to answer in the model's place: whole, with its `ReplyDone`."""

    events: Batch


BeforeCall: TypeAlias = Callable[[Call], Awaitable[Call | Answer]]
OnEvent: TypeAlias = Callable[[Call], Callable[[Batch], Batch]]
"""Called once for each call; what it returns is called for each batch."""
BeforeRetry: TypeAlias = Callable[[Call, ProviderError, float], Awaitable[float | None]]
OnFinish: TypeAlias = Callable[[Call, BaseException | None], None]
"""The error is None after a whole answer."""
Stream: TypeAlias = Callable[[Call], AsyncGenerator[Batch, None]]


class Stages(Struct, frozen=True, kw_only=True):
    before_call: BeforeCall | None = None
    on_event: OnEvent | None = None
    before_retry: BeforeRetry | None = None
    on_finish: OnFinish | None = None


Middleware: TypeAlias = Callable[[Mapping[str, Any]], Stages]


class Pipeline:
    """The stages of several middlewares, sorted once."""

    def __init__(self, stages: Sequence[Stages] = ()) -> None:
        self.empty = not stages
        self._before_call = [one.before_call for one in stages if one.before_call]
        self._on_event = [one.on_event for one in stages if one.on_event]
        self._before_retry = [one.before_retry for one in stages if one.before_retry]
        self._on_finish = [one.on_finish for one in reversed(stages) if one.on_finish]

    async def run(self, call: Call, stream: Stream) -> AsyncGenerator[Batch, None]:
        """The events of `stream`, with all stages around it."""
        error: BaseException | None = None
        try:
            for stage in self._before_call:
                found = await stage(call)
                if isinstance(found, Answer):
                    for batch in self._through(call, [found.events]):
                        yield batch
                    return
                call = found
            passed = [open_stage(call) for open_stage in self._on_event]
            async with aclosing(stream(call)) as batches:
                async for batch in batches:
                    for change in passed:
                        batch = change(batch)  # noqa: PLW2901  that is what the stage is for
                    if batch:
                        yield batch
        except BaseException as caught:
            error = caught
            raise
        finally:
            for finish in self._on_finish:
                finish(call, error)

    async def pause(self, call: Call, error: ProviderError, delay_s: float) -> float | None:
        """The pause before the next attempt, None when there shall be none."""
        found: float | None = delay_s
        for stage in self._before_retry:
            if found is None:
                return None
            found = await stage(call, error, found)
        return found

    def _through(self, call: Call, batches: Sequence[Batch]) -> Sequence[Batch]:
        for open_stage in self._on_event:
            change = open_stage(call)
            batches = [change(batch) for batch in batches]
        return batches


EMPTY = Pipeline()


def empty_pipeline() -> Pipeline:
    return EMPTY
