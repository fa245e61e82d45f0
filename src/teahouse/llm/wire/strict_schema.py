"""JSON Schemas as vendors take them that compile a schema into a grammar."""

from __future__ import annotations

from typing import Any, Final, cast

from teahouse.core.messages import JsonObject

_UNKNOWN: Final = frozenset(
    {
        "default",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "uniqueItems",
    }
)
_NAMED: Final = frozenset({"properties", "$defs", "definitions"})  # schemas by name
_VALUES: Final = frozenset({"enum", "const", "examples"})  # no schemas


def strict_schema(schema: JsonObject) -> JsonObject:
    """`schema` without what a grammar cannot hold; objects have no further fields. What is left
    out stands in the description, so that the model still knows."""
    strict: JsonObject = {}
    lost: list[str] = []
    for key, value in schema.items():
        if key in _UNKNOWN:
            lost.append(f"{key}: {value}")
        elif key in _NAMED and isinstance(value, dict):
            named = cast("dict[str, Any]", value)
            strict[key] = {name: _inner(inner) for name, inner in named.items()}
        else:
            strict[key] = value if key in _VALUES else _inner(value)
    if "properties" in schema or schema.get("type") == "object":
        strict["additionalProperties"] = False
    if lost:
        words = [str(schema["description"])] if schema.get("description") else []
        strict["description"] = " ".join([*words, f"({', '.join(lost)})"])
    return strict


def _inner(value: Any) -> Any:
    if isinstance(value, dict):
        return strict_schema(cast("JsonObject", value))
    if isinstance(value, list):
        return [_inner(item) for item in cast("list[Any]", value)]
    return value
