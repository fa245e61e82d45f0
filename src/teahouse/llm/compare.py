"""One suite of questions put to two models: what each did with them, and where they differ.

No two models say the same, so what is compared is the shape: which kinds of events came in which
order, whether the text is there and in the right language, which tools were called with which
arguments, why the reply ended, whether its tokens were counted, and which error came instead.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Blob, Message, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.errors import TimedOut
from teahouse.llm.provider import ModelRequest, OneTool, ToolSpec
from teahouse.llm.tokens import estimate_messages

Stream: TypeAlias = Callable[[str, ModelRequest], AsyncGenerator[Sequence[StreamEvent], None]]

CaseName: TypeAlias = Literal[
    "plain",
    "english",
    "chinese",
    "long",
    "system",
    "length",
    "tool",
    "parallel",
    "forced",
    "result",
    "structured",
    "thinking",
    "image",
    "unknown_model",
    "leaving",
]
"""The first one is the plainest: a model that fails it cannot be asked at all."""

CASE_S = 90.0  # how long one model may take for one question
_EXCERPT = 120
_NEAR = 10  # a count that is so many times the estimate counts something else
_FEW = 100  # tokens; below that an estimate says little
_RED: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAAA1BMVEX/AAAZ4gk3AAAAD0lEQVR4"
    "2mNgGAWjgHwAAAJAAAHgTR1EAAAAAElFTkSuQmCC"
)


class Case(Struct, frozen=True, kw_only=True):
    """One question. `other` is added to the model's name; `leaves`: the stream is left as soon as
    it has begun; `parses`: its text must be an object."""

    request: ModelRequest
    other: str = ""
    leaves: bool = False
    parses: bool = False


class Seen(Struct, frozen=True, kw_only=True):
    """What one model did: the shape that is compared, and `said`, the start of its words
    or those of the error."""

    events: tuple[str, ...] = ()
    text: str = "none"
    calls: tuple[str, ...] = ()
    finish: str | None = None
    usage: str = "none"
    error: str | None = None
    said: str = ""


class Difference(Struct, frozen=True, kw_only=True):
    what: str
    a: str
    b: str


class Comparison(Struct, frozen=True, kw_only=True):
    """One question to both."""

    case: CaseName
    a: Seen
    b: Seen
    differences: tuple[Difference, ...] = ()


def _user(*parts: Text | Blob) -> Message:
    return Message(role="user", parts=parts)


def _ask(text: str, **more: object) -> Case:
    return Case(request=_request(_user(Text(text=text)), **more))


def _request(*messages: Message, **more: object) -> ModelRequest:
    return replace(ModelRequest(model="", messages=messages, max_tokens=1024), **more)


_CITY: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_CLOCK: Final = ToolSpec(name="clock", description="Tell the time in a city.", parameters=_CITY)
_CALL: Final = ToolCall(id="call_1", name="clock", arguments={"city": "Paris"})
_BLOB: Final = Blob(file="f_red", media_type="image/png", name="red.png", size=len(_RED))

CASES: Final[Mapping[CaseName, Case]] = {
    "plain": _ask("Reply with one word: ready"),
    "english": _ask("In one sentence and in English: why is tea bitter?"),
    "chinese": _ask("用一句中文回答：绿茶为什么苦？"),
    "long": _ask("Count from 1 to 60 in digits, one number per line, and nothing else."),
    "system": Case(
        request=_request(
            Message(role="system", parts=(Text(text="Answer only in Chinese."),)),
            _user(Text(text="What is tea?")),
        )
    ),
    "length": _ask("Write a long story about a teapot.", max_tokens=16),
    "tool": _ask("What time is it in Paris? Use the tool.", tools=(_CLOCK,)),
    "parallel": _ask(
        "What time is it in Paris, and what in Tokyo? Call the tool for both at once.",
        tools=(_CLOCK,),
        parallel_calls=True,
    ),
    "forced": _ask("Good morning from Paris.", tools=(_CLOCK,), tool_choice=OneTool(name="clock")),
    "result": Case(
        request=_request(
            _user(Text(text="What time is it in Paris? Answer in English.")),
            Message(role="assistant", parts=(_CALL,)),
            Message(role="tool", parts=(ToolResult(call="call_1", content=(Text(text="12:34"),)),)),
            tools=(_CLOCK,),
        )
    ),
    "structured": Case(
        request=_request(_user(Text(text="Which city is the capital of France?")), schema=_CITY),
        parses=True,
    ),
    "thinking": _ask("How many times does r occur in strawberry?", effort="low", max_tokens=4096),
    "image": Case(
        request=_request(
            _user(Text(text="Which colour is this, in one English word?"), _BLOB),
            media={"f_red": _RED},
        )
    ),
    "unknown_model": Case(request=_ask("hi").request, other="-that-does-not-exist"),
    "leaving": Case(request=_ask("Count from 1 to 500.").request, leaves=True),
}


async def compare(name: CaseName, stream: Stream, a: str, b: str) -> Comparison:
    """Ask both the question of this name, side by side. Raises what is no model's own error."""
    case = CASES[name]
    try:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(observe(case, stream, a))
            second = group.create_task(observe(case, stream, b))
    except ExceptionGroup as errors:  # callers expect the error itself
        raise errors.exceptions[0] from None
    return judged(name, first.result(), second.result())


