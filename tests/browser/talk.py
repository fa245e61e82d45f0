"""What every test of the chat does: open one, say something, look at what came."""

from __future__ import annotations

import urllib.request
from typing import Any

from playwright.sync_api import Locator, Page, ViewportSize, expect

from teahouse.core import i18n
from tests.browser.conftest import DESK, House, Visitor
from tests.browser.words import say

ZH: i18n.Language = "zh-CN"


def open_chat(
    visit: Visitor,
    house: House,
    *,
    language: i18n.Language = ZH,
    theme: str = "light",
    size: ViewportSize = DESK,
) -> Page:
    """The beginning of a conversation with the first agent."""
    page = visit(house, language=language, theme=theme, size=size)
    agent = page.request.get("/api/agents").json()["items"][0]
    page.goto(f"/chats/{agent['id']}")
    expect(field(page)).to_be_visible()
    return page


def field(page: Page) -> Locator:
    return page.locator("textarea.comp-t")


def tell(page: Page, text: str) -> None:
    field(page).fill(text)
    field(page).press("Enter")


def asked(page: Page) -> Locator:
    return page.locator("article.m.me")


def answers(page: Page) -> Locator:
    return page.locator("article.m:not(.me)")


def ended(page: Page, count: int = 1) -> Locator:
    """Waits until so many answers are there and none is being made; returns the last."""
    expect(answers(page)).to_have_count(count)
    expect(page.locator("article[aria-busy]")).to_have_count(0)
    return answers(page).last


def stop_button(page: Page, language: i18n.Language = ZH) -> Locator:
    return page.get_by_role("button", name=say(language, "chat.stop"), exact=True)


def conversation(page: Page) -> str:
    page.wait_for_url("**/chats/c_*")
    return page.url.rpartition("/")[2]


def posts(page: Page) -> list[dict[str, Any]]:
    """What the server has kept."""
    answer = page.request.get("/api/messages", params={"conversation": conversation(page)})
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def text_of(post: dict[str, Any]) -> str:
    return "".join(part["text"] for part in post["parts"] if part["type"] == "text")


def release(model: str, gate: str) -> None:
    """Let the scripted model go on behind `[hold GATE]`."""
    url = model.removesuffix("/v1") + f"/release/{gate}"
    with urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=5):
        pass
