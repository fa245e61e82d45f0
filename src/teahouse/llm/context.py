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
    system = [message for message in messages if message.role == "system"]
    turns = _turns([message for message in messages if message.role != "system"])
    left = tokens - estimate_messages(system)
    kept: list[list[Message]] = []
    for turn in reversed(turns):
        left -= estimate_messages(turn)
        if kept and left < 0:
            break
        kept.insert(0, turn)
    if left < 0 and len(kept) == 1:
        kept = [_shorten(kept[0], tokens - estimate_messages(system))]
    return (*system, *(message for turn in kept for message in turn))


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _shorten(turn: list[Message], tokens: int) -> list[Message]:
    """Cut the middle out of texts longer than a fair share of `tokens`."""
    texts = [part.text for message in turn for part in message.parts if isinstance(part, Text)]
    overhead = estimate_messages(turn) - sum(map(estimate, texts))
    share = max(tokens - overhead, 0) // max(len(texts), 1)
    return [replace(m, parts=tuple(_cut(part, share) for part in m.parts)) for m in turn]


def _cut(part: Part, tokens: int) -> Part:
    if not isinstance(part, Text) or estimate(part.text) <= tokens:
        return part
    keep = max(len(part.text) * tokens // max(estimate(part.text), 1) - len(CUT), 2)
    head, tail = part.text[: keep - keep // 3], part.text[len(part.text) - keep // 3 :]
    return Text(text=f"{head}{CUT}{tail}")
