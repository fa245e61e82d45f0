"""The short way to one model, for programs that use this layer alone.

async with connect("openai/gpt-4o", key="sk-…") as model:
    async for text in Chat(model).stream("Hello"): …
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.events import Emit, ReplyDone, StreamEvent
from teahouse.core.messages import Message
from teahouse.llm.client import Client, parse_model
from teahouse.llm.provider import ModelRequest
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.usage import Ledger


class Model(Struct, frozen=True):
    """One model and the client that asks it."""

    name: str  # vendor/model
    client: Client

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """As `Client.stream`; `request.model` does not count."""
        return self.client.stream(self.name, request)

    async def ask(self, request: ModelRequest, emit: Emit) -> tuple[Message, ReplyDone]:
        return await self.client.ask(self.name, request, emit)


@asynccontextmanager
async def connect(
    model: str,
    *,
    key: str | None = None,
    base_url: str | None = None,
    settings: ProviderSettings | None = None,
    ledger: Ledger | None = None,
) -> AsyncGenerator[Model]:
    """Open the way to `vendor/model` and close its connections at the end.

    The vendor is a row of `llm.vendors`, or `custom` with a `base_url`; `settings` holds what else
    can be said of an endpoint. Nothing is read from the environment. Raises `Invalid` and
    `SettingsError`.
    """
    vendor, _ = parse_model(model)
    settings = replace(settings or ProviderSettings(), vendor=vendor)
    if base_url is not None:
        settings = replace(settings, base_url=base_url)
    async with Transport() as transport:
        provider = build_provider(vendor, settings, key, transport)
        yield Model(model, Client({vendor: provider}, ledger=ledger))
