"""The card of a call that waits, in the bubble; and which tools an agent may use, on its page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from teahouse.core import i18n
from tests.browser.conftest import PHONE, House, Visitor
from tests.browser.talk import ended, open_chat, tell
from tests.browser.words import say

ZH: i18n.Language = "zh-CN"
EVIL = 'what time [tool now {"zone": "UTC\\u202e<b>x</b>"}]'


def careful(page: Page, rule: str = "ask") -> None:
    """Let the first agent ask before it looks at the clock."""
    agent = page.request.get("/api/agents").json()["items"][0]["id"]
    changes = {"permissions": {"now": rule}}
    origin = {"origin": re.sub(r"(//[^/]*).*", r"\1", page.url)}
    assert page.request.patch(f"/api/agents/{agent}", data=changes, headers=origin).ok


def card(page: Page) -> Locator:
    return page.locator("section.appr")


@pytest.mark.parametrize("language", ["zh-CN", "zh-HK", "en-US"])
def test_a_card_shows_the_exact_call_and_an_answer_lets_it_go_on(
    shared_house: House, visit: Visitor, language: i18n.Language
) -> None:
    page = open_chat(visit, shared_house, language=language)
    careful(page)
    tell(page, EVIL)
    expect(card(page).locator(".cmd")).to_have_text('zone: "UTC\\u{202e}<b>x</b>"')
    expect(card(page)).to_contain_text(say(language, "approval.reason.rule"))
    expect(page.get_by_text(say(language, "chat.doing.waiting")).first).to_be_visible()
    page.reload()
    card(page).get_by_role("button", name=say(language, "approval.deny")).click()
    expect(ended(page)).to_contain_text("The person said no")
    expect(card(page)).to_have_count(0)
    page.locator("details.tl > summary").click()
    page.locator("details.ti > summary").click()
    expect(page.locator("details.ti .appr-done")).to_contain_text(say(language, "approval.denied"))


def test_the_keyboard_answers_a_card_that_has_the_focus(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    careful(page)
    tell(page, "what time [tool now]")
    card(page).focus()
    page.keyboard.press("a")
    expect(ended(page)).to_contain_text("now: ")


def test_always_asks_for_what_before_it_is_given(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house, size=PHONE, theme="dark")
    careful(page)
    tell(page, 'what time [tool now {"zone": "Asia/Shanghai"}]')
    card(page).get_by_role("button", name=say(ZH, "approval.always"), exact=True).click()
    card(page).get_by_role("button", name=say(ZH, "approval.always.exact")).click()
    ended(page)
    [grant] = page.request.get("/api/grants").json()["items"]
    assert grant["arguments"] == {"zone": "Asia/Shanghai"}
    tell(page, 'again [tool now {"zone": "Asia/Shanghai"}]')
    ended(page, 2)


def test_a_rule_is_chosen_on_the_agents_page(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/contacts")
    careful(page, "allow")
    page.locator(".list a.lr").first.click()
    page.get_by_role("tab", name=say(ZH, "agents.tools")).click()
    choice = page.locator(".set select").first
    expect(choice).to_have_value("allow")
    choice.select_option("deny")
    agent = page.request.get("/api/agents").json()["items"][0]["id"]
    expect(choice).to_have_value("deny")
    rules = page.request.get(f"/api/agents/{agent}").json()["permissions"]
    assert rules == {"now": "deny"}
    choice.select_option("")
    expect(choice).to_have_value("")
