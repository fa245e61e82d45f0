"""The first-run guide, from nothing to the chats."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from teahouse.core.i18n import LANGUAGES, Language
from tests.browser.conftest import House, Visitor
from tests.browser.words import say

NAMES: dict[Language, str] = {"zh-CN": "简体中文", "zh-HK": "繁體中文", "en-US": "English"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_leads_from_nothing_into_the_house(
    new_house: House, visit: Visitor, model: str, language: Language
) -> None:
    page = visit(new_house, language="fr-FR", log_in=False)
    page.get_by_text(NAMES[language], exact=True).click()
    expect(page.locator("html")).to_have_attribute("lang", language)

    page.get_by_label(say(language, "setup.name")).fill("林小满")
    password = page.get_by_label(say(language, "setup.password"), exact=True)
    password.fill("short")
    page.get_by_role("button", name=say(language, "setup.owner.go")).click()
    expect(page.get_by_role("alert")).to_be_visible()
    password.fill("long enough to keep")
    page.get_by_role("button", name=say(language, "setup.owner.go")).click()

    page.get_by_label(say(language, "setup.provider")).check()
    page.get_by_label(say(language, "models.vendor"), exact=True).select_option("own")
    page.get_by_label(say(language, "models.name")).fill("mine")
    page.get_by_role("textbox", name=say(language, "models.model"), exact=True).fill("fake")
    page.get_by_label(say(language, "models.url")).fill("http://127.0.0.1:9/v1")
    enter = page.get_by_role("button", name=say(language, "setup.enter"))
    page.get_by_role("button", name=say(language, "models.test"), exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("mine")
    expect(enter).to_be_disabled()

    page.get_by_label(say(language, "models.url")).fill(model)
    page.get_by_role("button", name=say(language, "models.test"), exact=True).click()
    expect(page.get_by_text(say(language, "models.test.ok", model="mine/fake"))).to_be_visible()
    enter.click()
    expect(page).to_have_url(f"{new_house.url}/chats")
    settings = page.request.get("/api/settings").json()
    assert settings["language"] == language
    assert settings["default_model"] == "mine/fake"
    agents = page.request.get("/api/agents").json()["items"]
    assert len(agents) == 3

    page.get_by_role("main").get_by_text(agents[0]["name"]).first.click()
    said = "Hello, 你好"
    page.get_by_role("main").get_by_role("textbox").fill(said)
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text(f"echo: {said}")
    page.reload()
    expect(page.get_by_role("log")).to_contain_text(f"echo: {said}")


def test_a_house_without_any_model_says_so_and_where_to_change_it(
    new_house_without_model: House, visit: Visitor
) -> None:
    page = visit(new_house_without_model, language="en-US", log_in=False)
    page.get_by_label("Password", exact=True).fill("long enough to keep")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=say("en-US", "setup.without_model")).click()
    expect(page.get_by_text(say("en-US", "shell.model.none"))).to_be_visible()
    page.get_by_role("link", name=say("en-US", "shell.model.connect")).click()
    expect(page.get_by_role("heading", name="Models", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Models", exact=True)).to_be_visible()
