"""Reads requests of the OpenAI Responses dialect: settings, tools, and what the reply is to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import field

from teahouse.core.errors import Invalid, NotFound
from teahouse.core.messages import JsonObject, Message, Text
from teahouse.llm.provider import Effort, ModelRequest, OneTool, ToolChoice, ToolSpec
from teahouse.llm.settings import WireName
from teahouse.server.gateway.dialect import Asked
from teahouse.server.gateway.fields import Fields, read_object, shown
from teahouse.server.gateway.kept_responses import Shelf
from teahouse.server.gateway.openai.responses_history import History
from teahouse.server.gateway.pictures import Media
from teahouse.server.gateway.vocabulary import EFFORTS, JSON_ONLY, tool_of

_SUMMARIES: Final = ("auto", "concise", "detailed")
_KEPT: Final = ("conversation", "prompt")
"""Fields that speak of what is kept for good."""
_HINTS: Final = ("prompt_cache_key", "safety_identifier", "user")
_TOLD: Final = (
    *("instructions", "metadata", "temperature", "top_p", "max_output_tokens", "max_tool_calls"),
    *("parallel_tool_calls", "tool_choice", "truncation", "top_logprobs", *_HINTS),
)
"""Fields that the reply repeats as they were asked."""
_DEFAULTS: Final[JsonObject] = {
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "truncation": "disabled",
}


class ResponsesAsked(Asked, frozen=True, kw_only=True):
    """`told` are the fields of the request that the reply repeats. `given` are the items of its
    input, and `previous` is the response that came before; `store`: whether to keep the reply."""

    told: JsonObject = field(default_factory=dict[str, object])
    given: Sequence[JsonObject] = ()
    previous: str | None = None
    store: bool = False


def read_request(body: bytes, shelf: Shelf | None = None) -> ResponsesAsked:
    """`shelf` holds what the one who asks may point to. Raises `Invalid` that names the field, and
    `NotFound` for an item that is not there. What nobody here knows is passed over."""
    asked = read_object(body)
    for name in _KEPT:
        if asked.has(name):
            raise Invalid("not_kept", field=name, value=shown(asked.raw(name)))
    if asked.flag("background"):
        raise Invalid("background_reply", field="background")
    store = asked.flag("store") is not False and shelf is not None
    asked.choice("truncation", ("auto", "disabled"))
    asked.object("metadata")
    media = Media()
    previous = asked.text("previous_response_id") or None
    items = _items(asked, shelf)
    messages = _messages(asked, [*_before(previous, shelf), *items], media)
    tools, told_tools = _tools(asked)
    choice, tools = _choice(asked, tools)
    form, schema = _format(asked)
    effort, reasoning = _reasoning(asked)
    verbosity = _verbosity(asked)
    request = ModelRequest(
        model="",
        messages=messages,
        tools=tools,
        max_tokens=asked.whole("max_output_tokens", least=1),
        temperature=asked.number("temperature", least=0, most=2),
        top_p=asked.number("top_p", least=0, most=1),
        tool_choice=choice,
        parallel_calls=asked.flag("parallel_tool_calls"),
        effort=effort,
        schema=schema,
        media=media.media,
        own=_own(asked, form, reasoning, verbosity),
    )
    told = {name: asked.raw(name) for name in _TOLD}
    told |= {name: default for name, default in _DEFAULTS.items() if told[name] is None}
    told |= {"tools": told_tools, "reasoning": {"effort": None, "summary": None} | reasoning}
    told |= {"text": {"format": form} | verbosity, "background": False}
    told |= {"store": store, "previous_response_id": previous}
    return ResponsesAsked(
        model=asked.text("model") or None,
        request=request,
        stream=asked.flag("stream") or False,
        conversation=next((hint for name in _HINTS if (hint := asked.text(name))), None),
        told=told,
        given=[item.values for item in items],
        previous=previous,
        store=store,
    )


def _items(asked: Fields, shelf: Shelf | None) -> list[Fields]:
    """The input, with the items themselves in the place of those that point to them."""
    value = asked.raw("input")
    if value is None:
        asked.missing("input")
    if isinstance(value, str):
        return [Fields({"role": "user", "content": value}, "input")]
    if not isinstance(value, list):
        asked.wrong("input", "string | object[]")
    return [_itself(item, shelf) for item in asked.objects("input")]


def _itself(item: Fields, shelf: Shelf | None) -> Fields:
    if item.raw("type") != "item_reference":
        return item
    name = item.need_text("id")
    found = shelf.item(name) if shelf else None
    if found is None:
        raise NotFound("item_not_kept", field=item.at("id"), value=shown(name))
    return Fields(found, item.path)


def _before(previous: str | None, shelf: Shelf | None) -> list[Fields]:
    if previous is None:
        return []
    found = shelf.until(previous) if shelf else None
    if found is None:
        raise Invalid("previous_response_not_found", value=shown(previous))
    return [Fields(item, "previous_response_id") for item in found]


def _messages(asked: Fields, items: Sequence[Fields], media: Media) -> tuple[Message, ...]:
    history = History(media)
    instructions = asked.text("instructions")
    if instructions:
        history.say("system", [Text(text=instructions)])
    for item in items:
        history.read(item)
    return history.whole()


def _tools(asked: Fields) -> tuple[tuple[ToolSpec, ...], list[JsonObject]]:
    """The tools, and how the reply tells of them."""
    specs: list[ToolSpec] = []
    told: list[JsonObject] = []
    for tool in asked.objects("tools"):
        if tool.need_text("type") != "function":
            raise Invalid("tool_kind", field=tool.at("type"), value=shown(tool.raw("type")))
        spec = tool_of(tool)
        specs.append(spec)
        told.append(
            {
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.parameters,
                "strict": tool.flag("strict"),
            }
        )
    return tuple(specs), told


def _choice(
    asked: Fields, tools: tuple[ToolSpec, ...]
) -> tuple[ToolChoice | None, tuple[ToolSpec, ...]]:
    """Which tools may be called, and whether one must be."""
    value = asked.raw("tool_choice")
    if not isinstance(value, dict):
        return asked.choice("tool_choice", ("auto", "none", "required")), tools
    choice = asked.need_object("tool_choice")
    names = {tool.name: None for tool in tools}
    match choice.need_text("type"):
        case "function":
            return OneTool(name=_known(choice, names)), tools
        case "allowed_tools":
            chosen = {_known(tool, names) for tool in choice.objects("tools")}
            mode = choice.choice("mode", ("auto", "required"))
            allowed = tuple(tool for tool in tools if tool.name in chosen)
            return mode, allowed
        case _:
            raise Invalid("tool_kind", field=choice.at("type"), value=shown(choice.raw("type")))


def _known(chosen: Fields, names: Collection[str]) -> str:
    name = chosen.need_text("name")
    if name not in names:
        chosen.wrong("name", " | ".join(f'"{name}"' for name in names) or "—")
    return name


def _format(asked: Fields) -> tuple[JsonObject, JsonObject | None]:
    """The form of the text, and the schema that it must be of."""
    text = asked.object("text")
    form = text.object("format") if text else None
    if form is None:
        return {"type": "text"}, None
    form.need_text("type")
    kind = form.choice("type", ("text", "json_object", "json_schema"))
    if kind == "json_schema":
        return form.values, form.need_object("schema").values
    return {"type": kind}, None


def _verbosity(asked: Fields) -> JsonObject:
    text = asked.object("text")
    verbosity = text.choice("verbosity", ("low", "medium", "high")) if text else None
    return {"verbosity": verbosity} if verbosity else {}


def _reasoning(asked: Fields) -> tuple[Effort | None, JsonObject]:
    reasoning = asked.object("reasoning")
    if reasoning is None:
        return None, {}
    effort = reasoning.choice("effort", tuple(EFFORTS))
    named = "summary" if reasoning.has("summary") else "generate_summary"  # its old name
    told = {"effort": effort, "summary": reasoning.choice(named, _SUMMARIES)}
    told = {name: value for name, value in told.items() if value is not None}
    return EFFORTS[effort] if effort else None, told


def _own(
    asked: Fields, form: JsonObject, reasoning: JsonObject, verbosity: JsonObject
) -> dict[WireName, JsonObject]:
    """What only some dialects have a word for."""
    own: dict[WireName, JsonObject] = {}
    json_only = form["type"] == "json_object"
    if json_only:
        own |= JSON_ONLY
    given: JsonObject = {}
    if verbosity:
        given["text"] = verbosity | ({"format": form} if json_only else {})
    if "summary" in reasoning:
        given["reasoning"] = {"summary": reasoning["summary"]}
    if key := asked.text("prompt_cache_key"):
        given["prompt_cache_key"] = key
    if given:
        own["openai_responses"] = own.get("openai_responses", {}) | given
    return own
