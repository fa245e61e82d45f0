"""Histories with tools, retold for models that were never taught the form of calls and results.

A small model that sees calls in its history goes on to write calls. So a result stands in the
message that made it necessary, in plain words, and the call itself is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from teahouse.core import i18n
from teahouse.core.messages import Message, Part, Text, ToolCall, ToolResult

_LONGEST_RESULT = 4000  # characters
_LONGEST_OLD_RESULT = 400
_HAN = re.compile(r"[\u3400-\u9fff]")


class Turn(Struct, kw_only=True):
    """A person's message and what followed it, up to the next one."""

    text: str
    calls: list[ToolCall] = field(default_factory=list[ToolCall])


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Several messages of people in a row are one turn: they are answered together."""
    turns: list[Turn] = []
    answered = True
    for message in messages:
        if message.role == "user":
            if answered:
                turns.append(Turn(text=message.text))
            else:
                turns[-1].text += "\n" + message.text
            answered = False
        elif message.role != "system" and turns:
            answered = True
            turns[-1].calls += message.tool_calls
    return turns


def spoken(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same talk without calls; each result is told with the message before it."""
    told: list[Message] = []
    asked = -1  # where the latest message of a person stands
    results: list[tuple[str, ToolResult]] = []
    names: dict[str, str] = {}

    def settle(longest: int) -> None:
        if results and asked >= 0:
            told[asked] = _with_results(told[asked], results, longest)
        results.clear()

    for message in messages:
        if message.role in {"system", "user"}:
            settle(_LONGEST_OLD_RESULT)
            told.append(message)
            asked = len(told) - 1 if message.role == "user" else asked
            continue
        names |= {call.id: call.name for call in message.tool_calls}
        found = [part for part in message.parts if isinstance(part, ToolResult)]
        results += [(names.get(result.call, "?"), result) for result in found]
        parts = _after_calls(message.parts)
        if parts:
            told.append(Message(role="assistant", parts=parts))
    settle(_LONGEST_RESULT)
    return tuple(told)


def _after_calls(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """What was said once all tools had answered; what led up to a call is no answer."""
    last = max(
        (i for i, part in enumerate(parts) if isinstance(part, ToolCall | ToolResult)), default=-1
    )
    return tuple(part for part in parts[last + 1 :] if isinstance(part, Text) and part.text.strip())


def _with_results(message: Message, results: list[tuple[str, ToolResult]], longest: int) -> Message:
    language = language_of(message.text)
    lines = [
        i18n.text(
            language,
            "prompts.local.tool_result",
            name=name,
            result=_words(result)[:longest],
        )
        for name, result in results
    ]
    request = i18n.text(language, "prompts.local.tool_answer")
    added = Text(text="\n".join(["\n", *lines, request]))
    return Message(role="user", parts=(*message.parts, added))


def _words(result: ToolResult) -> str:
    return " ".join(part.text for part in result.content if isinstance(part, Text))


def language_of(text: str) -> i18n.Language:
    return "zh-CN" if _HAN.search(text) else "en-US"
