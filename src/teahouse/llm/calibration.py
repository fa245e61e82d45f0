"""Learns from reported usage how many tokens a model makes of a text.

Tokenizers differ by a factor of two, and differently for Chinese and for English. So for each model
four weights are learned: of a wide character, of any other, of a message, and of a request. Each
call whose usage the endpoint reports corrects them, by recursive least squares on relative errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul
from typing import TypeAlias

from msgspec import Struct

from teahouse.core.codec import encode
from teahouse.core.messages import Blob, Message, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tokens import estimate_messages, wide_and_other

_Vector: TypeAlias = tuple[float, ...]
_FIRST: _Vector = (1.0, 0.25, 4.0, 0.0)
_DOUBT: _Vector = (0.25, 0.0225, 100.0, 100.0)  # variances of the first guess
_NOISE = 0.0025  # of one report: five per cent,
_STRAY = 25.0  # and five tokens
_FORGET = 0.97  # older reports count a little less with each new one
_LEAST: _Vector = (0.1, 0.05, 0.0, 0.0)
MOST_MODELS = 1000
WELL_KNOWN, ONE_IN = 50, 10  # counting a long conversation takes milliseconds


class _Learned(Struct):
    reports: int = 0
    weights: _Vector = _FIRST
    doubt: tuple[_Vector, ...] = tuple(
        tuple(variance if row == column else 0.0 for column in range(len(_DOUBT)))
        for row, variance in enumerate(_DOUBT)
    )


class Calibration:
    """Of all models of a client, in memory: it is learned anew after each start."""

    def __init__(self) -> None:
        self._models: dict[str, _Learned] = {}

    def learn(
        self, model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], tokens: int
    ) -> None:
        """Take a report: these had so many tokens. What has pictures teaches nothing, and of a
        model that is well known not every report is looked at."""
        learned = self._models.get(model)
        if learned is not None:
            learned.reports += 1
            if learned.reports > WELL_KNOWN and learned.reports % ONE_IN:
                return
        counted = _count(messages, tools)
        if counted is None or tokens <= 0:
            return
        if model not in self._models and len(self._models) >= MOST_MODELS:
            self._models.pop(next(iter(self._models)))
        learned = learned or self._models.setdefault(model, _Learned(reports=1))
        x = tuple(each / tokens for each in counted)
        spread = tuple(_dot(row, x) for row in learned.doubt)
        scale = _dot(spread, x) + _NOISE + _STRAY / tokens**2
        gain = tuple(each / scale for each in spread)
        wrong = 1.0 - _dot(learned.weights, x)
        learned.weights = tuple(
            weight + each * wrong for weight, each in zip(learned.weights, gain, strict=True)
        )
        sure = all(learned.doubt[n][n] < most for n, most in enumerate(_DOUBT))
        kept = _FORGET if sure else 1.0  # else the doubt of what is never seen would grow for ever
        learned.doubt = tuple(
            tuple((old - g * s) / kept for old, s in zip(row, spread, strict=True))
            for row, g in zip(learned.doubt, gain, strict=True)
        )

    def messages(
        self, model: str, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
    ) -> int:
        """About how many tokens these are to `model`."""
        counted = _count(messages, tools)
        if counted is None:
            return estimate_messages(messages)
        return round(_dot(self._weights(model), counted))

    def text(self, model: str, text: str) -> int:
        wide, other = wide_and_other(text)
        return round(_dot(self._weights(model), (wide, other, 0, 0)))

    def _weights(self, model: str) -> _Vector:
        learned = self._models.get(model)
        if learned is None:
            return _FIRST
        return tuple(max(w, least) for w, least in zip(learned.weights, _LEAST, strict=True))


def _dot(one: _Vector, other: _Vector) -> float:
    return sum(map(mul, one, other))


def _count(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> _Vector | None:
    """Wide characters, others, messages, and one request; None where there are pictures."""
    texts: list[str] = [encode(tools).decode()] if tools else []
    for message in messages:
        for text in _texts(message.parts):
            if text is None:
                return None
            texts.append(text)
    wide, other = wide_and_other("".join(texts))
    return float(wide), float(other), float(len(messages) + len(tools)), 1.0


def _texts(parts: Iterable[Part]) -> Iterable[str | None]:
    for part in parts:
        match part:
            case Text() | Thinking():
                yield part.text
            case ToolCall():
                yield part.name + (part.malformed or encode(part.arguments).decode())
            case ToolResult():
                yield from _texts(part.content)
            case Blob():
                yield None
