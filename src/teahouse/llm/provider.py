"""The one seam between us and every model vendor."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct, field

from teahouse.core.events import StreamEvent
from teahouse.core.messages import JsonObject, Message
from teahouse.llm.settings import WireName


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as a model sees it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject


class OneTool(Struct, frozen=True, kw_only=True, tag="one_tool"):
    """The reply must call the tool of this name."""

    name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | OneTool
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
"""How hard a model is to think before it speaks; `none`: not at all."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call. `model` is the vendor's own name. What is None is left to the vendor; what a
    dialect has no word for is left out of its body.

    A provider takes `messages` that are whole, as `llm.repair` makes them; `Client` sees to that.
    `extra` goes into the body as it is, and `own[DIALECT]` where that dialect is spoken.
    `thinking_tokens` is the most that may be thought, `media` holds the bytes of blobs that lie in
    no store, by their `file`. A blob whose `file` is an http(s) address is fetched by the vendor.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_calls: bool | None = None  # whether one reply may call several tools
    effort: Effort | None = None
    thinking_tokens: int | None = None
    schema: JsonObject | None = None  # the reply must be JSON of this schema
    media: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    extra: JsonObject = field(default_factory=dict[str, object])
    own: Mapping[WireName, JsonObject] = field(default_factory=dict[WireName, JsonObject])


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
