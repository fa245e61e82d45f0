"""Makes any history one that strict endpoints accept, and loses no word of a user's.

Histories come from crashed runs, other programs, people's imports and cut contexts; endpoints
answer the smallest flaw in one with a refusal of the whole request.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_of,
)
from teahouse.llm.surrogates import mend_text
from teahouse.llm.tool_run import INTERRUPTED

NOTHING_SAID: Final = "(no message)"
NO_OUTPUT: Final = "(no output)"
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64
_ANY: Final = ""  # under which every call waits


def repair(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return `messages` as every dialect takes them; what is right already stays as it is.

    System messages come first, then one of a user. No message is empty. Each call has an id of its
    own, a name in plain letters, arguments that are JSON, and its one result in the message after
    it: results are moved there, those without a call go, calls without one are told so. The parts
    of a whole run become the messages they were. Repairing twice changes nothing more.
    """
    history = list(messages)
    talk = _Talk({p.id for m in history for p in m.parts if isinstance(p, ToolCall)})
    for message in history:
        talk.add(message)
    return talk.whole()


def plain_text(text: str) -> str:
    """`text` without what some endpoint or database refuses: half characters and NUL."""
    text = mend_text(text)
    return text.replace("\0", "\ufffd") if "\0" in text else text


class _Asked(Struct):
    """A call of one reply; `heard` is the id under which its result comes."""

    heard: str
    call: ToolCall
    result: ToolResult | None = None


class _Reply(Struct):
    parts: list[Part | _Asked]

    @property
    def asked(self) -> list[_Asked]:
        return [part for part in self.parts if isinstance(part, _Asked)]


class _Waiting:
    """Calls without a result, found by the id under which it comes: first the latest reply's, of
    those the first. Histories of strangers are long: nothing here looks through all of one."""

    def __init__(self) -> None:
        self._found: dict[str, list[deque[_Asked]]] = {}

    def add(self, reply: _Reply) -> None:
        mine: dict[str, deque[_Asked]] = {}
        for asked in reply.asked:
            for heard in {_ANY, asked.heard if asked.heard.strip() else _ANY}:
                mine.setdefault(heard, deque()).append(asked)
        for heard, calls in mine.items():
            self._found.setdefault(heard, []).append(calls)

    def take(self, heard: str) -> _Asked | None:
        replies = self._found.get(heard if heard.strip() else _ANY, [])
        while replies:
            while replies[-1]:
                asked = replies[-1].popleft()
                if asked.result is None:  # it is waiting under two names
                    return asked
            replies.pop()
        return None


class _Talk:
    def __init__(self, ids: set[str]) -> None:
        self._system: list[Message] = []
        self._turns: list[Message | _Reply] = []
        self._ids, self._used = ids, set[str]()
        self._waiting = _Waiting()
        self._fresh = (f"call_{number}" for number in count(1))

    def add(self, message: Message) -> None:
        match message.role:
            case "system":
                self._add_system(message.parts)
            case "user":
                self._add_user(message.parts)
            case _:
                self._add_own(message.parts, spoken=message.role == "assistant")

    def whole(self) -> tuple[Message, ...]:
        talk: list[Message] = []
        for turn in self._turns:
            talk += [turn] if isinstance(turn, Message) else _written(turn)
        if talk and talk[0].role != "user":
            talk.insert(0, Message(role="user", parts=(Text(text=NOTHING_SAID),)))
        return (*self._system, *talk)

    def _add_system(self, parts: Sequence[Part]) -> None:
        texts = tuple(part for part in _plain(parts) if isinstance(part, Text))
        if text_of(texts).strip():
            self._system.append(Message(role="system", parts=texts))

    def _add_user(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, ToolResult):
                self._answer(part)
        said = tuple(part for part in _plain(parts) if isinstance(part, Text | Blob))
        if not said:
            return
        if not text_of(said).strip() and not any(isinstance(part, Blob) for part in said):
            said = (*said, Text(text=NOTHING_SAID))  # blank, but a user's
        self._turns.append(Message(role="user", parts=said))

    def _add_own(self, parts: Sequence[Part], *, spoken: bool) -> None:
        said: list[Part] = []
        for part in parts:
            if isinstance(part, ToolResult):
                self._reply(said)
                said = []
                self._answer(part)
            elif spoken:
                said.append(part)
        self._reply(said)

    def _reply(self, parts: Sequence[Part]) -> None:
        said: list[Part | _Asked] = [
            self._ask(part) if isinstance(part, ToolCall) else part for part in _plain(parts)
        ]
        texts = tuple(part for part in said if isinstance(part, Text))
        if text_of(texts).strip() or any(isinstance(part, _Asked) for part in said):
            self._turns.append(_Reply(said))
            self._waiting.add(_Reply(said))

    def _ask(self, call: ToolCall) -> _Asked:
        heard = identity = plain_text(call.id)
        if not identity.strip() or identity in self._used:
            taken = (self._ids, self._used)
            identity = next(one for one in self._fresh if not any(one in ids for ids in taken))
        self._used.add(identity)
        name = _FOREIGN.sub("_", call.name)[:_LONGEST_NAME] or "unnamed"
        arguments = plain_object(call.arguments)
        return _Asked(heard, replace(call, id=identity, name=name, arguments=arguments))

    def _answer(self, result: ToolResult) -> None:
        """Give it to the latest reply that waits for it; one without an id to who waits first."""
        heard = plain_text(result.call)
        asked = self._waiting.take(heard)
        if asked is not None:
            asked.result = result


def _plain(parts: Iterable[Part]) -> list[Part]:
    """`parts` without empty texts."""
    plain: list[Part] = []
    for part in parts:
        if isinstance(part, Text | Thinking):
            text = plain_text(part.text)
            part = part if text == part.text else replace(part, text=text)  # noqa: PLW2901
        if not isinstance(part, Text) or part.text:
            plain.append(part)
    return plain


def _written(reply: _Reply) -> list[Message]:
    asked = reply.asked
    parts = tuple(part.call if isinstance(part, _Asked) else part for part in reply.parts)
    message = Message(role="assistant", parts=parts)
    results = tuple(_told(one) for one in asked)
    return [message, Message(role="tool", parts=results)] if results else [message]


def _told(asked: _Asked) -> ToolResult:
    if asked.result is None:
        content = (Text(text=INTERRUPTED),)
        return ToolResult(call=asked.call.id, content=content, is_error=True)
    told = tuple(p for p in _plain(asked.result.content) if isinstance(p, Text | Blob))
    if not text_of(told).strip() and not any(isinstance(part, Blob) for part in told):
        told = (Text(text=NO_OUTPUT),)
    return replace(asked.result, call=asked.call.id, content=told)


def plain_object(fields: JsonObject) -> JsonObject:
    """`fields` as JSON that every parser takes; {} where they are nested beyond reason."""
    try:
        return cast("JsonObject", _plain_value(fields))
    except RecursionError:
        return {}


def _plain_value(value: Any) -> Any:
    match value:
        case str():
            return plain_text(value)
        case list():
            return [_plain_value(item) for item in cast("list[Any]", value)]
        case dict():
            fields = cast("dict[Any, Any]", value)
            return {plain_text(str(k)): _plain_value(v) for k, v in fields.items()}
        case float():
            return value if math.isfinite(value) else None
        case int():
            return value if -(1 << 63) <= value < 1 << 64 else str(value)
        case _:
            return value
