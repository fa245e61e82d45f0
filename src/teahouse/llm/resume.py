"""Goes on with a reply that was cut on its way: the model is given what it had said, and told on.

Only where the endpoint takes the beginning of a reply from its caller (`Profile.continues`), and
only what is nothing but one text: a thought that its vendor has sealed cannot be given back half,
and a call that was made must not be made twice. What the reader sees is one reply.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec.structs import replace

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, Usage
from teahouse.core.messages import Message, Text
from teahouse.llm.calibration import Calibration
from teahouse.llm.errors import StreamCut
from teahouse.llm.provider import ModelRequest
from teahouse.llm.tokens import estimate

log = logging.getLogger(__name__)

MOST = 2  # how often one reply is gone on with
LEAST_OVERLAP = 16  # so many characters said twice are no accident,
LEAST_KINDS = 4  # unless they are a line of dashes
_LOOKED_BACK = 4000

Attempt: TypeAlias = Callable[[ModelRequest, int], AsyncGenerator[Sequence[StreamEvent], None]]


@runtime_checkable
class Continuing(Protocol):
    """A provider with models that go on with the beginning of a reply."""

    def continues(self, model: str, /) -> bool: ...


def may_resume(provider: object, request: ModelRequest) -> bool:
    """What must be of a form, or begins with a thought or a call, is not begun in its middle."""
    return (
        isinstance(provider, Continuing)
        and provider.continues(request.model)
        and bool(request.messages)
        and request.messages[-1].role != "assistant"
        and request.schema is None
        and request.tool_choice in (None, "auto", "none")
        and request.effort in (None, "none")
        and not request.thinking_tokens
    )


async def resumed(
    attempt: Attempt, request: ModelRequest, number: int, model: str, counts: Calibration
) -> AsyncGenerator[Sequence[StreamEvent], None]:
    """The events of `attempt(request, number)`; where it is cut, those of up to `MOST` further
    attempts go on from there, and the usage is that of all. Raises the cut if they do not help."""
    reply, asked = _Reply(), request
    cut: StreamCut | None = None
    for step in range(MOST + 1):
        try:
            async with aclosing(attempt(asked, number + step)) as batches:
                async for batch in batches:
                    if events := reply.take(batch):
                        yield events
        except ProviderError as error:
            cut = error if isinstance(error, StreamCut) else cut
            if cut is not error or step == MOST or not reply.can_go_on:
                if events := reply.kept():
                    yield events
                if cut is None or cut is error:
                    raise
                raise cut from error
            reply.break_off(
                Usage(
                    input=counts.messages(model, asked.messages, asked.tools),
                    output=counts.text(model, reply.new),
                    estimated=True,
                )
            )
            asked = _on_from(request, reply.text)
            log.info("%s was cut after %d characters and is asked on", model, len(reply.text))
        else:
            return


def _on_from(request: ModelRequest, text: str) -> ModelRequest:
    said = Message(role="assistant", parts=(Text(text=text),))
    left = request.max_tokens
    if left is not None:
        left = max(left - estimate(text), 1)
    return replace(request, messages=(*request.messages, said), max_tokens=left)


def joined(said: str, more: str) -> str:
    """`said` and `more` as one text, without what `more` says again of the end of `said`."""
    tail = said[-_LOOKED_BACK:]
    for length in range(min(len(tail), len(more)), LEAST_OVERLAP - 1, -1):
        if tail.endswith(more[:length]) and len(set(more[:length])) >= LEAST_KINDS:
            return said + more[length:]
    blank = said[len(said.rstrip()) :]  # some endpoints take no blank at the end, and say it again
    again = 0
    while again < min(len(blank), len(more)) and blank[again] == more[again]:
        again += 1
    return said + more[again:]


def undecided(said: str, more: str) -> bool:
    """Whether what comes next may yet turn out to be said again."""
    tail = said[-_LOOKED_BACK:]
    place = tail.find(more)
    within = 0 <= place <= len(tail) - LEAST_OVERLAP and place + len(more) < len(tail)
    blank = said[len(said.rstrip()) :]
    return within or (len(more) < len(blank) and blank.startswith(more))


class _Reply:
    """The one reply that its attempts make. The end of its text is held back for one step: a cut
    comes right after it, and then it was no end."""

    def __init__(self) -> None:
        self.text = ""
        self._said = ""  # in the attempts before this one
        self._raw = ""  # in this one
        self._flows = True  # what comes needs no comparing with `_said` any more
        self._spent = Usage()
        self._index: int | None = None  # of the one text
        self._held: PartDone | None = None
        self._closed = self._mixed = False
        self._places: dict[int, int] = {}  # of this attempt's parts in the whole
        self._next = 0

    @property
    def can_go_on(self) -> bool:
        return not (self._mixed or self._closed) and bool(self.text.strip())

    @property
    def new(self) -> str:
        """What this attempt has added."""
        return self.text[len(self._said) :]

    def break_off(self, spent: Usage) -> None:
        self._spent += spent
        self._said, self._raw, self._flows = self.text, "", False
        self._held, self._places = None, {}

    def kept(self) -> list[StreamEvent]:
        """What has to be told before an error: the text, if a reader has not its end yet."""
        if self._held is None and self._said and not self._closed and self._index is not None:
            self._held = PartDone(index=self._index, part=Text(text=self.text))
        return self._release()

    def take(self, batch: Sequence[StreamEvent]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for event in batch:
            match event:
                case ReplyDone():
                    events += [*self.kept(), replace(event, usage=self._spent + event.usage)]
                case PartDelta(kind="text") if self._is_the_text(event.index):
                    events += [*self._release(), *self._say(event.delta)]
                case PartDone(part=Text(text=text)) if self._is_the_text(event.index):
                    events += self._end(text)
                case _:
                    self._mixed = True
                    events += [*self._release(), replace(event, index=self._place(event.index))]
        return events

    def _is_the_text(self, index: int) -> bool:
        """Whether this is the text that is gone on with: the first one of each attempt."""
        if index not in self._places and self._index not in self._places.values():
            if self._index is None:
                self._index = self._place(index)
            self._places[index] = self._index
        return self._places.get(index) == self._index and not self._closed

    def _place(self, index: int) -> int:
        """Of the first attempt its own; later ones come after what was there."""
        if index not in self._places:
            self._places[index] = index if not self._said else self._next
        self._next = max(self._next, self._places[index] + 1)
        return self._places[index]

    def _say(self, text: str) -> list[StreamEvent]:
        self._raw += text
        if not self._flows and undecided(self._said, self._raw):
            return []
        whole = self.text + text if self._flows else joined(self._said, self._raw)
        self._flows = True
        return self._up_to(whole)

    def _end(self, text: str) -> list[StreamEvent]:
        """The part is the truth, whatever its pieces were."""
        whole = joined(self._said, text) if self._said else text
        assert self._index is not None
        events = self._up_to(whole) if self._said else []
        self.text = whole
        self._held = PartDone(index=self._index, part=Text(text=whole))
        return events

    def _up_to(self, whole: str) -> list[StreamEvent]:
        new, self.text = whole[len(self.text) :], whole
        assert self._index is not None
        return [PartDelta(index=self._index, kind="text", delta=new)] if new else []

    def _release(self) -> list[StreamEvent]:
        if self._held is None:
            return []
        held, self._held, self._closed = self._held, None, True
        return [held]
