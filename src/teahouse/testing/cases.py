"""Runs case files of any kind: `python -m teahouse.testing.cases KIND FILE…`.

Prints each failing id with what was expected and what came, then `N/M` as its last line, and exits
0 only if all pass. A kind is one entry in `KINDS`: it takes the cases of a file and judges each.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

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
    return [json.loads(line) for line in text.splitlines() if line.strip()]


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


def _wire(cases: Sequence[Case]) -> Iterator[Verdict]:
    from teahouse.testing.conformance import judge

    return judge(cases)


def _repair(cases: Sequence[Case]) -> Iterator[Verdict]:
    from teahouse.testing.repairs import judge

    return judge(cases)


KINDS: Final[Mapping[str, Judge]] = {"repair": _repair, "wire": _wire}


def main() -> None:
    parser = argparse.ArgumentParser(description="Run case files.")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    cases = [case for path in options.files for case in read_cases(path)]
    sys.exit(0 if report(KINDS[options.kind](cases)) else 1)


if __name__ == "__main__":
    main()
