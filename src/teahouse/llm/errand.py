"""What a client carries out at a model: a talk, or one of the calls that only some vendors have.

Routes, retries, gates, breakers, budgets and the ledger know an errand by this alone, so that they
are the same for all of them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.events import ReplyDone, StreamEvent, Usage
from teahouse.llm.calibration import Calibration
from teahouse.llm.meter import Count, TalkCount
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.resume import may_resume, resumed
from teahouse.llm.worst import worst_of

Item = TypeVar("Item")
"""What one read brings: a batch of events, a piece of sound, a whole answer."""
Attempt: TypeAlias = "Callable[[Errand[Item], int], AsyncGenerator[Item, None]]"


class Errand(Protocol[Item]):
    """At the one model that `to` has named."""

    def to(self, model: str, name: str) -> Errand[Item]:
        """The same at `model`, which its vendor calls `name`."""
        ...

    def ask(self, provider: Provider) -> AsyncGenerator[Item, None]: ...

    def run(
        self, provider: Provider, attempt: Attempt[Item], number: int
    ) -> AsyncGenerator[Item, None]:
        """`attempt(self, number)`, and what may be attempted at once when that breaks off."""
        ...

    def worst(self) -> Usage:
        """More than this it cannot come to."""
        ...

    def count(self) -> Count[Item]:
        """Counts one attempt."""
        ...

    def signed(self, item: Item) -> Item:
        """`item` with the name of this model: it is another one than was asked."""
        ...


class Talk(Struct, frozen=True):
    """A reply, streamed as events."""

    request: ModelRequest
    calibration: Calibration
    model: str = ""

    def to(self, model: str, name: str) -> Talk:
        return replace(self, model=model, request=replace(self.request, model=name))

    def ask(self, provider: Provider) -> AsyncGenerator[Sequence[StreamEvent], None]:
        return provider.stream(self.request)

    def run(
        self, provider: Provider, attempt: Attempt[Sequence[StreamEvent]], number: int
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        if not may_resume(provider, self.request):
            return attempt(self, number)

        def on(request: ModelRequest, nth: int) -> AsyncGenerator[Sequence[StreamEvent], None]:
            return attempt(replace(self, request=request), nth)

        return resumed(on, self.request, number, self.model, self.calibration)

    def worst(self) -> Usage:
        return worst_of(self.request)

    def count(self) -> Count[Sequence[StreamEvent]]:
        return TalkCount(self.model, self.request, self.calibration)

    def signed(self, item: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
        done = item[-1] if item else None
        if not isinstance(done, ReplyDone):
            return item
        return [*item[:-1], replace(done, model=self.model)]
