"""The vocabulary every layer shares: parts, messages, posts and the people who write them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from teahouse.core.errors import Problem

JsonObject: TypeAlias = dict[str, Any]
PersonId: TypeAlias = str  # u_…
AgentId: TypeAlias = str  # a_…
ParticipantId: TypeAlias = str  # an agent or a person; later also a group or a flow
ConversationId: TypeAlias = str  # c_…
PostId: TypeAlias = str  # p_…
RunId: TypeAlias = str  # r_…


class Text(Struct, frozen=True, kw_only=True, tag="text"):
    text: str


class Thinking(Struct, frozen=True, kw_only=True, tag="thinking", omit_defaults=True):
    """What a model thought before it spoke. `opaque` goes back to the same vendor untouched."""

    text: str
    opaque: JsonObject | None = None


class Blob(Struct, frozen=True, kw_only=True, tag="blob", omit_defaults=True):
    """A file. The bytes lie in the blob store under `file`, never in messages."""

    file: str  # f_…
    media_type: str
    name: str
    size: int  # bytes


class ToolCall(Struct, frozen=True, kw_only=True, tag="tool_call", omit_defaults=True):
    """A model's wish to run a tool.

    `malformed` holds the arguments as they came when they were no JSON object; such a call is
    never run, the model is told instead. `opaque` goes back to the same vendor untouched.
    """

    id: str
    name: str
    arguments: JsonObject
    malformed: str | None = None
    opaque: JsonObject | None = None


class ToolResult(Struct, frozen=True, kw_only=True, tag="tool_result", omit_defaults=True):
    call: str
    content: tuple[Text | Blob, ...]
    is_error: bool = False


Part: TypeAlias = Text | Thinking | Blob | ToolCall | ToolResult
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


class Message(Struct, frozen=True, kw_only=True):
    """What a model sees. A projection of posts, never the record itself."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return text_of(self.parts)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one call, as reported; `estimated` when the provider reported none.

    `input` is all that went in, whatever the vendor's own word counts: `cached` (read from its
    cache) and `written` (into it) are parts of that. `reasoning` is the part of `output` that was
    thought.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    reasoning: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            written=self.written + other.written,
            reasoning=self.reasoning + other.reasoning,
            estimated=self.estimated or other.estimated,
        )


Ending: TypeAlias = Literal["stop", "length", "filtered", "stopped", "limit", "failed"]
"""Why an agent's post ends: by itself, cut by length, filtered, stopped by a person, by one of the
run's own limits, or by an error (then `problem` says which, and the parts are what was there)."""


class Post(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A fact in a conversation's log: who said what, where and when. Posts form a tree.

    An agent's post also tells what it took: the tokens of its replies, and the milliseconds of the
    attempt that ended in it.
    """

    id: PostId
    conversation: ConversationId
    parent: PostId | None
    author: ParticipantId
    parts: tuple[Part, ...]
    at: datetime
    reply_to: PostId | None = None
    mentions: tuple[ParticipantId, ...] = ()
    client_id: str | None = None
    run: RunId | None = None
    ending: Ending | None = None
    problem: Problem | None = None
    usage: Usage | None = None
    elapsed_ms: int | None = None

    @property
    def text(self) -> str:
        return text_of(self.parts)


PersonRole: TypeAlias = Literal["owner", "admin", "member", "guest"]


class Person(Struct, frozen=True, kw_only=True):
    """Somebody with an account. `epoch` rises whenever rights change and ends older sessions."""

    id: PersonId
    name: str
    role: PersonRole
    epoch: int
    created_at: datetime


def text_of(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))
