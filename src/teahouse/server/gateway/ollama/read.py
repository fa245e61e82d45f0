"""Reads requests of Ollama's own dialect: a chat, or one prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from teahouse.core.errors import Invalid
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from teahouse.llm.provider import Effort, ModelRequest, ToolSpec
from teahouse.llm.settings import WireName
from teahouse.server.gateway.broken_call import read_arguments
from teahouse.server.gateway.carry import unpack
from teahouse.server.gateway.dialect import Asked
from teahouse.server.gateway.fields import Fields, read_object
from teahouse.server.gateway.pictures import Media
from teahouse.server.gateway.vocabulary import EFFORTS, JSON_ONLY, tool_of

CARRIED: Final = "carried"
"""The field of a tool call that holds what its vendor wants back. Clients that keep a message as it
came give it back; Ollama's own Python client drops what it does not know."""

_NAMED: Final = frozenset({"temperature", "top_p", "seed", "stop", "num_predict"})


def read_chat(body: bytes) -> Asked:
    """Without messages it is only to load the model."""
    given, media = read_object(body), Media()
    tools = tuple(tool_of(tool.need_object("function")) for tool in given.objects("tools"))
    return _asked(given, tuple(_Talk(given, media).messages()), media, tools)


def read_generate(body: bytes) -> Asked:
    """As `read_chat`: without a prompt the model is only to be loaded."""
    given, media = read_object(body), Media()
    if given.text("suffix"):
        raise Invalid("suffix_unsupported", field="suffix")
    prompt = given.text("prompt") or ""
    words: list[Part] = [Text(text=prompt)] if prompt else []
    parts = (*words, *_pictures(given, media))
    messages: tuple[Message, ...] = ()
    if parts:
        messages = (*_system(given.text("system")), Message(role="user", parts=parts))
    return _asked(given, messages, media, ())


def _asked(
    given: Fields, messages: tuple[Message, ...], media: Media, tools: tuple[ToolSpec, ...]
) -> Asked:
    options = given.object("options") or Fields({}, "options")
    schema, own = _format(given)
    rest = {k: v for k, v in options.values.items() if k not in _NAMED and v is not None}
    if rest:
        own["ollama"] = own.get("ollama", {}) | {"options": rest}
    longest = options.whole("num_predict")
    request = ModelRequest(
        model="",
        messages=messages,
        tools=tools,
        max_tokens=longest if longest is not None and longest > 0 else None,  # -1: no limit
        temperature=options.number("temperature", least=0, most=2),
        top_p=options.number("top_p", least=0, most=1),
        seed=options.whole("seed"),
        stop=tuple(filter(None, options.texts("stop"))),
        effort=_effort(given),
        schema=schema,
        media=media.media,
        own=own,
    )
    streams = given.flag("stream")
    return Asked(
        model=given.text("model") or None,
        request=request,
        stream=True if streams is None else streams,
        loads=not messages,
    )


def _effort(given: Fields) -> Effort | None:
    think = given.raw("think")
    if think is None or think == "":
        return None
    if isinstance(think, bool):
        return "medium" if think else "none"
    if not isinstance(think, str) or think not in EFFORTS:
        given.wrong("think", "boolean | " + " | ".join(f'"{name}"' for name in EFFORTS))
    return EFFORTS[think]


def _format(given: Fields) -> tuple[JsonObject | None, dict[WireName, JsonObject]]:
    wanted = given.raw("format")
    if isinstance(wanted, dict):
        return given.need_object("format").values, {}
    if wanted == "json":
        return None, dict(JSON_ONLY)
    if wanted not in {None, ""}:
        given.wrong("format", '"json" | object')
    return None, {}


def _system(text: str | None) -> Iterator[Message]:
    if text:
        yield Message(role="system", parts=(Text(text=text),))


def _pictures(fields: Fields, media: Media) -> Iterator[Blob]:
    for place, data in enumerate(fields.texts("images")):
        field = f"{fields.at('images')}[{place}]"
        if data.startswith("data:"):
            yield media.add_data_url(data, field)
        else:
            yield media.add_base64(data, field, kind="image/jpeg")


def _text(turn: Fields) -> Iterator[Text]:
    text = turn.text("content")
    if text:
        yield Text(text=text)


_Sign: TypeAlias = tuple[Literal["id", "name", "any"], str]
_ANY: Final[_Sign] = ("any", "")


class _Talk:
    """Messages in order. Calls mostly have no ids there: the name of the tool, or else the order,
    says which call a result is of."""

    def __init__(self, given: Fields, media: Media) -> None:
        self._given, self._media = given, media
        self._waiting: dict[_Sign, deque[tuple[int, ToolCall]]] = {}
        self._answered = set[int]()
        self._calls = 0

    def messages(self) -> Iterator[Message]:
        for turn in self._given.objects("messages"):
            match turn.choice("role", ("system", "user", "assistant", "tool")):
                case "system":
                    yield Message(role="system", parts=tuple(_text(turn)))
                case "user":
                    pictures = _pictures(turn, self._media)
                    yield Message(role="user", parts=(*_text(turn), *pictures))
                case "assistant":
                    yield Message(role="assistant", parts=tuple(self._said(turn)))
                case "tool":
                    yield Message(role="tool", parts=(self._result(turn),))
                case _:
                    turn.missing("role")

    def _said(self, turn: Fields) -> Iterator[Part]:
        self._waiting = {}
        thought = turn.text("thinking")
        if thought:
            yield Thinking(text=thought)
        yield from _text(turn)
        for given in turn.objects("tool_calls"):
            call = self._call(given)
            signs: tuple[_Sign, ...] = (("id", call.id), ("name", call.name), _ANY)
            for sign in signs:
                self._waiting.setdefault(sign, deque()).append((self._calls, call))
            yield call

    def _call(self, given: Fields) -> ToolCall:
        function = given.need_object("function")
        held = function.object("arguments")
        arguments, malformed = read_arguments(held.values if held else {})
        self._calls += 1
        return ToolCall(
            id=given.text("id") or f"call_{self._calls}",
            name=function.need_text("name"),
            arguments=arguments,
            malformed=malformed,
            opaque=unpack(given.text(CARRIED) or "") or None,
        )

    def _result(self, turn: Fields) -> ToolResult:
        identity = turn.text("tool_call_id") or ""
        name = turn.text("tool_name") or turn.text("name")
        call = (
            self._take(("id", identity))
            or self._take(("name", name or ""))
            or (None if identity or name else self._take(_ANY))
        )
        content = (*_text(turn), *_pictures(turn, self._media))
        return ToolResult(call=call.id if call else identity, content=content)

    def _take(self, sign: _Sign) -> ToolCall | None:
        """The first call with this sign that waits for its result."""
        waiting = self._waiting.get(sign) or deque()
        while waiting:
            number, call = waiting.popleft()
            if number not in self._answered:  # it is waiting under three signs
                self._answered.add(number)
                return call
        return None
