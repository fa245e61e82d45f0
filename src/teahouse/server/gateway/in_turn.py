"""Puts the parts of a streamed reply in a row, for dialects in which one follows another.

Parts may come side by side: a vendor that goes on with its text after a call does so. A part waits
here for those before it that have begun; nothing waits for what may come.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Literal, TypeAlias

from msgspec import Struct, field

from teahouse.core.events import DeltaKind, PartDelta, PartDone
from teahouse.core.messages import Part, Text, Thinking


class Piece(Struct, frozen=True):
    """More of the part that is going on."""

    kind: Literal["text", "thinking"]
    text: str


class Whole(Struct, frozen=True):
    """The end of a part; `begun` if pieces of it have come, and then `rest` is what they lack."""

    index: int
    part: Part
    begun: bool
    rest: str


class Again(Struct, frozen=True):
    """A part that was whole before, as it is now: mostly its vendor wants something back."""

    index: int
    part: Part


Turn: TypeAlias = Piece | Whole | Again


class _Coming(Struct):
    kind: DeltaKind | None
    new: list[str] = field(default_factory=list[str])
    shown: list[str] = field(default_factory=list[str])
    done: Part | None = None


class InTurn:
    def __init__(self) -> None:
        self._coming: dict[int, _Coming] = {}
        self._order: list[int] = []  # a heap of their indices, and of some that have gone
        self._told: dict[int, Part] = {}
        self._current: int | None = None  # the part of which pieces were given

    def take(self, event: PartDelta | PartDone) -> Iterator[Turn]:
        index = event.index
        if isinstance(event, PartDelta):
            if index not in self._told:
                self._part(index, event.kind).new.append(event.delta)
        elif index not in self._told:
            self._part(index, None).done = event.part
        elif event.part != self._told[index]:
            self._told[index] = event.part
            yield Again(index, event.part)
        yield from self._go_on()

    def end(self) -> Iterator[Turn]:
        """What has waited. A part that is not whole now never will be, and keeps nothing back."""
        self._current = None
        self._coming = {i: part for i, part in self._coming.items() if part.done is not None}
        yield from self._go_on()

    def _part(self, index: int, kind: DeltaKind | None) -> _Coming:
        if index not in self._coming:
            self._coming[index] = _Coming(kind)
            heappush(self._order, index)
        return self._coming[index]

    def _first(self) -> int:
        while self._order[0] not in self._coming:
            heappop(self._order)
        return self._order[0]

    def _go_on(self) -> Iterator[Turn]:
        while self._coming:
            index = self._first() if self._current is None else self._current
            coming = self._coming[index]
            if coming.new and (coming.kind == "text" or coming.kind == "thinking"):  # noqa: PLR1714  pyright narrows it so
                self._current = index
                for text in coming.new:
                    yield Piece(coming.kind, text)
                coming.shown += coming.new
                coming.new = []
            if coming.done is None:
                return
            yield self._finish(index, coming.done)

    def _finish(self, index: int, part: Part) -> Whole:
        coming = self._coming.pop(index)
        begun, self._current = self._current is not None, None
        self._told[index] = part
        text = part.text if isinstance(part, Text | Thinking) else ""
        shown = "".join(coming.shown)
        rest = text[len(shown) :] if text.startswith(shown) else ""
        return Whole(index, part, begun, rest)
