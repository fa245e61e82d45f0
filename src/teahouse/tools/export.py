"""Tools in the form in which others take them: functions of the OpenAI interface."""

from __future__ import annotations

from collections.abc import Iterable

from teahouse.core.messages import JsonObject
from teahouse.llm.provider import ToolSpec


def openai_function(spec: ToolSpec) -> JsonObject:
    """An entry of `tools` in a request to `/v1/chat/completions`."""
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        },
    }


def openai_functions(specs: Iterable[ToolSpec]) -> list[JsonObject]:
    return [openai_function(spec) for spec in specs]
