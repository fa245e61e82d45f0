"""How many tokens a model takes and what they cost, where that is known.

`catalog.json` beside this file holds what the vendors publish, with the day on which it was read.
Where a price depends on the hour, the dearer one stands there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct

from teahouse.core.events import Usage

_SAME_VENDOR = {"google": "gemini", "azure": "openai"}  # by another door
_MILLION = 1_000_000
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


class LongPrice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the whole call costs when its input has more than `over` tokens."""

    over: int
    input: float
    output: float
    cached: float | None = None
    written: float | None = None


class Facts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one model; None is unknown. Prices are in US dollars per million tokens; input that is
    read from a cache, or written into it, costs as much as any where it has no price of its own."""

    window: int | None = None
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    written: float | None = None
    long: LongPrice | None = None

    def cost(self, usage: Usage) -> float | None:
        """What these tokens cost; None where the price is unknown, never 0 for that."""
        long = self.long is not None and usage.input > self.long.over
        price = self.long if long and self.long is not None else self
        if price.input is None or price.output is None:
            return None
        read = price.input if price.cached is None else price.cached
        write = price.input if price.written is None else price.written
        cached = min(usage.cached, usage.input)
        written = min(usage.written, usage.input - cached)
        asked = cached * read + written * write + (usage.input - cached - written) * price.input
        return (asked + usage.output * price.output) / _MILLION


UNKNOWN = Facts()
FREE = Facts(input=0, output=0)
"""Of a model that runs on this machine."""

FactsOf: TypeAlias = Callable[[str], Facts]
"""Finds the facts of `provider/model`; `UNKNOWN` where there are none."""


class _Catalog(Struct, frozen=True, forbid_unknown_fields=True):
    dated: date
    models: Mapping[str, Mapping[str, Facts]]


def dated() -> date:
    """The day on which the vendors' pages said this."""
    return _catalog().dated


def published(vendor: str, model: str) -> Facts:
    """What the vendor publishes of a model. A dated snapshot costs what its model costs."""
    models = _catalog().models.get(_SAME_VENDOR.get(vendor, vendor), {})
    return models.get(model) or models.get(_SNAPSHOT.sub("", model)) or UNKNOWN


def nothing_known(_: str) -> Facts:
    return UNKNOWN


@cache
def _catalog() -> _Catalog:
    data = Path(__file__).with_suffix(".json").read_bytes()
    return msgspec.json.decode(data, type=_Catalog)
