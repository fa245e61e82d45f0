"""Builds the parts of a streamed reply and their events, whatever the dialect they come in."""

from __future__ import annotations

from collections.abc import Callable

from teahouse.core.events import DeltaKind, PartDelta, PartDone, ReplyDone, StreamEvent
from teahouse.core.messages import JsonObject, Part, Text, Thinking
from teahouse.llm.think import Kind


class PartsBuilder:
    """Text and thoughts form one part as long as they go on; calls in between don't part them.
    Whoever streams takes the events after each read. `bears` tells, at the end of the first
    thought, what its vendor wants back with it."""

    def __init__(self) -> None:
        self.bears: Callable[[], JsonObject | None] | None = None
        self._events: list[StreamEvent] = []
        self.parts: dict[int, Part] = {}
        self._next = 0
        self._open: tuple[int, Kind] | None = None
        self._pieces: list[str] = []
        self._new: list[str] = []  # of one part, not yet an event
        self._new_of: tuple[int, DeltaKind] = -1, "text"

    def say(self, kind: Kind, text: str) -> None:
        if not text:
            return
        if self._open is None or self._open[1] != kind:
            self.close()
            self._open = (self.reserve(), kind)
        self._pieces.append(text)
        self.delta(self._open[0], kind, text)

    def delta(self, index: int, kind: DeltaKind, text: str) -> None:
        """Pieces that came with the same read become one event: readers do less."""
        if self._new_of[0] != index:
            self._flush()
            self._new_of = index, kind
        if text:
            self._new.append(text)

    def _flush(self) -> None:
        if self._new:
            index, kind = self._new_of
            self._events.append(PartDelta(index=index, kind=kind, delta="".join(self._new)))
            self._new.clear()

    def reserve(self) -> int:
        """The index of a part that begins now."""
        self._next += 1
        return self._next - 1

    def close(self) -> None:
        """The text or thought that was going on has ended."""
        if self._open is None:
            return
        index, kind = self._open
        text = "".join(self._pieces)
        self.add(index, Text(text=text) if kind == "text" else self._thought(text))
        self._open, self._pieces = None, []

    def _thought(self, text: str) -> Thinking:
        first = not any(isinstance(part, Thinking) for part in self.parts.values())
        return Thinking(text=text, opaque=self.bears() if first and self.bears else None)

    def sign(self, kind: Kind, opaque: JsonObject) -> None:
        """What was going on ends with what its vendor wants back: a thought bears it itself, an
        empty one bears it for the text before."""
        index, text = self.reserve(), ""
        if kind == "thinking" and self._open is not None and self._open[1] == kind:
            index, text = self._open[0], "".join(self._pieces)
            self._open, self._pieces = None, []
        self.close()
        self.add(index, Thinking(text=text, opaque=opaque))

    def add(self, index: int, part: Part) -> None:
        self.parts[index] = part
        self.tell(PartDone(index=index, part=part))

    def tell(self, event: PartDone | ReplyDone) -> None:
        self._flush()
        self._events.append(event)

    def mark_thoughts(self, opaque: JsonObject) -> None:
        """Attach what the vendor wants back: to the first thought, or to an empty one."""
        for index, part in self.parts.items():
            if isinstance(part, Thinking):
                if part.opaque != opaque:
                    self.add(index, Thinking(text=part.text, opaque=opaque))
                return
        self.add(self.reserve(), Thinking(text="", opaque=opaque))

    def take(self) -> list[StreamEvent]:
        """What is new since it was last asked."""
        self._flush()
        events, self._events = self._events, []
        return events
