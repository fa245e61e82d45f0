"""The providers that the settings name, kept as they are named at this moment."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence

from msgspec.structs import replace

from teahouse.config.live import LiveSettings
from teahouse.core.errors import SettingsError
from teahouse.core.events import StreamEvent
from teahouse.llm.media import BlobReader
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS

log = logging.getLogger(__name__)


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
        return build_provider(name, settings, None, self._transport, files=self._files)


class _Unusable:
    def __init__(self, error: SettingsError) -> None:
        self._error = error

    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]:
        raise self._error
        yield ()

    async def models(self) -> Sequence[ModelInfo]:
        raise self._error
