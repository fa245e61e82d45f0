"""Fits a conversation into a model's window: the oldest turns go first, whole."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from teahouse.core.messages import Message, Part, Text
from teahouse.llm.tokens import estimate, estimate_messages

CUT = "\n[…]\n"


def fit(messages: Sequence[Message], tokens: int) -> tuple[Message, ...]:
    """Return what of `messages` takes about `tokens` at most.

    System messages and the latest turn always stay; a turn begins with a user message, so that a
    tool call is never parted from its result. A latest turn that is too long by itself loses the
    middle of its longest texts.
    """
    system, turns = divided(messages)
    left = tokens - estimate_messages(system)
    kept = turns[len(turns) - latest(turns, left) :]
    if len(kept) == 1 and estimate_messages(kept[0]) > left:
        kept = [_shorten(kept[0], left)]
    return (*system, *(message for turn in kept for message in turn))


def divided(messages: Sequence[Message]) -> tuple[list[Message], list[list[Message]]]:
    """The system messages, and the rest by turns."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return [message for message in messages if message.role == "system"], turns


def latest(turns: Sequence[Sequence[Message]], tokens: int) -> int:
    """How many of the latest turns take about `tokens` at most; one at least, if there is any."""
    for count, turn in enumerate(reversed(turns)):
        tokens -= estimate_messages(turn)
        if count and tokens < 0:
            return count
    return len(turns)


def _shorten(turn: list[Message], tokens: int) -> list[Message]:
    """Cut the middle out of texts longer than a fair share of `tokens`."""
    texts = [part.text for message in turn for part in message.parts if isinstance(part, Text)]
    overhead = estimate_messages(turn) - sum(map(estimate, texts))
    share = max(tokens - overhead, 0) // max(len(texts), 1)
    return [replace(m, parts=tuple(_cut(part, share) for part in m.parts)) for m in turn]


def _cut(part: Part, tokens: int) -> Part:
    return Text(text=shorten(part.text, tokens)) if isinstance(part, Text) else part


def shorten(text: str, tokens: int) -> str:
    """`text`, or its beginning and end where it is longer than about `tokens`."""
    if estimate(text) <= tokens:
        return text
    keep = max(len(text) * tokens // max(estimate(text), 1) - len(CUT), 2)
    return f"{text[: keep - keep // 3]}{CUT}{text[len(text) - keep // 3 :]}"
