"""Tools for small models that emit no tool calls of their own: they are asked for by schema.

One short, constrained question decides which tool the latest message needs; nearly always the
answer is none, and then the real request goes out as it would without tools, streamed. Its prompt
is a talk of examples that stays the same from turn to turn, so the model's cache holds it and the
question costs a few tokens. (Measured with 0.5 billion parameters: asking for the name alone, then
for the arguments, calls far less often in vain than one schema for both.)
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core import ids
from teahouse.core.events import PartDone, ReplyDone, StreamEvent, Usage, fold
from teahouse.core.messages import JsonObject, Message, Role, Text, ToolCall
from teahouse.llm.provider import ModelInfo, ModelRequest, OneTool, Provider, ToolSpec
from teahouse.llm.reach import Ask, Item
from teahouse.llm.tool_talk import Turn, spoken, turns_of

_NONE: Final = "none"
_MOST_ROUNDS = 3  # of calls in one turn; a small model may never find an end by itself
_NAME_TOKENS, _ARGUMENT_TOKENS = 48, 400
_LONGEST_STRING = 300
_EXCERPT = 400  # characters of a message's start and of its end
_EARLIER = 2  # turns before the latest that give it its meaning

_NEXT = "Done. Which other tool does the same message need?"
_TASK = (
    'You decide which tool a message needs. Answer with the tool\'s name, or "none" when it can be '
    "answered by talking: greetings, questions of knowledge, writing, code, translation, advice."
)


class Example(Struct, frozen=True, kw_only=True):
    """What a person may write, and the call it needs. `arguments` None: only the name is shown.

    A small model is fond of copying: unless one of `words` is in the message, an optional argument
    that equals this one is taken for a copy and left out.
    """

    text: str
    tool: str | None = None
    arguments: JsonObject | None = None
    words: tuple[str, ...] = ()


_GENERAL: Final = (
    Example(
        text="Remind me to call mom at six",
        tool="reminder(text, at, repeat?)",
        arguments={"text": "call mom", "at": "18:00"},
    ),
    Example(text="Hi there"),
    Example(text="What's the meaning of life?"),
    Example(text="播放周杰伦的歌", tool="play_music(query)", arguments={"query": "周杰伦"}),
    Example(text="写一段代码"),
    Example(text="把灯关掉", tool="light(on)"),
    Example(text="你好吗"),
    Example(text="Could you put on some jazz?", tool="play_music(query)"),
    Example(text="How does a light bulb work?"),
    Example(text="提醒我明天交房租", tool="reminder(text, at, repeat?)"),
    Example(text="谁发明了电灯？"),
    Example(text="Turn on the lamp in the kitchen", tool="light(on)"),
    Example(text="Give me ideas for a birthday party"),
)
_TALK: Final = (
    "Good night",
    "讲个故事",
    "What is photosynthesis?",
    "Write an email to my landlord",
    "推荐一本书",
    "Who painted the Mona Lisa?",
)

EXAMPLES: Final[Mapping[str, tuple[Example, ...]]] = {
    "now": (
        Example(text="What day is it?", tool="now", arguments={}),
        Example(
            text="现在纽约是几点",
            tool="now",
            arguments={"zone": "America/New_York"},
            words=("New York", "纽约", "紐約"),
        ),
        Example(text="看看现在的时间", tool="now", arguments={}),
        Example(
            text="Tell me the time in Paris",
            tool="now",
            arguments={"zone": "Europe/Paris"},
            words=("Paris", "巴黎"),
        ),
    ),
    "session_title": (
        Example(text="Name this chat Garden plans", tool="session_title"),
        Example(text="把对话的标题改成装修", tool="session_title"),
    ),
}
"""By the tool's name. A tool without examples is shown by its description alone."""


class SchemaTools:
    """Wraps a provider; requests without tools and replies without calls pass through."""

    def __init__(
        self, inner: Provider, *, examples: Mapping[str, tuple[Example, ...]] = EXAMPLES
    ) -> None:
        self._inner, self._examples = inner, examples

    async def models(self) -> Sequence[ModelInfo]:
        return await self._inner.models()

    def through(self, ask: Ask[Item], /) -> AsyncGenerator[Item, None]:
        """What has no tools is asked as it is."""
        return ask(self._inner)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        asked = Usage()
        if request.tools and request.tool_choice != "none":
            choice = _Choice(self._inner, request, self._examples)
            call = await choice.make()
            asked = choice.usage
            if call is not None:
                done = ReplyDone(reason="tool_calls", usage=asked)
                yield [PartDone(index=0, part=call), done]
                return
        plain = replace(request, tools=(), messages=spoken(request.messages))
        async with aclosing(self._inner.stream(plain)) as batches:
            async for batch in batches:
                yield [_with(event, asked) for event in batch]


def _with(event: StreamEvent, asked: Usage) -> StreamEvent:
    if isinstance(event, ReplyDone):
        return replace(event, usage=asked + event.usage)
    return event


