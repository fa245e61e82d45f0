"""What a front dialect is: it reads a client's request and tells the reply in the client's words.

A dialect knows nothing of sockets, keys or providers: bytes in, our own types out, and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from teahouse.core.events import StreamEvent
from teahouse.llm.embedding import EmbedRequest
from teahouse.llm.provider import ModelRequest


class Asked(Struct, frozen=True, kw_only=True):
    """A client's request in our own words.

    `model` is the name as the client wrote it, None where it named none; `request.model` is not
    read. `counts`: whether the stream tells the usage. `loads`: it asks for nothing but that the
    model be ready. `conversation` is whatever the client gave
    to say which calls belong together: it keeps a weighted alias on one model.
    """

    model: str | None
    request: ModelRequest
    stream: bool
    counts: bool = True
    loads: bool = False
    conversation: str | None = None


class EmbedAsked(Struct, frozen=True, kw_only=True):
    """`model` is the name as the client wrote it; `request.model` is not read."""

    model: str
    request: EmbedRequest


class Refusal(Struct, frozen=True, kw_only=True):
    """An error for a client: `kind` is ours (`server.gateway.refusals`), each dialect has its own
    word for it; `message` is for a person, with what to do."""

    status: int
    kind: str
    code: str
    message: str


class Voice(Protocol):
    """Tells one reply; made anew for each call. All methods give bytes ready to be sent."""

    def begin(self) -> bytes:
        """What stands before all else in a stream: sent with the first event or heartbeat."""
        ...

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        """What one batch of events comes to; with `ReplyDone` also all that ends the stream."""
        ...

    def beat(self) -> bytes:
        """A sign of life while nothing comes; b"" where the dialect has none."""
        ...

    def fail(self, refusal: Refusal, /) -> bytes:
        """The one error of a stream that has begun, and its end."""
        ...

    def whole(self, events: Sequence[StreamEvent], /) -> bytes:
        """The reply in one piece, for a client that asked for no stream."""
        ...


class Dialect(Protocol):
    """One per endpoint path."""

    @property
    def stream_type(self) -> str:
        """The media type of a stream."""
        ...

    def read(self, body: bytes, /) -> Asked:
        """Raises `Invalid` that names the field, its value and what would be right."""
        ...

    def voice(self, asked: Asked, model: str, /) -> Voice:
        """`model` is the name that the client is told: the one it asked for."""
        ...

    def refuse(self, refusal: Refusal, /) -> bytes:
        """The JSON body of an answer that is an error."""
        ...
