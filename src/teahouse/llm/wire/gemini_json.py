"""JSON asked for beside tools, which Gemini's models before 3 refuse in one request."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from teahouse.core.codec import encode
from teahouse.core.messages import JsonObject, Message, Text
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, OneTool
from teahouse.llm.wire.fields import as_object
from teahouse.llm.wire.json_tool import ANSWER, answer_tool

_CONFIG: Final = "generationConfig"
_MIME: Final = "responseMimeType"
_FORMAT: Final = frozenset({_MIME, "responseSchema", "responseJsonSchema"})
_IN_WORDS: Final = "Unless you call a tool, reply with JSON alone, of this schema: "


def json_beside_tools(request: ModelRequest, profile: Profile) -> tuple[ModelRequest, str | None]:
    """The request as the model takes it, and the tool whose arguments are its reply, if any.

    A schema that names no fields is asked for in words: such a tool would have no arguments.
    """
    schema, choice = _wanted(request), request.tool_choice
    if schema is None or not request.tools or profile.json_with_tools:
        return request, None
    if choice == "none":
        return replace(request, tools=(), tool_choice=None), None
    free = _without_format(request)
    if choice == "required" or isinstance(choice, OneTool):
        return free, None  # the reply is a call of another tool
    if schema.get("type") == "object" and schema.get("properties"):
        tools = (*request.tools, answer_tool(schema))
        return replace(free, tools=tools, tool_choice="required"), ANSWER
    words = Text(text=_IN_WORDS + encode(schema).decode())
    told = Message(role="system", parts=(words,))
    return replace(free, messages=(told, *request.messages)), None


def _wanted(request: ModelRequest) -> JsonObject | None:
    if request.schema is None and _config(request).get(_MIME) == "application/json":
        return {"type": "object"}
    return request.schema


def _without_format(request: ModelRequest) -> ModelRequest:
    config = {name: value for name, value in _config(request).items() if name not in _FORMAT}
    own = request.own.get("gemini", {}) | {_CONFIG: config}
    return replace(request, schema=None, own={**request.own, "gemini": own})


def _config(request: ModelRequest) -> JsonObject:
    return as_object(request.own.get("gemini", {}).get(_CONFIG))
