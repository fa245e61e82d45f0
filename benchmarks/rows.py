"""What a measurement comes to: a figure, the target beside it, and whether it is met."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`value` must not exceed `limit` (or, with `at_least`, not fall below it). Without one it is
    only told: it says nothing without the figures beside it."""

    measure: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def target(self) -> str:
        if self.limit is None:
            return "–"
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}".strip()


def quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | here | target | met | how |", "|---|---:|---:|---|---|"]
    for row in rows:
        met = {True: "yes", False: "**no**", None: "–"}[row.met]
        figure = f"{row.value:,.0f}" if row.value >= 1000 else f"{row.value:.3g}"
        here = f"{figure} {row.unit}".strip()
        lines.append(f"| {row.measure} | {here} | {row.target} | {met} | {row.detail} |")
    return "\n".join(lines)
