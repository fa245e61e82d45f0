"""Reads what may be missing, null or of another shape: vendors' JSON is no contract."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from teahouse.core.messages import JsonObject

MOST_COUNT: Final = 1_000_000_000  # no call has so many tokens, bytes or seconds: it is nonsense


def as_object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def as_objects(value: object) -> list[JsonObject]:
    """The objects of a list; whatever else it holds is passed over."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("JsonObject", item) for item in items if isinstance(item, dict)]


def as_count(fields: JsonObject, *names: str) -> int:
    """The first positive number under one of `names`. What no call can come to is no count: the
    ledger and budgets could not hold it."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int | float) and 0 < value <= MOST_COUNT:
            return int(value)
    return 0


def merge(fields: JsonObject, more: JsonObject) -> JsonObject:
    """`fields` with `more` on top, objects within objects too; one of another `type` replaces."""
    merged = dict(fields)
    for key, value in more.items():
        inner, under = as_object(value), as_object(merged.get(key))
        if "type" in inner and inner["type"] != under.get("type"):
            under = {}
        merged[key] = merge(under, inner) if inner else value
    return merged


def as_text(value: object) -> str:
    """A string as it is, an object as JSON, anything else as nothing."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else ""
