"""Case files: how they are read, and how what came of them is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

Case: TypeAlias = dict[str, Any]


class Verdict(Struct, frozen=True, kw_only=True):
    """`problems` holds `what: (expected, actual)` for everything that is not as it should be."""

    id: str
    problems: dict[str, tuple[object, object]]

    @property
    def passed(self) -> bool:
        return not self.problems


Judge: TypeAlias = Callable[[Sequence[Case]], Iterator[Verdict]]


def read_cases(path: Path) -> list[Case]:
    """Read a JSON array or JSON lines."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        cases: list[Case] = json.loads(text)
        return cases
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def report(verdicts: Iterator[Verdict]) -> bool:
    """Print the failures and the score; returns whether all passed."""
    passed = total = 0
    for verdict in verdicts:
        total += 1
        passed += verdict.passed
        for what, (expected, actual) in verdict.problems.items():
            print(f"{verdict.id}: {what}: expected {_shown(expected)}, got {_shown(actual)}")
    print(f"{passed}/{total}")
    return passed == total


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
