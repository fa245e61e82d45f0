"""Windows and prices: the owner's own first, else the vendor's for the vendor's own endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from teahouse.app.prices import Prices
from teahouse.config.live import LiveSettings
from teahouse.core.errors import SettingsError
from teahouse.core.events import Usage
from teahouse.llm.catalog import FREE, Facts

pytestmark = pytest.mark.anyio

TOML = """
[providers.openai]
[providers.mine]
vendor = "openai"
[providers.proxy]
vendor = "openai"
base_url = "http://127.0.0.1:9/v1"

[prices]
"proxy/gpt-5" = [1, 2.5]
"mine/gpt-5-nano" = [3, 4, 0.5, 6]

[windows]
"proxy/other" = 32768
"""


class NoSecrets:
    async def put(self, name: str, value: str, /) -> None: ...
    async def get(self, name: str, /) -> str | None: ...
    async def remove(self, name: str, /) -> None: ...


async def settings(home: Path, toml: str = TOML) -> LiveSettings:
    (home / "config.toml").write_text(toml, encoding="utf-8")
    return await LiveSettings.open(home, {}, NoSecrets())


async def test_a_vendors_price_holds_for_its_own_endpoint(tmp_path: Path) -> None:
    prices = Prices(await settings(tmp_path))

    assert prices.facts("openai/gpt-5").input == 1.25
    assert prices.facts("mine/gpt-5").input == 1.25
    assert prices.facts("proxy/gpt-5-mini") == Facts(window=400_000)
    assert prices.facts("nobody/gpt-5") == Facts()


async def test_the_owners_word_counts_more(tmp_path: Path) -> None:
    live = await settings(tmp_path)
    prices = Prices(live)

    proxied, nano = prices.facts("proxy/gpt-5"), prices.facts("mine/gpt-5-nano")
    assert (proxied.input, proxied.output, proxied.cached) == (1, 2.5, None)
    assert nano.cost(Usage(input=1_000_000, cached=1_000_000)) == 0.5
    assert nano.cost(Usage(input=1_000_000, written=1_000_000)) == 6
    assert prices.facts("proxy/other") == Facts(window=32768)
    await live.patch({"windows": {"proxy/other.1": 1000}, "prices": {"proxy/other.1": [1, 1]}})
    assert prices.facts("proxy/other.1") == Facts(window=1000, input=1, output=1)


async def test_the_embedded_model_costs_nothing(tmp_path: Path) -> None:
    facts = Prices(await settings(tmp_path)).facts("local/qwen2.5-coder-0.5b")

    assert (facts.input, facts.output, facts.window) == (FREE.input, FREE.output, 8192)


async def test_a_price_has_two_to_four_numbers(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"prices\.a/b") as caught:
        await settings(tmp_path, '[prices]\n"a/b" = [1]\n')
    assert "[0.5, 2]" in (caught.value.problem().hint or "")
