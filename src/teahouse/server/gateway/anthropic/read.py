"""Reads requests of Anthropic's Messages, all but the conversation itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject
from teahouse.llm.provider import Effort, ModelRequest, OneTool, ToolChoice, ToolSpec
from teahouse.server.gateway.anthropic.history import read_history
from teahouse.server.gateway.dialect import Asked
from teahouse.server.gateway.fields import Fields, read_object
from teahouse.server.gateway.pictures import Media
from teahouse.server.gateway.vocabulary import EFFORTS

_FINDS_TOOLS: Final = "tool_search_tool"  # needless: every tool is told to the model anyway
_THINKING: Final = ("enabled", "disabled", "adaptive", "between_tools")
_CHOICES: Final[dict[str, ToolChoice]] = {"auto": "auto", "any": "required", "none": "none"}


def read_messages(body: bytes, *, to_count: bool = False) -> Asked:
    """`to_count`: only the tokens are to be counted, so no length of the reply need be given."""
    given = read_object(body)
    if not to_count and not given.has("max_tokens"):
        given.missing("max_tokens")
    if given.has("thread"):  # what follows would be an answer to a piece of the conversation
        raise Invalid("thread_not_kept", field=given.at("thread"))
    media = Media()
    messages = tuple(read_history(given, media))
    tools = tuple(_tools(given))
    choice, parallel = _tool_choice(given, tools)
    effort, budget, own = _thinking(given)
    top_k = given.whole("top_k", least=0)
    if top_k is not None:
        own["top_k"] = top_k
    metadata = given.object("metadata")
    request = ModelRequest(
        model="",
        messages=messages,
        tools=tools,
        max_tokens=given.whole("max_tokens", least=1),
        temperature=given.number("temperature", least=0, most=2),
        top_p=given.number("top_p", least=0, most=1),
        stop=given.texts("stop_sequences"),
        tool_choice=choice,
        parallel_calls=parallel,
        effort=effort,
        thinking_tokens=budget,
        schema=_schema(given),
        media=media.media,
        own={"anthropic": own} if own else {},
    )
    return Asked(
        model=given.text("model") or None,
        request=request,
        stream=given.flag("stream") or False,
        conversation=metadata.text("user_id") if metadata else None,
    )


def _tools(given: Fields) -> Iterator[ToolSpec]:
    for tool in given.objects("tools"):
        kind = tool.text("type")
        if kind and kind.startswith(_FINDS_TOOLS):
            continue
        if kind not in {None, "custom"} and not tool.has("input_schema"):
            raise Invalid("tool_elsewhere", field=tool.at("type"), value=kind)
        yield ToolSpec(
            name=tool.need_text("name"),
            description=tool.text("description") or "",
            parameters=tool.need_object("input_schema").values,
        )


def _tool_choice(
    given: Fields, tools: tuple[ToolSpec, ...]
) -> tuple[ToolChoice | None, bool | None]:
    chosen = given.object("tool_choice")
    if chosen is None:
        return None, None
    alone = chosen.flag("disable_parallel_tool_use")
    kind = chosen.choice("type", (*_CHOICES, "tool"))
    if kind is None:
        chosen.missing("type")
    choice = _CHOICES.get(kind)
    if choice is None:
        name = chosen.need_text("name")
        if name not in {tool.name for tool in tools}:
            chosen.wrong("name", " | ".join(f'"{tool.name}"' for tool in tools) or "null")
        choice = OneTool(name=name)
    parallel = None if alone is None else not alone
    return (choice, parallel) if tools else (None, None)


def _thinking(given: Fields) -> tuple[Effort | None, int | None, JsonObject]:
    """How hard, how long, and what only Anthropic itself understands of it."""
    config, thinking = given.object("output_config"), given.object("thinking")
    named = config.choice("effort", tuple(EFFORTS)) if config else None
    effort = EFFORTS[named] if named else None
    match thinking.choice("type", _THINKING) if thinking else None:
        case "disabled":
            return "none", None, {}
        case "enabled" if thinking:
            budget = thinking.whole("budget_tokens", least=1)
            return effort, thinking.missing("budget_tokens") if budget is None else budget, {}
        case "adaptive" | "between_tools" if thinking:
            return effort, None, {"thinking": thinking.values}
        case _:
            if thinking:
                thinking.missing("type")
            return effort, None, {}


def _schema(given: Fields) -> JsonObject | None:
    config = given.object("output_config")
    wanted = (config and config.object("format")) or given.object("output_format")  # before it
    if wanted is None:
        return None
    if wanted.choice("type", ("json_schema",)) is None:
        wanted.missing("type")
    return wanted.need_object("schema").values
