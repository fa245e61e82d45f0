"""Judges shell cases: a command line and what has been granted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teahouse.testing.case_files import Case, Verdict
from teahouse.tools import commands


def judge(cases: Sequence[Case]) -> Iterator[Verdict]:
    for case in cases:
        actual = commands.judge(case["command"], case.get("grants", ()))
        wrong = actual != case["expect"]
        yield Verdict(
            id=case["id"], problems={"judgement": (case["expect"], actual)} if wrong else {}
        )
