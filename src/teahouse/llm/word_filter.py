"""A middleware that masks or refuses words, also those that come in several pieces.

Latin words count whole ("ass" is not in "class"), Chinese ones wherever they stand; the case of
letters makes no difference. What might become a word is held back until it is clear.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent
from teahouse.core.messages import Message, Part, Text, Thinking
from teahouse.llm.errors import WordRefused
from teahouse.llm.pipeline import Batch, Call, Stages

_LETTER = "A-Za-z0-9\u00c0-\u024f"
MASK = "*"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`where`: what people say, what models answer, or both."""

    words: Annotated[tuple[Annotated[str, Meta(min_length=1)], ...], Meta(min_length=1)]
    action: Literal["mask", "refuse"] = "mask"
    where: tuple[Literal["input", "output"], ...] = ("input", "output")


def word_filter(options: Mapping[str, Any]) -> Stages:
    given = msgspec.convert(options, Options)
    words = _Words(given.words, refuse=given.action == "refuse")

    async def before_call(call: Call) -> Call:
        messages = words.of_people(call.request.messages, call.model)
        return replace(call, request=replace(call.request, messages=messages))

    return Stages(
        before_call=before_call if "input" in given.where else None,
        on_event=(lambda call: _Streamed(words, call.model)) if "output" in given.where else None,
    )


class _Words:
    def __init__(self, words: Sequence[str], *, refuse: bool) -> None:
        self.refuse = refuse
        self._pattern = re.compile(
            "|".join(map(_expression, sorted(words, key=len)[::-1])), re.IGNORECASE
        )
        lower = [word.lower() for word in words]
        self._beginnings = {word[:end] for word in lower for end in range(1, len(word) + 1)}
        self._longest = max(map(len, lower))

    def of_people(self, messages: Sequence[Message], model: str) -> tuple[Message, ...]:
        """A word of the latest message is refused; older ones would be refused for ever."""
        latest = max((n for n, one in enumerate(messages) if one.role == "user"), default=None)
        return tuple(
            replace(one, parts=tuple(self._masked(part, n == latest, model) for part in one.parts))
            if one.role == "user"
            else one
            for n, one in enumerate(messages)
        )

    def whole(self, part: Part) -> Part:
        if isinstance(part, Text | Thinking):
            masked = self.mask(part.text)
            return part if masked == part.text else replace(part, text=masked)
        return part

    def mask(self, text: str, *, end: bool = True) -> str:
        """`end`: nothing follows. Else a word at the end may be the beginning of a longer one."""

        def hidden(found: re.Match[str]) -> str:
            open_yet = not end and found.end() == len(text)
            return found[0] if open_yet else MASK * len(found[0])

        return self._pattern.sub(hidden, text)

    def undecided(self, text: str) -> int:
        """How many characters at the end may belong to a word that is still coming."""
        for length in range(min(self._longest, len(text)), 0, -1):
            if text[-length:].lower() in self._beginnings:
                return length
        return 0

    def _masked(self, part: Part, latest: bool, model: str) -> Part:
        masked = self.whole(part)
        if self.refuse and latest and masked is not part:
            raise WordRefused(model)
        return masked


class _Streamed:
    """The output of one call. What is masked in the pieces is masked in the part alike."""

    def __init__(self, words: _Words, model: str) -> None:
        self._words, self._model = words, model
        self._held: dict[int, tuple[PartDelta, str]] = {}  # and the character before it

    def __call__(self, batch: Batch) -> Batch:
        events: list[StreamEvent] = []
        for event in batch:
            match event:
                case PartDelta(kind="text" | "thinking"):
                    events += self._piece(event)
                case PartDone():
                    events += self._rest(event.index)
                    part = self._words.whole(event.part)
                    if part is not event.part:
                        self._refuse()
                        event = replace(event, part=part)  # noqa: PLW2901
                    events.append(event)
                case ReplyDone():
                    for index in list(self._held):
                        events += self._rest(index)
                    events.append(event)
                case _:
                    events.append(event)
        return events

    def _piece(self, event: PartDelta, *, end: bool = False) -> Sequence[PartDelta]:
        held, before = self._held.pop(event.index, (None, ""))
        text = before + (held.delta if held else "") + event.delta
        masked = self._words.mask(text, end=end)
        if masked != text:
            self._refuse()
        kept = 0 if end else self._words.undecided(masked[len(before) :])
        cut = len(masked) - kept
        said, rest = masked[len(before) : cut], masked[cut:]
        if not end:
            self._held[event.index] = replace(event, delta=rest), masked[:cut][-1:]
        return [replace(event, delta=said)] if said else []

    def _rest(self, index: int) -> Sequence[PartDelta]:
        held = self._held.get(index)
        return [] if held is None else self._piece(replace(held[0], delta=""), end=True)

    def _refuse(self) -> None:
        if self._words.refuse:
            raise WordRefused(self._model)


def _expression(word: str) -> str:
    first = f"(?<![{_LETTER}])" if re.match(f"[{_LETTER}]", word) else ""
    last = f"(?![{_LETTER}])" if re.search(f"[{_LETTER}]$", word) else ""
    return first + re.escape(word) + last
