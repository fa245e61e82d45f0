"""What goes over the socket besides envelopes: the frames a reader sends, and our short answers."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from teahouse.core.events import VERSION, RunFailed
from teahouse.core.messages import ConversationId, RunId


class Subscribe(Struct, frozen=True, kw_only=True, tag="subscribe", forbid_unknown_fields=True):
    """Follow a conversation, from the event after `after`; without it from the latest posts."""

    conversation: ConversationId
    after: int | None = None
    ref: str | None = None


class Unsubscribe(Struct, frozen=True, kw_only=True, tag="unsubscribe", forbid_unknown_fields=True):
    conversation: ConversationId
    ref: str | None = None


class Ping(Struct, frozen=True, kw_only=True, tag="ping", forbid_unknown_fields=True):
    ref: str | None = None


class Typing(Struct, frozen=True, kw_only=True, tag="typing", forbid_unknown_fields=True):
    """Somebody is writing. Allowed to members; nobody is told yet, as a house has no groups yet."""

    conversation: ConversationId
    ref: str | None = None


class Stop(Struct, frozen=True, kw_only=True, tag="stop", forbid_unknown_fields=True):
    run: RunId
    ref: str | None = None


Inbound: TypeAlias = Subscribe | Unsubscribe | Ping | Typing | Stop


class Pong(Struct, frozen=True, kw_only=True, tag="pong", omit_defaults=True):
    ref: str | None = None


class Refused(Struct, frozen=True, kw_only=True):
    """The answer to a frame that was not obeyed; `event.ref` is the frame's own `ref`."""

    v: int = VERSION
    event: RunFailed