async def observe(case: Case, stream: Stream, model: str) -> Seen:
    """Put one question to one model; an error is what was seen, too."""
    events: list[StreamEvent] = []
    try:
        async with asyncio.timeout(CASE_S):
            async with aclosing(stream(model + case.other, case.request)) as batches:
                async for batch in batches:
                    events += batch
                    if case.leaves and events:
                        return Seen(events=("left",))
    except ProviderError as error:
        return _seen(case, events, error)
    except TimeoutError:
        return _seen(case, events, TimedOut(model, "total", CASE_S))
    return _seen(case, events, None)


def judged(name: CaseName, a: Seen, b: Seen) -> Comparison:
    """Say where two differ; what they said in detail is theirs."""
    shapes = [{what: _shown(getattr(one, what)) for what in _COMPARED} for one in (a, b)]
    differences = tuple(
        Difference(what=what, a=shapes[0][what], b=shapes[1][what])
        for what in _COMPARED
        if shapes[0][what] != shapes[1][what]
    )
    return Comparison(case=name, a=a, b=b, differences=differences)


_COMPARED: Final = ("events", "text", "calls", "finish", "usage", "error")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        value = ", ".join(cast("tuple[str, ...]", value))
    return str(value or "–")


def _seen(case: Case, events: Sequence[StreamEvent], error: ProviderError | None) -> Seen:
    message = fold(events)
    done = events[-1] if events and isinstance(events[-1], ReplyDone) else None
    return Seen(
        events=tuple(_kinds(events)),
        text=_nature(message.text, parses=case.parses),
        calls=tuple(sorted(_told(call) for call in message.tool_calls)),
        finish=done.reason if done else None,
        usage=_counted(case, message, done) if done else "none",
        error=error.code if error else None,
        said=str(error) if error else message.text[:_EXCERPT],
    )


def _kinds(events: Sequence[StreamEvent]) -> list[str]:
    """What came in which order, each once in a row: how finely it is cut is nobody's business."""
    found: list[str] = []
    for event in events:
        match event:
            case PartDelta():
                kind = event.kind
            case PartDone(part=ToolCall()):
                kind = "tool_call"
            case PartDone(part=Thinking() as thought):
                kind = "thinking" if thought.text else None
            case PartDone():
                kind = "text"
            case ReplyDone():
                kind = "end"
        if kind is not None and (not found or found[-1] != kind):
            found.append(kind)
    return found


def _nature(text: str, *, parses: bool) -> str:
    """What a text is as far as two models can agree on it."""
    if not text.strip():
        return "none"
    if parses:
        try:
            return "json" if isinstance(json.loads(text), dict) else "no object"
        except (ValueError, RecursionError):
            return "no json"
    letters = [letter for letter in text if letter.isalpha()]
    chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in letters)
    if not letters:
        return "digits"
    return "chinese" if chinese * 4 > len(letters) else "latin"


def _told(call: ToolCall) -> str:
    inside = "malformed" if call.malformed is not None else ", ".join(sorted(call.arguments))
    return f"{call.name}({inside})"


def _counted(case: Case, message: Message, done: ReplyDone) -> str:
    usage = done.usage
    if usage.estimated:
        return "estimated"
    expected = max(estimate_messages(case.request.messages), _FEW)
    if not 0 < usage.input <= expected * _NEAR or (message.parts and usage.output <= 0):
        return "implausible"
    return "counted"
