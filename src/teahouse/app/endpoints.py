"""The providers that the settings name, kept as they are named at this moment."""

from __future__ import annotations

from msgspec.structs import replace

from teahouse.config.live import LiveSettings
from teahouse.llm.media import BlobReader
from teahouse.llm.provider import Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS


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
        """Take over the providers of `settings`; raises `SettingsError` and changes nothing."""
        fresh = {name: self.build(name, one) for name, one in settings.providers.items()}
        self.providers.clear()
        self.providers.update({**fresh, **self._fixed})

    def build(self, name: str, settings: ProviderSettings) -> Provider:
        """A provider called like a vendor is that vendor's. Raises `SettingsError`."""
        if settings.vendor == "custom" and name in VENDORS:
            settings = replace(settings, vendor=name)
        return build_provider(name, settings, None, self._transport, files=self._files)
