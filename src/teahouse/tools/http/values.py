"""Fills templates: with the arguments of a call, and with secrets that the model never sees."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

from teahouse.tools.http import places
from teahouse.tools.http.errors import HttpRefused
from teahouse.tools.http.holes import Hole, Template, parse, whole

ABSENT: Final = object()


class Secrets(Protocol):
    """Opens the secrets that tools name; None for one that nobody has set."""

    async def get(self, name: str, /) -> str | None: ...


class Values:
    """`secrets` has the opened value of each secret hole of the definition."""

    def __init__(self, arguments: Mapping[str, Any], secrets: Mapping[Hole, str]) -> None:
        self._arguments, self._secrets = arguments, secrets

    def value(self, hole: Hole) -> Any:
        """`ABSENT` for an optional parameter that was left out."""
        if hole.is_secret:
            return self._secrets[hole]
        found = self._arguments.get(hole.name)
        return ABSENT if found is None else found

    def fill(self, template: Template, escape: places.Escape) -> str:
        """What is absent in the midst of a text is nothing."""
        before, told = "", ""
        for part in template:
            if isinstance(part, str):
                before += part
                told += part
                continue
            value = self.value(part)
            if value is not ABSENT:
                told += escape(places.text_of(value, part), part, before)
        return told

    def texts(self, text: str, escape: places.Escape) -> list[str]:
        """The values of one key: none for an absent parameter, several for a list."""
        template = parse(text)
        hole = whole(template)
        if hole is None:
            return [self.fill(template, escape)]
        value = self.value(hole)
        if value is ABSENT:
            return []
        several = cast("list[Any]", value) if isinstance(value, list) else [value]
        return [escape(places.text_of(one, hole), hole, "") for one in several]

    def data(self, tree: Any) -> Any:
        """A tree of JSON: a hole that is a whole value keeps its type, or is left out if absent."""
        match tree:
            case str():
                template = parse(tree)
                hole = whole(template)
                return self.fill(template, places.in_text) if hole is None else self._typed(hole)
            case dict():
                branches = cast("dict[str, Any]", tree)
                filled = {key: self.data(value) for key, value in branches.items()}
                return {key: value for key, value in filled.items() if value is not ABSENT}
            case list():
                items = [self.data(value) for value in cast("list[Any]", tree)]
                return [value for value in items if value is not ABSENT]
            case _:
                return tree

    def _typed(self, hole: Hole) -> Any:
        value = self.value(hole)
        if value is not ABSENT:
            places.text_of(value, hole)
        return value


async def opened(holes: frozenset[Hole], secrets: Secrets) -> dict[Hole, str]:
    """Raises `HttpRefused` for a secret that is not set."""
    found: dict[Hole, str] = {}
    for hole in holes:
        value = await secrets.get(hole.name)
        if not value:
            raise HttpRefused("http_secret_missing", secret=hole.name)
        found[hole] = base64.b64encode(value.encode()).decode() if hole.kind == "basic" else value
    return found


def masked(holes: frozenset[Hole]) -> dict[Hole, str]:
    """In place of the secrets, for what is shown: signs that no place escapes."""
    return {hole: f"~{hole.name}~" for hole in holes}
