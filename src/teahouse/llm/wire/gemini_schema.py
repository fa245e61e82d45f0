"""JSON Schemas in the subset of OpenAPI that all of Gemini's models know."""

from __future__ import annotations

from typing import Any, Final, cast

from teahouse.core.messages import JsonObject
from teahouse.llm.wire.fields import as_object, as_objects

_SAME: Final = frozenset(
    {
        "title",
        "description",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "propertyOrdering",
        "nullable",
    }
)
_UNSAYABLE: Final = frozenset(
    {
        "patternProperties",
        "propertyNames",
        "prefixItems",
        "contains",
        "not",
        "if",
        "dependentSchemas",
        "dependentRequired",
        "unevaluatedProperties",
    }
)
_FORMATS: Final = frozenset({"date-time", "enum", "int32", "int64", "float", "double"})
_DEEPEST: Final = 32


class _Unsayable(Exception):
    """The subset has no words for this."""


def in_subset(schema: JsonObject) -> JsonObject | None:
    """`schema` without references and what only checks values; None where more would be lost:
    maps, tuples, recursion, values that are no strings."""
    try:
        return _said(schema, schema, 0)
    except _Unsayable:
        return None


def _said(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    if depth > _DEEPEST or not _UNSAYABLE.isdisjoint(schema):
        raise _Unsayable
    if "$ref" in schema:
        here = {key: value for key, value in schema.items() if key != "$ref"}
        return _said(_target(str(schema["$ref"]), root) | here, root, depth + 1)
    if "allOf" in schema:
        return _said(_together(schema, root), root, depth + 1)
    said: JsonObject = {key: schema[key] for key in _SAME if key in schema}
    if schema.get("format") in _FORMATS:
        said["format"] = schema["format"]
    choices = as_objects(schema.get("anyOf") or schema.get("oneOf"))
    kinds = _kinds(schema)
    if not choices and len(kinds - {"null"}) > 1:
        choices = [schema | {"type": kind} for kind in sorted(kinds)]
        return _choose({}, choices, root, depth)
    if choices:
        return _choose(said, choices, root, depth)
    if "null" in kinds:
        said["nullable"] = True
    for kind in kinds - {"null"}:
        said["type"] = kind.upper()
        said |= _of(kind, schema, root, depth)
    return said | _values(schema, said)


def _kinds(schema: JsonObject) -> set[str]:
    kind = schema.get("type")
    if isinstance(kind, list):
        return {str(one) for one in cast("list[Any]", kind)}
    if isinstance(kind, str):
        return {kind.lower()}
    if "properties" in schema:
        return {"object"}
    return {"string"} if "enum" in schema or "const" in schema else set()


def _choose(
    said: JsonObject, choices: list[JsonObject], root: JsonObject, depth: int
) -> JsonObject:
    some = [choice for choice in choices if choice.get("type") != "null"]
    if len(some) < len(choices):
        said["nullable"] = True
    inner = [_said(choice, root, depth + 1) for choice in some]
    return inner[0] | said if len(inner) == 1 else {**said, "anyOf": inner}


def _of(kind: str, schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    if kind == "array":
        items = as_object(schema.get("items"))
        if not items:
            raise _Unsayable
        return {"items": _said(items, root, depth + 1)}
    if kind != "object":
        return {}
    fields = as_object(schema.get("properties"))
    if not fields or schema.get("additionalProperties"):
        raise _Unsayable  # a map: without fields none would ever be filled in
    said = {name: _said(as_object(field), root, depth + 1) for name, field in fields.items()}
    required = cast("list[Any]", schema.get("required") or [])
    needed = [name for name in required if name in fields]
    return {"properties": said} | ({"required": needed} if needed else {})


def _values(schema: JsonObject, said: JsonObject) -> JsonObject:
    if "const" not in schema and "enum" not in schema:
        return {}
    values: list[Any] = [schema["const"]] if "const" in schema else schema["enum"]
    some = [value for value in values if value is not None]
    if said.get("type") != "STRING" or not all(isinstance(value, str) for value in some):
        raise _Unsayable
    return {"enum": some} | ({"nullable": True} if len(some) < len(values) else {})


def _target(ref: str, root: JsonObject) -> JsonObject:
    found: Any = root
    if not ref.startswith("#/"):
        raise _Unsayable
    for name in ref[2:].split("/"):
        found = as_object(found).get(name.replace("~1", "/").replace("~0", "~"))
    if not isinstance(found, dict):
        raise _Unsayable
    return cast("JsonObject", found)


def _together(schema: JsonObject, root: JsonObject) -> JsonObject:
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for piece in as_objects(schema["allOf"]):
        found = _target(str(piece["$ref"]), root) | piece if "$ref" in piece else piece
        fields = as_object(whole.get("properties")) | as_object(found.get("properties"))
        required: list[Any] = [*(whole.get("required") or []), *(found.get("required") or [])]
        whole = {key: value for key, value in found.items() if key != "$ref"} | whole
        if fields:
            whole |= {"properties": fields, "required": list(dict.fromkeys(required))}
    return whole
