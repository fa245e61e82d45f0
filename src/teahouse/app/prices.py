"""What is known of a model's window and price: from the owner first, else from the vendor."""

from __future__ import annotations

from msgspec.structs import replace

from teahouse.config.live import LiveSettings
from teahouse.llm.catalog import FREE, Facts, published
from teahouse.llm.local.provider import NAME as LOCAL
from teahouse.llm.vendors import VENDORS


class Prices:
    """Follows the settings: a price that is changed counts from the next call on."""

    def __init__(self, settings: LiveSettings) -> None:
        self._settings = settings

    def facts(self, model: str) -> Facts:
        """Of `provider/model`. A vendor's price holds for its own endpoint, not for one that
        stands in another place and only speaks like it."""
        config = self._settings.config
        provider, _, name = model.partition("/")
        if provider == LOCAL:
            return replace(FREE, window=config.local_model.context)
        known = self._published(provider, name)
        window, price = config.windows.get(model), config.prices.get(model)
        if window is not None:
            known = replace(known, window=window)
        if price is not None:
            fresh, answer, cached, written = (*price, None, None)[:4]
            known = replace(
                known, input=fresh, output=answer, cached=cached, written=written, long=None
            )
        return known

    def _published(self, provider: str, name: str) -> Facts:
        settings = self._settings.config.providers.get(provider)
        if settings is None:
            return Facts()
        own = settings.vendor
        vendor = provider if own == "custom" and provider in VENDORS else own
        known, row = published(vendor, name), VENDORS.get(vendor)
        elsewhere = settings.base_url and row and settings.base_url.rstrip("/") != row.base_url
        return Facts(window=known.window) if elsewhere else known
