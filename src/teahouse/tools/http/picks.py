"""Paths into JSON: `data.items[0].name`, `items[*].title`, and `["a.b"]` for odd names."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final, TypeAlias, cast

Step: TypeAlias = str | int | None
"""A name, a number (negative: from the end), or None: each of a list."""

WORDS: Final = frozenset({"body", "status"})
_STEP: Final = re.compile(r'(?:^|\.)([^.\[\]"\s]+)|\[(-?[0-9]{1,6}|\*)\]|\["([^"]+)"\]')
_LONGEST, _MOST_STEPS = 500, 32


class NothingThere(LookupError):
    """`at`: the path as far as there was something."""

    def __init__(self, at: str) -> None:
        super().__init__(at)
        self.at = at


def parse(path: str) -> tuple[Step, ...]:
    """Raises `ValueError`."""
    steps: list[Step] = []
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(path) > _LONGEST or len(steps) == _MOST_STEPS:
            raise ValueError(path)
        steps.append(_step(found))
        at = found.end()
    if not steps:
        raise ValueError(path)
    return tuple(steps)


def pick(tree: Any, steps: tuple[Step, ...], at: str = "") -> Any:
    """Raises `NothingThere`. After `[*]` those of the list are left out that lack the rest."""
    if not steps:
        return tree
    step, rest = steps[0], steps[1:]
    match tree:
        case dict() if isinstance(step, str) and step in tree:
            return pick(cast("dict[str, Any]", tree)[step], rest, f"{at}.{step}".lstrip("."))
        case list() if step is None:
            return _each(cast("list[Any]", tree), rest, at)
        case list() if isinstance(step, int):
            with suppress(IndexError):
                return pick(cast("list[Any]", tree)[step], rest, f"{at}[{step}]")
        case _:
            pass
    raise NothingThere(at or "$")


def _each(items: list[Any], rest: tuple[Step, ...], at: str) -> list[Any]:
    found: list[Any] = []
    for number, item in enumerate(items):
        try:
            found.append(pick(item, rest, f"{at}[{number}]"))
        except NothingThere:
            continue
    return found


def _step(found: re.Match[str]) -> Step:
    if found[2] is None:
        return found[1] or found[3]
    return None if found[2] == "*" else int(found[2])
