"""Holds a call to its parameters: a model's value of another kind is told to it, not sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from teahouse.core.messages import JsonObject
from teahouse.tools.http.errors import HttpRefused

_MOST: Final = 100_000  # characters of one text

_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def checked(schema: JsonObject, arguments: JsonObject) -> JsonObject:
    """The arguments with defaults filled in. Raises `HttpRefused`."""
    properties: dict[str, JsonObject] = schema["properties"]
    known = ", ".join(properties) or "–"
    for name in arguments:
        if name not in properties:
            raise HttpRefused("http_argument_unknown", parameter=_short(name), known=known)
    found: JsonObject = {}
    for name, one in properties.items():
        value = arguments.get(name, one.get("default"))
        if value is None and name in schema.get("required", ()):
            raise HttpRefused("http_argument_missing", parameter=name)
        if value is not None:
            found[name] = _fit(name, one, value)
    return found


def _fit(name: str, one: JsonObject, value: Any) -> Any:
    wanted = one.get("type")
    kinds: list[str] = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if kinds and not any(_KINDS[kind](value) for kind in kinds if kind in _KINDS):
        raise HttpRefused("http_argument_kind", parameter=name, kind=" | ".join(kinds))
    choices = one.get("enum")
    if choices and not any(value == each and type(value) is type(each) for each in choices):
        told = ", ".join(map(str, choices))[:500]
        raise HttpRefused("http_argument_choice", parameter=name, choices=told)
    if isinstance(value, str) and len(value) > _MOST:
        raise HttpRefused("http_argument_long", parameter=name, limit=_MOST)
    return value


def _short(name: str) -> str:
    return ascii(name[:80])[1:-1]
