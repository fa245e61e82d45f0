"""Judges egress cases: a URL, what DNS would say, and what redirects to what."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from teahouse.testing.case_files import Case, Verdict
from teahouse.tools.egress import Egress, EgressRefused, Hop
from teahouse.tools.web_address import host_name, read_url


def judge(cases: Sequence[Case]) -> Iterator[Verdict]:
    for case in cases:
        actual = asyncio.run(_outcome(case))
        wrong = actual != case["expect"]
        yield Verdict(
            id=case["id"], problems={"outcome": (case["expect"], actual)} if wrong else {}
        )


async def _outcome(case: Case) -> str:
    redirects = {_form(url): to for url, to in case.get("redirects", {}).items()}

    async def visit(hop: Hop) -> str | None:
        return redirects.get(hop.to.url)

    try:
        await Egress(resolver=_Names(case.get("resolve", {}))).walk(case["url"], visit)
    except EgressRefused:
        return "refuse"
    return "allow"


class _Names:
    """Answers as the case says; the last answer of several stays."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = {_name(host): answer for host, answer in answers.items()}
        self._asked: Counter[str] = Counter()

    async def __call__(self, host: str, port: int, /) -> Sequence[str]:
        answers = self._answers.get(host, [])
        if not answers or isinstance(answers[0], str):
            return answers
        turn = min(self._asked[host], len(answers) - 1)
        self._asked[host] += 1
        return answers[turn]


def _name(host: str) -> str:
    try:
        return host_name(host)
    except ValueError:
        return host


def _form(url: str) -> str:
    try:
        return read_url(url).url
    except ValueError:
        return url
