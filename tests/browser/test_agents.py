"""Agents as contacts: made, renamed, rewritten, put away, deleted."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import House, Visitor
from tests.browser.words import say

ZH = "zh-CN"


def make_agent(page: Page, name: str) -> str:
    """Through the page, as a person would; returns the agent's id."""
    page.get_by_role("button", name=say(ZH, "agents.new"), exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "agents.name"), exact=True).fill(name)
    dialog.get_by_role("button", name=say(ZH, "agents.create")).click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    return page.url.rpartition("/")[2]


def test_the_first_agents_stand_in_the_list_with_their_souls(
    shared_house: House, visit: Visitor
) -> None:
    page = visit(shared_house, "/contacts")
    rows = page.locator(".list a.lr")
    expect(rows.nth(2)).to_be_visible()
    rows.first.click()
    expect(page.get_by_label("SOUL.md")).not_to_have_value("")


def test_an_agent_is_made_renamed_and_its_soul_rewritten(
    shared_house: House, visit: Visitor
) -> None:
    page = visit(shared_house, "/contacts")
    agent = make_agent(page, "账房")
    page.get_by_label(say(ZH, "agents.name"), exact=True).fill("老账房")
    page.get_by_label("SOUL.md").fill("# 老账房\n\n你只说数字。")
    expect(page.get_by_text(say(ZH, "agents.unsaved", number=2))).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text(say(ZH, "ui.saved"), exact=True)).to_be_visible()

    kept = page.request.get(f"/api/agents/{agent}").json()
    assert (kept["name"], kept["soul"]) == ("老账房", "# 老账房\n\n你只说数字。")
    page.reload()
    expect(page.get_by_role("heading", name="老账房", exact=True)).to_be_visible()
    expect(page.get_by_label("SOUL.md")).to_have_value("# 老账房\n\n你只说数字。")


def test_what_an_editor_wrote_into_the_folder_is_there_when_one_comes_back(
    shared_house: House, visit: Visitor
) -> None:
    page = visit(shared_house, "/contacts")
    make_agent(page, "琴师")
    expect(page.get_by_label("SOUL.md")).to_have_value("")
    soul = shared_house.home / "agents" / "琴师" / "SOUL.md"
    soul.write_text("# 琴师\n\n你只弹古琴。", encoding="utf-8")
    page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_label("SOUL.md")).to_have_value("# 琴师\n\n你只弹古琴。")


def test_what_is_typed_and_not_saved_survives_a_look_elsewhere(
    shared_house: House, visit: Visitor
) -> None:
    page = visit(shared_house, "/contacts")
    make_agent(page, "译员")
    page.get_by_label("SOUL.md").fill("# 译员\n\n中英互译。")
    page.get_by_role("navigation").first.get_by_role("link", name=say(ZH, "shell.settings")).click()
    expect(page.get_by_role("heading", name=say(ZH, "settings.look"))).to_be_visible()
    page.go_back()
    expect(page.get_by_label("SOUL.md")).to_have_value("# 译员\n\n中英互译。")
    row = page.locator(".list a.lr", has_text="译员")
    expect(row).to_contain_text(say(ZH, "agents.unsaved_mark"))

    page.get_by_role("button", name=say(ZH, "agents.discard")).click()
    expect(page.get_by_label("SOUL.md")).to_have_value("")
    expect(row).not_to_contain_text(say(ZH, "agents.unsaved_mark"))


def test_a_model_is_chosen_and_tried_for_one_agent(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/contacts")
    agent = make_agent(page, "跑堂")
    page.get_by_role("tab", name=say(ZH, "agents.model")).click()
    page.get_by_role("combobox", name=say(ZH, "agents.model")).select_option("fake/fake")
    page.get_by_role("switch", name=say(ZH, "agents.temperature.own")).click()
    page.get_by_role("slider").fill("1.2")
    page.get_by_role("button", name=say(ZH, "models.test"), exact=True).click()
    expect(page.get_by_text(say(ZH, "models.test.ok", model="fake/fake"))).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text(say(ZH, "ui.saved"), exact=True)).to_be_visible()
    kept = page.request.get(f"/api/agents/{agent}").json()
    assert (kept["model"], kept["temperature"]) == ("fake/fake", 1.2)


def test_a_second_agent_of_one_name_is_refused_in_words(
    shared_house: House, visit: Visitor
) -> None:
    visit.expect("409")
    page = visit(shared_house, "/contacts")
    make_agent(page, "双生")
    page.get_by_role("button", name=say(ZH, "agents.new"), exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "agents.name"), exact=True).fill("双生")
    dialog.get_by_role("button", name=say(ZH, "agents.create")).click()
    expect(dialog.get_by_role("alert")).to_contain_text(re.compile("[\u4e00-\u9fff]{4}"))


def test_an_archived_agent_comes_back_by_undo(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/contacts")
    make_agent(page, "账本")
    row = page.locator(".list a.lr", has_text="账本")
    page.locator("main").get_by_role("button", name=say(ZH, "ui.more")).click()
    page.get_by_role("menuitem", name=say(ZH, "agents.archive")).click()
    expect(page.get_by_text(say(ZH, "agents.archived.hint"))).to_be_visible()
    page.get_by_role("button", name=say(ZH, "ui.undo")).click()
    expect(page.get_by_text(say(ZH, "agents.archived.hint"))).to_be_hidden()
    expect(row).to_be_visible()


def test_deleting_says_what_goes_and_what_stays(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/contacts")
    agent = make_agent(page, "临时工")
    page.locator("main").get_by_role("button", name=say(ZH, "ui.more")).click()
    page.get_by_role("menuitem", name=say(ZH, "agents.delete")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(say(ZH, "agents.delete.goes"))
    dialog.get_by_role("button", name=say(ZH, "agents.delete.confirm")).click()
    expect(page.locator(".list a.lr", has_text="临时工")).to_have_count(0)
    assert page.request.get(f"/api/agents/{agent}").status == 404
