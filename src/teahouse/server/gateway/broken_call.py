"""Calls whose arguments are no object, in dialects that know arguments as nothing else.

The text that the model wrote stands under one name, as Anthropic advises its own clients to do: a
tool refuses it as an unknown argument, and the model reads what it wrote.
"""

from __future__ import annotations

from typing import Final

from teahouse.core.messages import JsonObject, ToolCall

_NAME: Final = "INVALID_JSON"


def arguments_of(call: ToolCall) -> JsonObject:
    return call.arguments if call.malformed is None else {_NAME: call.malformed}


def read_arguments(given: JsonObject) -> tuple[JsonObject, str | None]:
    """The arguments, and what was written where there were none."""
    written = given.get(_NAME) if len(given) == 1 else None
    return ({}, written) if isinstance(written, str) else (given, None)
