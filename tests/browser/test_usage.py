"""Models and usage: what was spent is told by figure, bar and table, and limits are set there."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from teahouse.core import i18n
from tests.browser.conftest import PASSWORD, PHONE, House, Visitor, free_port
from tests.browser.talk import ended, open_chat, tell
from tests.browser.test_look import SIZES, THEMES, quiet, serious_faults
from tests.browser.words import say

ZH: i18n.Language = "zh-CN"
LANGUAGES: tuple[i18n.Language, ...] = ("zh-CN", "zh-HK", "en-US")
PRICE = [1000, 2000]  # US dollars per million tokens: a test's few tokens cost cents


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, model: str) -> Iterator[House]:
    """Its model has a price, and it knows a second provider that is not at home."""
    made = House(
        tmp_path_factory.mktemp("usage"),
        model,
        TEAHOUSE_OWNER_PASSWORD=PASSWORD,
        TEAHOUSE_LANGUAGE="zh-CN",
        TEAHOUSE_DEFAULT_MODEL="fake/fake",
    )
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def spent(house: House, browser: Any) -> House:
    """Somebody has talked here, and a program has been helped by a model that stood in."""
    visitor = Visitor(browser)
    page = open_chat(visitor, house)
    away = f"http://127.0.0.1:{free_port()}/v1"
    change(
        page,
        house,
        prices={"fake/fake": PRICE},
        providers={"away": {"vendor": "custom", "base_url": away, "models": ["m"]}},
        fallbacks={"away/m": ["fake/fake"]},
    )
    tell(page, "你好")
    ended(page)
    key = post(page, house, "/api/keys", name="program")["key"]
    answer = page.request.post(
        "/v1/chat/completions",
        headers={"Authorization": f"Bearer {key}"},
        data={"model": "away/m", "messages": [{"role": "user", "content": "hi"}]},
        timeout=60_000,
    )
    assert answer.ok, answer.text()
    visitor.close()
    return house


def post(page: Page, house: House, path: str, **data: object) -> dict[str, Any]:
    answer = page.request.post(path, data=data, headers={"Origin": house.url})
    assert answer.ok, answer.text()
    made: dict[str, Any] = answer.json()
    return made


def change(page: Page, house: House, **settings: object) -> None:
    answer = page.request.patch("/api/settings", data=settings, headers={"Origin": house.url})
    assert answer.ok, answer.text()


def settings(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.request.get("/api/settings").json()
    return found


def card(page: Page, key: str, language: i18n.Language = ZH) -> Locator:
    return page.get_by_role("region", name=say(language, key), exact=True)


def button(where: Page | Locator, key: str, **values: object) -> Locator:
    return where.get_by_role("button", name=say(ZH, key, **values), exact=True)


def figure(page: Page, key: str) -> Locator:
    name = page.get_by_text(say(ZH, key), exact=True)
    return card(page, "usage.totals").locator("div").filter(has=name).locator("b")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_house_that_has_spent_nothing_says_so(
    shared_house: House, visit: Visitor, language: i18n.Language
) -> None:
    page = visit(shared_house, "/chats", language=language)
    page.get_by_role("link", name=say(language, "shell.usage"), exact=True).click()
    expect(page.get_by_role("heading", name=say(language, "usage.none"))).to_be_visible()
    expect(page).to_have_title(f"{say(language, 'shell.usage')} · {say(language, 'ui.app')}")
    expect(page.get_by_role("button", name=say(language, "usage.csv"), exact=True)).to_be_disabled()


def test_figures_count_replies_money_and_who_stood_in(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    expect(figure(page, "usage.spend")).to_have_text(re.compile(r"^~?\$\d"))
    expect(figure(page, "usage.replies")).to_have_text("2")
    expect(figure(page, "usage.stood_in")).to_have_text("1")
    expect(card(page, "usage.totals")).not_to_contain_text(say(ZH, "usage.unpriced", count=""))


def test_the_bars_are_told_by_the_keyboard_alone(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    bars = page.get_by_role("group", name=say(ZH, "usage.per_day")).get_by_role("button")
    expect(bars.first).to_be_attached()
    days = bars.count()
    assert 28 <= days <= 31
    button(page, "usage.as_table").focus()
    page.keyboard.press("Tab")
    expect(bars.nth(days - 1)).to_be_focused()
    told = {page.evaluate("document.activeElement.ariaLabel")}
    for _ in range(days - 1):
        page.keyboard.press("ArrowLeft")
        told.add(page.evaluate("document.activeElement.ariaLabel"))
    expect(bars.first).to_be_focused()
    assert len(told) == days
    spoken = [one for one in told if "program" in one or say(ZH, "usage.no_agent") in one]
    assert spoken, told
    page.keyboard.press("End")
    expect(page.locator(".chart-tip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".chart-tip")).to_be_hidden()
    page.keyboard.press("Tab")
    expect(page.locator(".chart-b button:focus")).to_have_count(0)


def test_a_bar_tells_its_parts_under_the_pointer(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    today = page.locator(".chart-b button").filter(has=page.locator("i:nth-child(1)"))
    today.nth(int(page.evaluate("new Date().getUTCDate()")) - 1).hover()
    expect(page.locator(".chart-tip")).to_contain_text(say(ZH, "usage.no_agent"))
    page.mouse.move(0, 0)
    expect(page.locator(".chart-tip")).to_be_hidden()


def test_the_same_stands_in_a_table_and_in_a_file(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    page.get_by_text(say(ZH, "usage.by.model"), exact=True).click()
    button(page, "usage.as_table").click()
    table = page.get_by_role("region", name=say(ZH, "usage.per_day")).get_by_role("table")
    expect(table.get_by_role("columnheader", name="fake/fake")).to_be_visible()
    with page.expect_download() as waiting:
        button(page, "usage.csv").click()
    text = Path(waiting.value.path()).read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    by_model = {row["model"]: row for row in rows}
    assert set(by_model) >= {"fake/fake", "away/m"}
    assert float(by_model["fake/fake"]["cost_usd"]) > 0
    assert int(by_model["away/m"]["failed"]) >= 1


def test_each_period_has_its_own_bars(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    bars = page.locator(".chart-b button")
    for key, count in (("usage.period.week", 7), ("usage.period.year", 12)):
        page.get_by_role("radiogroup", name=say(ZH, "usage.period")).get_by_text(
            say(ZH, key), exact=True
        ).click()
        expect(bars).to_have_count(count)
        expect(figure(page, "usage.replies")).to_have_text("2")


def test_a_price_that_nobody_knows_is_never_shown_as_nothing(
    new_house_with_owner: House, visit: Visitor
) -> None:
    page = open_chat(visit, new_house_with_owner)
    tell(page, "你好")
    ended(page)
    page.goto("/usage")
    unknown = say(ZH, "usage.unknown")
    expect(figure(page, "usage.spend")).to_have_text(unknown)
    expect(card(page, "usage.providers").locator("tr", has_text="fake")).to_contain_text(unknown)
    # Money says nothing here, so the bars count tokens.
    expect(page.get_by_role("heading", name=say(ZH, "usage.tokens_per_day"))).to_be_visible()


def test_providers_tell_of_their_last_call_and_are_tested(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    providers = card(page, "usage.providers")
    here, away = (providers.locator("tr", has_text=name) for name in ("fake", "away"))
    expect(here).to_contain_text(say(ZH, "usage.ok"))
    expect(away).to_contain_text(say(ZH, "usage.code.unreachable"))
    button(page, "usage.test_all").click()
    expect(here.get_by_role("status")).to_contain_text(say(ZH, "usage.ok_now"))
    expect(away.get_by_role("status")).to_contain_text(say(ZH, "usage.test_failed"))
    button(page, "usage.details_of", name="away").press("Enter")
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("http://127.0.0.1")
    expect(sheet).to_contain_text(say(ZH, "usage.unknown"))  # its price
    assert serious_faults(page) == []
    page.keyboard.press("Escape")
    expect(button(page, "usage.details_of", name="away")).to_be_focused()


def test_a_budget_is_added_changed_and_lifted(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    budgets = card(page, "usage.budgets")
    button(budgets, "usage.add").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "usage.budget.for")).select_option("person")
    dialog.get_by_label(say(ZH, "usage.budget.dollars")).fill("40")
    dialog.get_by_label(say(ZH, "usage.budget.dollars")).press("Enter")
    expect(dialog).to_be_hidden()
    assert settings(page)["budgets"]["person"] == 40
    expect(budgets.get_by_role("meter")).to_have_count(1)
    name = say(ZH, "usage.budget.person")
    button(budgets, "usage.budget.change", name=name).click()
    dialog.get_by_label(say(ZH, "usage.budget.dollars")).fill("0.0001")
    button(dialog, "ui.save").click()
    expect(budgets).to_contain_text(say(ZH, "usage.budget.spent"))
    button(budgets, "usage.budget.change", name=name).click()
    button(dialog, "usage.budget.remove").click()
    expect(budgets).to_contain_text(say(ZH, "usage.budgets.none"))
    assert settings(page)["budgets"]["person"] is None


def test_a_wrong_budget_cannot_be_saved(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    button(card(page, "usage.budgets"), "usage.add").click()
    dialog = page.get_by_role("dialog")
    for wrong in ("", "-1", "much"):
        dialog.get_by_label(say(ZH, "usage.budget.dollars")).fill(wrong)
        expect(button(dialog, "ui.save")).to_be_disabled()


def test_a_fallback_order_is_made_moved_and_removed(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    fallbacks = card(page, "usage.fallbacks")
    expect(fallbacks).to_contain_text("away/m")
    button(fallbacks, "usage.add").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "usage.fallback.for")).select_option("fake/fake")
    added = dialog.get_by_label(say(ZH, "usage.fallback.next"))
    expect(added.locator("option", has_text="fake/fake")).to_have_count(0)
    added.select_option("away/m")
    button(dialog, "ui.save").click()
    expect(dialog).to_be_hidden()
    assert settings(page)["fallbacks"]["fake/fake"] == ["away/m"]

    change(page, spent, fallbacks={"fake/fake": ["away/m", "away/other"]})
    page.reload()
    button(fallbacks, "usage.fallback.change", name="fake/fake").click()
    up = button(dialog, "usage.move.up", name="away/other")
    expect(button(dialog, "usage.move.up", name="away/m")).to_be_disabled()
    up.press("Enter")
    button(dialog, "ui.save").click()
    expect(dialog).to_be_hidden()
    assert settings(page)["fallbacks"]["fake/fake"] == ["away/other", "away/m"]
    button(fallbacks, "usage.fallback.change", name="fake/fake").click()
    button(dialog, "usage.remove").click()
    expect(dialog).to_be_hidden()
    assert set(settings(page)["fallbacks"]) == {"away/m"}


def test_an_alias_is_made_weighed_and_removed(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    aliases = card(page, "usage.aliases")
    button(aliases, "usage.add").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "usage.alias.name"), exact=True).fill("quick")
    for model in ("fake/fake", "away/m"):
        dialog.get_by_label(say(ZH, "usage.alias.add")).select_option(model)
    dialog.get_by_label(say(ZH, "usage.alias.weight", name="fake/fake")).fill("9")
    button(dialog, "ui.save").click()
    expect(dialog).to_be_hidden()
    assert settings(page)["aliases"] == {"quick": {"fake/fake": 9, "away/m": 1}}
    button(aliases, "usage.alias.change", name="quick").click()
    button(dialog, "usage.take_out", name="away/m").click()
    button(dialog, "ui.save").click()
    expect(dialog).to_be_hidden()
    assert settings(page)["aliases"] == {"quick": {"fake/fake": 9}}
    button(aliases, "usage.alias.change", name="quick").click()
    button(dialog, "usage.remove").click()
    expect(aliases).to_contain_text(say(ZH, "usage.aliases.none"))


def test_members_see_their_own_and_nothing_of_the_house(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage")
    post(page, spent, "/api/people", name="mei", role="member", password=PASSWORD)
    mei = visit(spent, "/", log_in=False)
    login = mei.request.post(
        "/api/login", data={"name": "mei", "password": PASSWORD}, headers={"Origin": spent.url}
    )
    assert login.ok
    mei.goto("/usage")
    expect(mei.get_by_role("heading", name=say(ZH, "usage.none"))).to_be_visible()
    for key in ("usage.providers", "usage.budgets", "usage.fallbacks"):
        expect(card(mei, key)).to_have_count(0)
    expect(card(mei, "settings.keys")).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_has_no_serious_fault_and_nothing_runs_over(
    spent: House,
    visit: Visitor,
    picture: Callable[[Page, str], Path],
    language: i18n.Language,
) -> None:
    for phone, theme in itertools.product((False, True), THEMES):
        sizes = ("phone", "small") if phone else ("desk", "laptop", "tablet")
        page = visit(spent, "/usage", language=language, theme=theme, size=SIZES[sizes[0]])
        quiet(page)
        expect(page.locator(".chart-b button").first).to_be_attached()
        for size in sizes:
            page.set_viewport_size(SIZES[size])
            picture(page, f"usage-{language}-{size}-{theme}")
            over = page.evaluate(
                """() => [...document.querySelectorAll('main *')]
                  .filter(it => it.checkVisibility() && !it.closest('.sr, .chart-t'))
                  .filter(it => it.getBoundingClientRect().right > innerWidth + 1)
                  .map(it => it.outerHTML.slice(0, 120))"""
            )
            assert over == [], f"{size}, {theme}"
        assert serious_faults(page) == [], f"{sizes}, {theme}"


def test_on_a_phone_a_bar_tells_its_parts_when_it_is_touched(spent: House, visit: Visitor) -> None:
    page = visit(spent, "/usage", size=PHONE)
    today = int(page.evaluate("new Date().getUTCDate()")) - 1
    page.locator(".chart-b button").nth(today).tap()
    expect(page.locator(".chart-tip")).to_contain_text("$")
