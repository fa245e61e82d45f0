"""Requests in the Anthropic dialect: what is wished beside the conversation."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from teahouse.core.messages import JsonObject
from teahouse.llm.media import BlobReader, Files
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, OneTool, ToolChoice, ToolSpec
from teahouse.llm.wire.anthropic_history import THOUGHTS, AnthropicHistory
from teahouse.llm.wire.effort import budget_of, effort_of, wanted_effort
from teahouse.llm.wire.fields import as_object, merge
from teahouse.llm.wire.json_tool import ANSWER, answer_tool
from teahouse.llm.wire.strict_schema import strict_schema
from teahouse.llm.wire.tool_choice import offered

_WIRE: Final = "anthropic"
_LEAST_BUDGET: Final = 1024
_FORCED: Final = frozenset({"any", "tool"})


async def anthropic_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`. This dialect has no word for
    a seed: it is left out."""
    history = AnthropicHistory(profile, origin, Files(files, request.media))
    await history.write(request.messages)
    tools, choice = offered(request, profile.tool_choices)
    choosing = _choosing(choice, request.parallel_calls) if tools else {}
    settled, thinks = _settled(request, choosing, profile)
    body: JsonObject = {
        "model": request.model,
        "max_tokens": request.max_tokens or profile.output_tokens,
        "messages": history.finished(),
        "stream": True,
    }
    if history.system:
        body["system"] = "\n\n".join(history.system)
    if tools:
        body["tools"] = [_tool(spec) for spec in tools]
    if profile.prompt_cache:
        body["cache_control"] = {"type": "ephemeral"}
    if profile.temperature and not thinks:
        body |= _sampling(request, profile)
    if request.schema is not None:
        _ask_for_json(body, request.schema, settled, profile, thinks=thinks)
    body = merge(body, settled)
    _make_room_to_think(body)
    return body


def _settled(
    request: ModelRequest, choosing: JsonObject, profile: Profile
) -> tuple[JsonObject, bool]:
    """What is said beside the conversation, and whether the model is to think: it cannot where it
    must call a tool."""
    if choosing.get("type") in _FORCED:
        request = replace(request, effort="none", thinking_tokens=None)
    wished = _thinking(request, profile)
    known = profile.extra
    if wished is not None:
        known = {name: value for name, value in known.items() if name != "thinking"}
    fields = merge(known, wished or {})
    stop = [text for text in request.stop if text.strip()]  # blanks alone are refused
    if stop and profile.stop:
        fields["stop_sequences"] = stop
    if choosing:
        fields["tool_choice"] = choosing
    fields = merge(fields, merge(request.extra, request.own.get(_WIRE, {})))
    thinks = as_object(fields.get("thinking")).get("type") in {"enabled", "adaptive"}
    if thinks and as_object(fields.get("tool_choice")).get("type") in _FORCED:
        del fields["thinking"]
        thinks = False
    return fields, thinks


def _thinking(request: ModelRequest, profile: Profile) -> JsonObject | None:
    """None where nothing is wished; models of today take an effort and decide by themselves."""
    wanted, budget, effort = (
        wanted_effort(request),
        budget_of(request, profile),
        effort_of(request, profile),
    )
    if budget is None:
        return None
    if profile.thinking == "budget":
        enough = max(budget, _LEAST_BUDGET)
        return {"thinking": {"type": "enabled", "budget_tokens": enough}} if budget else {}
    if wanted == "none" and profile.thinking != "always":
        off = profile.thinking_off
        return {} if off is None else {"thinking": {"type": off}}
    # their thoughts are not shown unless one asks
    adaptive = {"type": "adaptive", "display": "summarized"}
    return {"thinking": adaptive} | ({"output_config": {"effort": effort}} if effort else {})


def _choosing(choice: ToolChoice | None, parallel: bool | None) -> JsonObject:
    if choice is None and parallel is not False:
        return {}
    match choice:
        case OneTool(name=name):
            said: JsonObject = {"type": "tool", "name": name}
        case "required":
            said = {"type": "any"}
        case word:
            said = {"type": word or "auto"}
    if parallel is False and said["type"] != "none":
        said["disable_parallel_tool_use"] = True
    return said


def _sampling(request: ModelRequest, profile: Profile) -> JsonObject:
    fields: JsonObject = {}
    if request.temperature is not None:
        fields["temperature"] = min(request.temperature, 1.0)
    if request.top_p is not None and not (fields and profile.one_sampling):
        fields["top_p"] = request.top_p
    return fields


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }


def _ask_for_json(
    body: JsonObject, schema: JsonObject, settled: JsonObject, profile: Profile, *, thinks: bool
) -> None:
    if profile.json_schema:
        wanted = {"type": "json_schema", "schema": strict_schema(schema)}
        body["output_config"] = {"format": wanted}  # `settled` may add an effort
        return
    chosen = as_object(settled.get("tool_choice"))
    if chosen.get("type") in _FORCED:
        return  # the reply is a call of another tool
    body["tools"] = [*body.get("tools", []), _tool(answer_tool(schema))]
    alone = len(body["tools"]) == 1 or chosen.get("type") == "none"
    if not thinks:  # a model that thinks cannot be made to call one
        forced: JsonObject = {"type": "tool", "name": ANSWER} if alone else {"type": "any"}
        settled["tool_choice"] = {k: v for k, v in chosen.items() if k != "type"} | forced
    elif alone:
        settled.pop("tool_choice", None)


def _make_room_to_think(body: JsonObject) -> None:
    """A budget counts within `max_tokens`; and no model thinks on from calls that it made without
    a thought, as when another one began this turn."""
    thinking = as_object(body.get("thinking"))
    budget = thinking.get("budget_tokens")
    if thinking.get("type") != "enabled" or not isinstance(budget, int):
        return
    if not _may_think(body["messages"]):
        del body["thinking"]
    elif body["max_tokens"] <= budget:
        body["max_tokens"] += budget


def _may_think(messages: list[JsonObject]) -> bool:
    last: list[JsonObject] = messages[-1]["content"] if messages else []
    if not last or last[0]["type"] != "tool_result":
        return True
    return messages[-2]["content"][0]["type"] in THOUGHTS
