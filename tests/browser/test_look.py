"""Every screen in light and dark, on a desk and on a phone: no serious fault, nothing runs over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.conftest import DESK, PHONE, House, Visitor

SERIOUS = {"serious", "critical"}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SCREENS = {
    "chats": "/chats",
    "chat": "/chats/{chat}",
    "contacts": "/contacts",
    "agent": "/contacts/{agent}",
    "usage": "/usage",
    "settings": "/settings",
    "settings-models": "/settings/models",
    "settings-keys": "/settings/keys",
    "not-found": "/nowhere",
}
SIZES: dict[str, ViewportSize] = {
    "desk": DESK,
    "laptop": {"width": 1024, "height": 768},
    "tablet": {"width": 768, "height": 1024},
    "phone": PHONE,
    "small": {"width": 320, "height": 640},
}


def serious_faults(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:240]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def quiet(page: Page) -> None:
    """The screen has what it waits for."""
    expect(page.locator("#content")).to_be_attached()
    page.wait_for_load_state("networkidle")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


@pytest.fixture(scope="module")
def ids(browser: Browser, shared_house: House) -> dict[str, str]:
    """An agent, and a chat in which it has answered with all that Markdown has."""
    visitor = Visitor(browser)
    page = visitor(shared_house)
    agent = page.request.get("/api/agents").json()["items"][0]["id"]
    said = page.request.post(
        "/api/messages",
        data={"agent": agent, "text": "[markdown]"},
        headers={"Origin": shared_house.url},
    ).json()
    page.goto(f"/chats/{said['post']['conversation']}")
    expect(page.get_by_role("log").get_by_role("table")).to_be_visible()
    visitor.close()
    return {"agent": agent, "chat": said["post"]["conversation"]}


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_has_no_serious_fault(
    shared_house: House,
    visit: Visitor,
    picture: Callable[[Page, str], Path],
    ids: dict[str, str],
    screen: str,
) -> None:
    path = SCREENS[screen].format(**ids)
    for size, language in (("desk", "zh-CN"), ("phone", "en-US")):
        page = visit(shared_house, path, language=language, size=SIZES[size])
        quiet(page)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            picture(page, f"{screen}-{size}-{theme}")
            assert serious_faults(page) == [], f"{size}, {theme}"


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_runs_over_the_edge(
    shared_house: House, visit: Visitor, ids: dict[str, str], screen: str
) -> None:
    path = SCREENS[screen].format(**ids)
    for sizes in (("desk", "laptop", "tablet"), ("phone", "small")):
        page = visit(shared_house, path, language="en-US", size=SIZES[sizes[0]])
        quiet(page)
        for size in sizes:
            page.set_viewport_size(SIZES[size])
            over = page.evaluate(
                """() => [...document.querySelectorAll('body *')]
                  .filter(it => it.checkVisibility({checkOpacity: true}))
                  .filter(it => !it.closest('.sr, .skip, pre'))
                  .filter(it => it.getBoundingClientRect().right > innerWidth + 1)
                  .map(it => it.outerHTML.slice(0, 120))"""
            )
            assert over == [], size


def test_the_door_and_the_guide_have_no_serious_fault(
    new_house: House, shared_house: House, visit: Visitor, picture: Callable[[Page, str], Path]
) -> None:
    for name, house in (("guide", new_house), ("door", shared_house)):
        for size in ("desk", "phone"):
            page = visit(house, size=SIZES[size], log_in=False)
            expect(page.locator(".fr-f")).to_be_visible()
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                picture(page, f"{name}-{size}-{theme}")
                assert serious_faults(page) == [], f"{size}, {theme}"


def test_a_dialog_and_a_menu_have_no_serious_fault(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/contacts", theme="dark")
    quiet(page)
    page.locator(".list .pane-h button").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious_faults(page) == []
    page.keyboard.press("Escape")
    page.locator("body").press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious_faults(page) == []
    page.keyboard.press("Escape")
    page.locator(".me-b").click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert serious_faults(page) == []


def test_the_keyboard_alone_goes_everywhere(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/chats")
    quiet(page)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Control+2")
    expect(page).to_have_url(f"{shared_house.url}/contacts")
    page.keyboard.press("Control+3")
    expect(page).to_have_url(f"{shared_house.url}/usage")
    page.keyboard.press("Control+4")
    expect(page).to_have_url(f"{shared_house.url}/settings")
    for _ in range(60):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            """() => { const it = document.activeElement;
              if (it === document.body) return true;
              const style = getComputedStyle(it.matches('input.sr') ? it.closest('label') : it);
              return style.boxShadow !== 'none' || style.outlineStyle !== 'none'; }"""
        )
        assert seen, page.evaluate("document.activeElement.outerHTML")
