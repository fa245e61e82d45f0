"""The one seam between us and every model vendor."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct, field

from teahouse.core.events import StreamEvent
from teahouse.core.messages import JsonObject, Message


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as a model sees it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call. `model` is the vendor's own name; `extra` goes into the request body as it is.

    A provider takes `messages` that are whole, as `llm.repair` makes them; `Client` sees to that.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    schema: JsonObject | None = None  # the reply must be JSON of this schema
    extra: JsonObject = field(default_factory=dict[str, object])


class ModelInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an endpoint says of a model; None where it says nothing."""

    id: str
    context_window: int | None = None
    vision: bool | None = None


class Provider(Protocol):
    """Speaks one dialect to one endpoint.

    A stream ends with exactly one `ReplyDone` or raises `ProviderError`, never both. One item is
    what one read brought. Closing the generator closes the socket, in every phase.
    """

    def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]: ...

    async def models(self) -> Sequence[ModelInfo]:
        """Ask the endpoint which models it serves; raises `ProviderError`."""
        ...
