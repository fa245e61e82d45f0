"""From settings to a provider: vendors as rows, quirks as data, mistakes named."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from teahouse.core.errors import SettingsError
from teahouse.llm.profiles import Profile, profile_for
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS


def build(**settings: object) -> object:
    return build_provider("acme", ProviderSettings(**settings), None, Transport())  # type: ignore[arg-type]


@pytest.mark.parametrize("vendor", [name for name, row in VENDORS.items() if row.base_url])
def test_a_vendors_row_is_enough(vendor: str) -> None:
    url = urlsplit(VENDORS[vendor].base_url or "")

    assert build(vendor=vendor)
    assert url.scheme == "https" or url.hostname == "127.0.0.1", "keys go over TLS"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"vendor": "deepseak"}, "provider_vendor"),
        ({}, "provider_base_url"),
        ({"base_url": "api.example.com/v1"}, "provider_base_url"),
        ({"base_url": "ftp://example.com"}, "provider_base_url"),
        ({"base_url": "http://"}, "provider_base_url"),
        ({"vendor": "openai", "quirks": {"tools": "telepathy"}}, "provider_quirks"),
    ],
)
def test_a_mistake_in_the_settings_is_named(settings: dict[str, object], code: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build(**settings)

    assert caught.value.code == code


def test_a_vendor_that_is_almost_right_is_suggested() -> None:
    with pytest.raises(SettingsError) as caught:
        build(vendor="deepseak")

    assert "deepseek" in (caught.value.problem().hint or "")


@pytest.mark.parametrize(
    ("model", "temperature"),
    [
        ("gpt-5-mini", False),
        ("openai/gpt-5", False),
        ("o3", False),
        ("gpt-5-chat-latest", True),
        ("gpt-4o", True),
        ("deepseek-reasoner", False),
        ("deepseek-chat", True),
    ],
)
def test_models_that_refuse_a_temperature_get_none(model: str, temperature: bool) -> None:
    assert profile_for(Profile(), model, {}).temperature is temperature


def test_the_owners_quirks_win_over_what_we_know() -> None:
    profile = profile_for(Profile(), "gpt-5", {"temperature": True, "no_such_quirk": 1})

    assert profile.temperature is True
    assert profile.max_tokens == "max_completion_tokens"
