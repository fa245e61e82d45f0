"""From what the owner says of an endpoint to a provider that speaks to it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec

from teahouse.core.errors import SettingsError
from teahouse.llm.media import BlobReader
from teahouse.llm.profiles import Profile, profile_for, with_quirks
from teahouse.llm.provider import Provider
from teahouse.llm.settings import ProviderSettings, Timeouts, WireName
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS
from teahouse.llm.wire.anthropic import Anthropic
from teahouse.llm.wire.gemini import Gemini
from teahouse.llm.wire.ollama import Ollama
from teahouse.llm.wire.openai_chat import OpenAIChat
from teahouse.llm.wire.openai_responses import OpenAIResponses


class Wire(Protocol):
    """Makes a provider that speaks one dialect."""

    def __call__(
        self,
        name: str,
        /,
        *,
        base_url: str,
        key: str | None,
        headers: Mapping[str, str],
        profile: Callable[[str], Profile],
        timeouts: Timeouts,
        transport: Transport,
        files: BlobReader | None,
    ) -> Provider: ...


WIRES: Final[Mapping[WireName, Wire]] = {
    "openai_chat": OpenAIChat,
    "openai_responses": OpenAIResponses,
    "anthropic": Anthropic,
    "gemini": Gemini,
    "ollama": Ollama,
}


def build_provider(
    name: str,
    settings: ProviderSettings,
    key: str | None,
    transport: Transport,
    *,
    files: BlobReader | None = None,
) -> Provider:
    """`key` is the opened secret; `files` gives pictures their bytes. Raises `SettingsError`."""
    if settings.api_keys:
        from teahouse.llm.key_pool import KeyPool

        one = msgspec.structs.replace(settings, api_key=None, api_keys={})
        keys = {"": key or settings.api_key, **settings.api_keys}
        return KeyPool(
            {
                each: build_provider(name, one, value, transport, files=files)
                for each, value in keys.items()
                if value
            }
        )
    vendor = VENDORS.get(settings.vendor)
    if vendor is None:
        near = difflib.get_close_matches(settings.vendor, VENDORS, n=1)
        known = near[0] if near else ", ".join(VENDORS)
        raise SettingsError("provider_vendor", provider=name, vendor=settings.vendor, known=known)
    base_url = settings.base_url or vendor.base_url or ""
    place = urlsplit(base_url)
    if place.scheme not in {"http", "https"} or not place.netloc:
        raise SettingsError("provider_base_url", provider=name, value=base_url)
    if not place.path.strip("/"):
        base_url = base_url.rstrip("/") + vendor.path
    try:
        base = with_quirks(vendor.profile, settings.quirks)
    except msgspec.ValidationError as error:
        raise SettingsError("provider_quirks", provider=name, detail=error) from error
    key, headers = (key or settings.api_key or "").strip() or None, settings.headers
    if key and vendor.key_header:
        key, headers = None, {vendor.key_header: key, **headers}
    provider = WIRES[settings.wire or vendor.wire](
        name,
        base_url=base_url,
        key=key,
        headers=headers,
        profile=lambda model: profile_for(base, model, settings.quirks),
        timeouts=settings.timeouts,
        transport=transport,
        files=files,
    )
    if base.tools == "native":
        return provider
    from teahouse.llm.schema_tools import SchemaTools

    return SchemaTools(provider)
