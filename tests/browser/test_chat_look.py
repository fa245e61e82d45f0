"""The chat's states in light and dark, wide and narrow: no serious fault, nothing runs over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import House, Visitor
from tests.browser.talk import (
    ZH,
    answers,
    asked,
    conversation,
    ended,
    field,
    open_chat,
    release,
    tell,
)
from tests.browser.test_look import SIZES, serious_faults
from tests.browser.words import say

LOOKS = ("desk", "tablet", "phone", "small")


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """The conversation that was prepared in the house of this module."""
    return {}


def prepared(house: House, visit: Visitor, told: dict[str, str]) -> str:
    """A conversation with one of everything."""
    if "id" not in told:
        page = open_chat(visit, house)
        for count, text in enumerate(
            [
                "[markdown] 看看格式",
                "[think] 想一想",
                "[tool now] 几点了",
                "[fail 401] 会失败",
                "公式 $E=mc^2$ 和 $$\\frac{a}{b}$$ 见 https://example.com/很长的路径/" + "x" * 120,
                "[cut] 断在半路",
            ],
            1,
        ):
            tell(page, text)
            ended(page, count)
        told["id"] = conversation(page)
    return told["id"]


@pytest.mark.parametrize("look", [f"{s} {t}" for s in LOOKS for t in ("light", "dark")])
def test_a_full_conversation_has_no_serious_fault(
    shared_house: House,
    visit: Visitor,
    picture: Callable[[Page, str], Path],
    told: dict[str, str],
    look: str,
) -> None:
    size, theme = look.split()
    address = f"/chats/{prepared(shared_house, visit, told)}"
    page = visit(shared_house, address, theme=theme, size=SIZES[size])
    ended(page, 6)
    page.locator("details.tl summary").first.click()
    expect(page.locator(".code .sk").first).to_be_attached()
    picture(page, f"chat-{size}-{theme}")
    assert serious_faults(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= SIZES[size]["width"]
    log = page.get_by_role("log")
    assert log.evaluate("it => it.scrollWidth - it.clientWidth") <= 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_answer_being_written_has_no_serious_fault(
    shared_house: House,
    visit: Visitor,
    picture: Callable[[Page, str], Path],
    model: str,
    theme: str,
) -> None:
    page = open_chat(visit, shared_house, theme=theme)
    picture(page, f"chat-begin-{theme}")
    assert serious_faults(page) == []
    tell(page, f"[hold look-{theme}] 正在写")
    expect(answers(page)).to_contain_text("echo:")
    tell(page, "排队的一句")
    expect(asked(page)).to_have_count(2)
    field(page).fill("草稿")
    picture(page, f"chat-writing-{theme}")
    assert serious_faults(page) == []
    page.locator(".lr-w").first.hover()
    page.locator(".lr-w .ib").first.click()
    expect(page.get_by_role("menu")).to_be_visible()
    picture(page, f"chat-menu-{theme}")
    page.keyboard.press("Escape")
    release(model, f"look-{theme}")
    ended(page, 2)


def test_offline_and_refused_have_no_serious_fault(
    shared_house: House, visit: Visitor, picture: Callable[[Page, str], Path]
) -> None:
    visit.expect("ERR_INTERNET_DISCONNECTED")
    page = open_chat(visit, shared_house)
    tell(page, "先一句")
    ended(page)
    page.context.set_offline(True)
    tell(page, "离线写的")
    expect(page.get_by_text(say(ZH, "chat.offline", place=1))).to_be_visible()
    picture(page, "chat-offline")
    assert serious_faults(page) == []
    page.context.set_offline(False)
    ended(page, 2)