class _Choice:
    """Finds the call that the latest turn needs next, if any."""

    def __init__(
        self, inner: Provider, request: ModelRequest, examples: Mapping[str, tuple[Example, ...]]
    ) -> None:
        self.usage = Usage()
        self._inner, self._request, self._examples = inner, request, examples
        self._tools = {tool.name: tool for tool in request.tools}
        wish = request.tool_choice
        if isinstance(wish, OneTool) and wish.name in self._tools:
            self._tools = {wish.name: self._tools[wish.name]}
        free = wish != "required" and not isinstance(wish, OneTool)
        self._names = [_NONE, *self._tools] if free else [*self._tools]

    async def make(self) -> ToolCall | None:
        turns = turns_of(self._request.messages)
        if not turns or not turns[-1].text.strip() or len(turns[-1].calls) >= _MOST_ROUNDS:
            return None
        talk = self._opening()
        for turn in turns[-1 - _EARLIER : -1]:
            talk += _told(turn)
        turn = turns[-1]
        talk.append(_says("user", excerpt(turn.text)))
        for call in turn.calls:
            talk += _made(call, self._tools, turn)
            talk.append(_says("user", _NEXT))
        name = await self._ask(talk, {"type": "string", "enum": self._names}, _NAME_TOKENS)
        tool = self._tools.get(str(_parsed(name)))
        if tool is None:
            return None
        call = await self._call(talk, tool, turn)
        known = {(made.name, json.dumps(made.arguments, sort_keys=True)) for made in turn.calls}
        if (call.name, json.dumps(call.arguments, sort_keys=True)) in known:
            return None
        return call

    async def _call(self, talk: list[Message], tool: ToolSpec, turn: Turn) -> ToolCall:
        identity = ids.new_id("call")
        if not tool.parameters.get("properties"):
            return ToolCall(id=identity, name=tool.name, arguments={})
        talk = [
            *talk,
            _says("assistant", json.dumps(tool.name)),
            _says("user", _arguments_of(signature(tool), turn.text)),
        ]
        text = await self._ask(talk, bounded(tool.parameters), _ARGUMENT_TOKENS)
        found = _parsed(text)
        if isinstance(found, dict):
            arguments = self._own(tool, turn, cast("JsonObject", found))
            return ToolCall(id=identity, name=tool.name, arguments=arguments)
        return ToolCall(id=identity, name=tool.name, arguments={}, malformed=text)

    def _own(self, tool: ToolSpec, turn: Turn, arguments: JsonObject) -> JsonObject:
        """Leave out what is optional and was only copied from an example."""
        required: Sequence[str] = tool.parameters.get("required") or ()
        shown = [
            item
            for example in self._examples.get(tool.name, ())
            if not any(word in turn.text for word in example.words)
            for item in (example.arguments or {}).items()
        ]
        return {
            name: value
            for name, value in arguments.items()
            if name in required or (name, value) not in shown
        }

    async def _ask(self, talk: list[Message], schema: JsonObject, most_tokens: int) -> str:
        question = ModelRequest(
            model=self._request.model,
            messages=tuple(talk),
            schema=schema,
            max_tokens=most_tokens,
            temperature=0,
        )
        events: list[StreamEvent] = []
        async with aclosing(self._inner.stream(question)) as batches:
            async for batch in batches:
                events += batch
        for event in events:
            if isinstance(event, ReplyDone):
                self.usage += event.usage
        return fold(events).text

    def _opening(self) -> list[Message]:
        lines = [f"- {signature(tool)}: {tool.description}" for tool in self._tools.values()]
        talk = [_says("system", "\n".join([_TASK, "", "Tools:", *lines]))]
        for example in _GENERAL:
            talk += _shown(example, example.tool)
        for number, tool in enumerate(self._tools.values()):
            for example in self._examples.get(tool.name, ()):
                talk += _shown(example, signature(tool))
            talk += _shown(Example(text=_TALK[number % len(_TALK)]), None)
        return talk + _shown(Example(text=_TALK[len(self._tools) % len(_TALK)]), None)


def _shown(example: Example, call: str | None) -> list[Message]:
    name = _NONE if call is None else call.partition("(")[0]
    talk = [_says("user", example.text), _says("assistant", json.dumps(name))]
    if call is not None and example.arguments is not None:
        arguments = json.dumps(example.arguments, ensure_ascii=False)
        talk += [
            _says("user", _arguments_of(call, example.text)),
            _says("assistant", arguments),
        ]
    return talk


def _told(turn: Turn) -> list[Message]:
    name = turn.calls[0].name if turn.calls else _NONE
    return [_says("user", excerpt(turn.text)), _says("assistant", json.dumps(name))]


def _made(call: ToolCall, tools: Mapping[str, ToolSpec], turn: Turn) -> list[Message]:
    talk = [_says("assistant", json.dumps(call.name))]
    tool = tools.get(call.name)
    if tool is not None and tool.parameters.get("properties"):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        talk += [
            _says("user", _arguments_of(signature(tool), turn.text)),
            _says("assistant", arguments),
        ]
    return talk


def _arguments_of(call: str, text: str) -> str:
    """The message again: what stands far back is forgotten, and an example's words are taken."""
    return f"{excerpt(text)}\nArguments of {call}:"


def signature(tool: ToolSpec) -> str:
    """`weather(city, day?)`: what a model of code reads best."""
    properties: JsonObject = tool.parameters.get("properties") or {}
    required: Sequence[str] = tool.parameters.get("required") or ()
    names = [name if name in required else f"{name}?" for name in properties]
    return f"{tool.name}({', '.join(names)})"


def bounded(parameters: JsonObject) -> JsonObject:
    """The same schema, whose strings end: a small model that repeats itself would go on."""
    properties: JsonObject = parameters.get("properties") or {}
    return parameters | {
        "properties": {name: _bounded(schema) for name, schema in properties.items()},
        "additionalProperties": False,
    }


def _bounded(schema: JsonObject) -> JsonObject:
    if schema.get("type") != "string" or "enum" in schema:
        return schema
    return {"maxLength": _LONGEST_STRING} | schema


def excerpt(text: str) -> str:
    """What tells the wish: the start and the end of a long message."""
    if len(text) <= 2 * _EXCERPT:
        return text
    return f"{text[:_EXCERPT]} … {text[-_EXCERPT:]}"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _says(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))
