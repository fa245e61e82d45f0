"""Requests in OpenAI's chat dialect, as its many clients write them, in our own words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NoReturn, get_args

from teahouse.core.messages import JsonObject
from teahouse.llm.provider import Effort, ModelRequest, OneTool, ToolChoice, ToolSpec
from teahouse.llm.settings import WireName
from teahouse.llm.wire.fields import as_object
from teahouse.server.gateway.dialect import Asked
from teahouse.server.gateway.fields import Fields, read_object
from teahouse.server.gateway.openai.chat_history import ChatHistory
from teahouse.server.gateway.vocabulary import JSON_ONLY, tool_of

_OWN: Final = (
    *("frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs"),
    *("service_tier", "verbosity", "prediction", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"),
    # of other endpoints that speak this dialect
    *("top_k", "min_p", "repetition_penalty", "chat_template_kwargs", "enable_thinking"),
)
_TOGETHER: Final = ("conversation_id", "session_id", "thread_id", "chat_id")


def read_chat(body: bytes) -> Asked:
    fields = read_object(body)
    _refuse_what_cannot_be(fields)
    tools, choice = _tools(fields)
    history = ChatHistory()
    history.read(fields)
    limit = fields.whole("max_completion_tokens", least=1) or fields.whole("max_tokens", least=1)
    effort, thinking_tokens = _thinking(fields)
    options = fields.object("stream_options")
    request = ModelRequest(
        model="",
        messages=tuple(history.messages),
        tools=tools,
        max_tokens=limit,
        temperature=fields.number("temperature", least=0, most=2),
        top_p=fields.number("top_p", least=0, most=1),
        seed=fields.whole("seed"),
        stop=tuple(filter(None, fields.texts("stop"))),
        tool_choice=choice,
        parallel_calls=fields.flag("parallel_tool_calls") if tools else None,
        effort=effort,
        thinking_tokens=thinking_tokens,
        schema=_schema(fields),
        media=history.media.media,
        own=_own(fields),
    )
    return Asked(
        model=fields.text("model") or None,
        request=request,
        stream=fields.flag("stream") or False,
        counts=(options is not None and options.flag("include_usage")) or False,
        conversation=_conversation(fields),
    )


def _refuse_what_cannot_be(fields: Fields) -> None:
    """Rather an error than an answer that lacks what its client counts on."""
    if fields.whole("n") not in {None, 1}:
        fields.wrong("n", "1")
    if set(fields.texts("modalities")) - {"text"}:
        fields.wrong("modalities", '["text"]')
    for old, new in (("functions", "tools"), ("function_call", "tool_choice")):
        if fields.has(old):
            fields.wrong(old, f"undefined ({new})")


def _thinking(fields: Fields) -> tuple[Effort | None, int | None]:
    """`reasoning` is how OpenRouter's clients ask for it."""
    choices: tuple[Effort, ...] = get_args(Effort)
    effort = fields.choice("reasoning_effort", choices)
    reasoning = fields.object("reasoning")
    if reasoning is None:
        return effort, None
    effort = effort or reasoning.choice("effort", choices)
    if reasoning.flag("enabled") is False:
        effort = "none"
    return effort, reasoning.whole("max_tokens", least=0)


def _tools(fields: Fields) -> tuple[tuple[ToolSpec, ...], ToolChoice | None]:
    tools = tuple(_tool(tool) for tool in fields.objects("tools"))
    choice = fields.raw("tool_choice")
    if choice is None or not tools:
        return tools, None
    if not isinstance(choice, dict):
        return tools, fields.choice("tool_choice", ("auto", "none", "required"))
    names = {tool.name: None for tool in tools}
    form = fields.need_object("tool_choice")
    if form.text("type") != "allowed_tools":
        if form.choice("type", ("function", "allowed_tools")) is None:
            form.missing("type")
        return tools, OneTool(name=_known(form.need_object("function"), names))
    allowed = form.need_object("allowed_tools")
    mode = allowed.choice("mode", ("auto", "required"))
    chosen = {_known(item.need_object("function"), names) for item in allowed.objects("tools")}
    return tuple(tool for tool in tools if tool.name in chosen), mode


def _known(function: Fields, names: Collection[str]) -> str:
    name = function.need_text("name")
    return name if name in names else _choose(function, names)


def _choose(function: Fields, names: Collection[str]) -> NoReturn:
    function.wrong("name", " | ".join(f'"{name}"' for name in names))


def _tool(tool: Fields) -> ToolSpec:
    tool.choice("type", ("function",))
    return tool_of(tool.need_object("function"))


def _schema(fields: Fields) -> JsonObject | None:
    form = fields.object("response_format")
    if form is None:
        return None
    if form.choice("type", ("text", "json_object", "json_schema")) != "json_schema":
        return None
    schema = form.need_object("json_schema").object("schema")
    return schema.values if schema is not None else {"type": "object"}


def _own(fields: Fields) -> dict[WireName, JsonObject]:
    """What only some dialects have a word for."""
    form = fields.object("response_format")
    own: dict[WireName, JsonObject] = {}
    if form is not None and form.raw("type") == "json_object":
        own |= JSON_ONLY
    given = {name: fields.raw(name) for name in _OWN if fields.has(name)}
    if given:
        own["openai_chat"] = own.get("openai_chat", {}) | given
    return own


def _conversation(fields: Fields) -> str | None:
    """What the client says of which calls belong together."""
    found = [fields.raw("prompt_cache_key"), fields.raw("session_id")]
    metadata = as_object(fields.raw("metadata"))
    found += [metadata.get(name) for name in _TOGETHER]
    found.append(fields.raw("user"))
    return next((value for value in found if isinstance(value, str) and value), None)
