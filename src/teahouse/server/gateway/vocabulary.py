"""What clients of several dialects ask for in like words: how hard to think, JSON alone, a tool."""

from __future__ import annotations

from typing import Final

from teahouse.core.messages import JsonObject
from teahouse.llm.provider import Effort, ToolSpec
from teahouse.llm.settings import WireName
from teahouse.server.gateway.fields import Fields

EFFORTS: Final[dict[str, Effort]] = {
    "none": "none",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "xhigh",
}
JSON_ONLY: Final[dict[WireName, JsonObject]] = {
    "openai_chat": {"response_format": {"type": "json_object"}},
    "openai_responses": {"text": {"format": {"type": "json_object"}}},
    "gemini": {"generationConfig": {"responseMimeType": "application/json"}},
    "ollama": {"format": "json"},
}
"""How each vendor is asked for an object of any schema, as `ModelRequest.own` takes it."""


def tool_of(function: Fields) -> ToolSpec:
    """A function as all but Anthropic write it; without parameters it takes none."""
    parameters = function.object("parameters")
    nothing: JsonObject = {"type": "object", "properties": {}}
    return ToolSpec(
        name=function.need_text("name"),
        description=function.text("description") or "",
        parameters=nothing if parameters is None else parameters.values,
    )
