"""Follows `$ref` within one document, and no further: neither out of it nor for ever."""

from __future__ import annotations

from typing import Any, Final, cast
from urllib.parse import unquote

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject

_DEEPEST: Final = 12  # references within one another
_DEEPEST_SCHEMA: Final = 100
_MOST_PARTS: Final = 5_000  # of one schema, with all that it leads to


class Document:
    """Raises `ValueError` for what is no table."""

    def __init__(self, root: object) -> None:
        if not isinstance(root, dict):
            raise ValueError("{…}")
        self.root = cast("JsonObject", root)

    def followed(self, value: Any) -> JsonObject:
        """A table, or the one that it refers to."""
        for _ in range(_DEEPEST):
            if not isinstance(value, dict):
                break
            table = cast("JsonObject", value)
            if "$ref" not in table:
                return table
            value = self.referred(table["$ref"])
        if value is None:
            return {}
        raise Invalid("openapi_reference", reference=_short(value))

    def resolved(self, schema: JsonObject) -> JsonObject:
        """The schema with every reference replaced; where one leads back into itself, the branch
        ends in any value at all."""
        return _Resolving(self).walk(schema, ())

    def referred(self, reference: Any) -> Any:
        wrong = Invalid("openapi_reference", reference=_short(reference))
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise wrong
        found: Any = self.root
        for step in reference[2:].split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):  # pyright: ignore[reportUnknownArgumentType]
                found = cast("list[Any]", found)[int(name)]
            elif isinstance(found, dict) and name in found:
                found = cast("JsonObject", found)[name]
            else:
                raise wrong
        return found


class _Resolving:
    def __init__(self, document: Document) -> None:
        self._document, self._parts = document, 0

    def walk(self, value: Any, within: tuple[str, ...], depth: int = 0) -> Any:
        self._parts += 1
        if self._parts > _MOST_PARTS or depth > _DEEPEST_SCHEMA:
            raise Invalid("openapi_too_large", limit=_MOST_PARTS)
        if isinstance(value, list):
            return [self.walk(one, within, depth + 1) for one in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        table = cast("JsonObject", value)
        reference = table.get("$ref")
        if not isinstance(reference, str):
            return {key: self.walk(one, within, depth + 1) for key, one in table.items()}
        if reference in within or len(within) >= _DEEPEST:
            return {}
        beside = {key: one for key, one in table.items() if key != "$ref"}
        found = self.walk(self._document.referred(reference), (*within, reference), depth + 1)
        if not beside or not isinstance(found, dict):
            return found
        return {**cast("JsonObject", found), **self.walk(beside, within, depth + 1)}


def _short(value: Any) -> str:
    return ascii(str(value)[:100])[1:-1]


def table(value: Any) -> JsonObject:
    """What is no table is an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}
