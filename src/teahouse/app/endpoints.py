"""The providers that the settings name, kept as they are named at this moment."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from urllib.parse import quote

from msgspec.structs import replace

from teahouse.config.live import LiveSettings
from teahouse.core.codec import encode
from teahouse.core.errors import ProviderError, SettingsError
from teahouse.core.events import StreamEvent
from teahouse.llm.media import BlobReader
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.reach import Ask, Item
from teahouse.llm.resume import Continuing
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS

log = logging.getLogger(__name__)

HIDDEN = "••••"
SHORTEST_SECRET = 8  # characters; shorter ones could be any word


class Endpoints:
    """`providers` is always the same mapping; its content follows the settings."""

    def __init__(self, transport: Transport, files: BlobReader) -> None:
        self._transport, self._files = transport, files
        self.providers: dict[str, Provider] = {}
        self._fixed: dict[str, Provider] = {}

    def fix(self, name: str, provider: Provider) -> None:
        """Offer a provider that comes from no setting, such as the embedded model."""
        self._fixed[name] = self.providers[name] = provider

    async def follow(self, settings: LiveSettings) -> None:
        """Take over the providers of `settings`. One that cannot be built, for want of a base URL
        say, must not keep the house shut: it says so when it is used."""
        fresh: dict[str, Provider] = {}
        for name, one in settings.providers.items():
            try:
                fresh[name] = self.build(name, one)
            except SettingsError as error:
                log.warning("Provider %s cannot be used: %s", name, error)
                fresh[name] = _Unusable(error)
        self.providers.clear()
        self.providers.update({**fresh, **self._fixed})

    def build(self, name: str, settings: ProviderSettings) -> Provider:
        """A provider called like a vendor is that vendor's. Raises `SettingsError`."""
        if settings.vendor == "custom" and name in VENDORS:
            settings = replace(settings, vendor=name)
        built = build_provider(name, settings, None, self._transport, files=self._files)
        secrets = _secrets(settings)
        return _Discreet(built, secrets) if secrets else built


class _Discreet:
    """Keeps secrets out of errors, which are stored and shown: some endpoints repeat the key that
    they refuse."""

    def __init__(self, inner: Provider, secrets: Sequence[str]) -> None:
        self._inner, self._secrets = inner, secrets

    def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]:
        return self.through(lambda inner: inner.stream(request))

    async def through(self, ask: Ask[Item], /) -> AsyncGenerator[Item, None]:
        try:
            async with aclosing(ask(self._inner)) as items:
                async for item in items:
                    yield item
        except ProviderError as error:
            self._hush(error)
            raise

    async def models(self) -> Sequence[ModelInfo]:
        try:
            return await self._inner.models()
        except ProviderError as error:
            self._hush(error)
            raise

    def continues(self, model: str, /) -> bool:
        """As `llm.resume` asks."""
        return isinstance(self._inner, Continuing) and self._inner.continues(model)

    def _hush(self, error: ProviderError) -> None:
        error.values = {name: self._hushed(value) for name, value in error.values.items()}
        error.args = (error.problem().message,)

    def _hushed(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
            # what an endpoint says is cut when it is long: in the middle of the key, perhaps
            cut = next((n for n in range(len(secret), 3, -1) if text.endswith(secret[:n])), 0)
            text = text[: len(text) - cut] + HIDDEN if cut else text
        return text


def _secrets(settings: ProviderSettings) -> list[str]:
    """The keys and all that headers hold, also without their `Bearer`, in every form in which an
    endpoint may repeat them; the longest first."""
    keys = settings.api_key or "", *settings.api_keys.values()
    values = *keys, *settings.headers.values()
    words = {word for value in values for word in (value, *value.split())}
    forms = {form for word in words if len(word) >= SHORTEST_SECRET for form in _forms(word)}
    return sorted(forms, key=len, reverse=True)


def _forms(secret: str) -> Iterator[str]:
    """As it is, and as it stands in addresses, in JSON, and encoded."""
    data = secret.encode()
    yield from (secret, quote(secret), quote(secret, safe=""), encode(secret).decode()[1:-1])
    yield from (b64encode(data).decode().rstrip("="), data.hex())


class _Unusable:
    def __init__(self, error: SettingsError) -> None:
        self._error = error

    def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]:
        return self.through(lambda inner: inner.stream(request))

    async def through(self, ask: Ask[Item], /) -> AsyncGenerator[Item, None]:
        raise self._error
        async for item in ask(self):
            yield item

    async def models(self) -> Sequence[ModelInfo]:
        raise self._error
