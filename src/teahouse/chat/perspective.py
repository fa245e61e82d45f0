"""A conversation's log as one participant sees it: the one way from posts to messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from teahouse.core.messages import (
    Blob,
    Message,
    Part,
    ParticipantId,
    Post,
    Text,
    ToolCall,
    ToolResult,
    text_of,
)
from teahouse.llm.tool_run import INTERRUPTED, failed


def project(posts: Iterable[Post], viewer: ParticipantId) -> tuple[Message, ...]:
    """Own posts become `assistant` and `tool` messages, all others `user`."""
    messages: list[Message] = []
    for post in posts:
        if post.author == viewer:
            messages += _own(post.parts)
            continue
        spoken = tuple(part for part in post.parts if isinstance(part, Text | Blob))
        if any(isinstance(part, Blob) for part in spoken) or text_of(spoken).strip():
            messages.append(Message(role="user", parts=spoken))
    return tuple(messages)


def _own(parts: Sequence[Part]) -> list[Message]:
    """Split a post into the replies and tool results it was made of; each call gets a result."""
    messages: list[Message] = []
    said: list[Part] = []
    results: dict[str, ToolResult] = {}
    answered = {part.call for part in parts if isinstance(part, ToolResult)}
    for part in parts:
        if isinstance(part, ToolResult):
            results[part.call] = part
            continue
        calls = _calls(said)  # models may say or think something between two calls of one reply
        awaited = any(call.id in answered for call in calls)
        if results or (calls and not awaited and not isinstance(part, ToolCall)):
            messages += _step(said, results)
            said, results = [], {}
        said.append(part)
    return [*messages, *_step(said, results)]


def _step(said: Sequence[Part], results: Mapping[str, ToolResult]) -> list[Message]:
    if not text_of(tuple(said)).strip() and not _calls(said):
        return []  # thinking alone, or nothing at all: strict endpoints refuse an empty reply
    reply = Message(role="assistant", parts=tuple(said))
    answers = tuple(results.get(call.id) or failed(call, INTERRUPTED) for call in _calls(said))
    return [reply, Message(role="tool", parts=answers)] if answers else [reply]


def _calls(parts: Iterable[Part]) -> list[ToolCall]:
    return [part for part in parts if isinstance(part, ToolCall)]
