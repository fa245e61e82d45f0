"""The list of conversations, the log's scrolling and keys, and the phone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, House, Visitor
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
from tests.browser.words import say

TOPMOST = """log => {
  const top = log.getBoundingClientRect().top;
  const box = it => it.getBoundingClientRect();
  const found = [...log.querySelectorAll('article.m')].find(it => box(it).top >= top);
  return [found.dataset.post, box(found).top];
}"""


def menu(page: Page, item: str) -> None:
    page.locator(".bar-h").get_by_role("button", name=say(ZH, "ui.more")).click()
    page.get_by_role("menuitem", name=say(ZH, item), exact=True).click()


def test_a_chat_begins_with_whom(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/chats")
    page.get_by_role("button", name=say(ZH, "chat.new_chat")).click()
    page.get_by_role("menuitem").nth(1).click()
    expect(page).to_have_url(re.compile("/chats/a_"))
    page.get_by_role("button", name=say(ZH, "chat.start.able")).click()
    ended(page)
    row = page.locator(f"[data-conversation={conversation(page)}]")
    expect(row).to_have_attribute("aria-current", "page")
    expect(row).to_contain_text(say(ZH, "chat.start.able"))


def test_a_chat_is_renamed_pinned_put_away_and_deleted(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "要改名的")
    ended(page)
    row = page.locator(f"[data-conversation={conversation(page)}]")

    menu(page, "chat.rename")
    page.get_by_role("dialog").get_by_role("textbox").fill("新名字")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="新名字", level=1)).to_be_visible()
    expect(row).to_contain_text("新名字")

    menu(page, "chat.pin")
    pinned = page.get_by_role("region", name=say(ZH, "chat.group.pinned"))
    expect(pinned).to_contain_text("新名字")
    menu(page, "chat.unpin")
    expect(pinned).to_have_count(0)

    menu(page, "chat.archive")
    expect(row).to_have_count(0)
    page.get_by_role("button", name=say(ZH, "chat.archived"), exact=True).click()
    expect(row).to_contain_text("新名字")
    row.click()
    menu(page, "chat.unarchive")
    page.locator(".list").get_by_role("button", name=say(ZH, "ui.back")).click()
    expect(row).to_contain_text("新名字")

    menu(page, "ui.delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("新名字")
    dialog.get_by_role("button", name=say(ZH, "ui.delete")).click()
    expect(page).to_have_url(re.compile("/chats$"))
    expect(row).to_have_count(0)


def test_the_row_shows_who_is_answering(shared_house: House, visit: Visitor, model: str) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[hold row] 忙")
    row = page.locator(f"[data-conversation={conversation(page)}]")
    name = page.request.get("/api/agents").json()["items"][0]["name"]
    expect(row).to_contain_text(say(ZH, "chat.row.running", name=name))
    page.goto("/contacts")
    release(model, "row")
    page.go_back()
    expect(row).to_contain_text("echo: [hold row] 忙")


def test_a_talk_at_work_shows_so_in_a_list_that_follows_none(
    shared_house: House, visit: Visitor, model: str
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[hold unseen] 忙")
    expect(answers(page)).to_contain_text("echo:")
    row = page.locator(f"[data-conversation={conversation(page)}]")

    page.goto("/chats")
    expect(row).to_contain_text(say(ZH, "chat.row.running", name="掌柜"))
    release(model, "unseen")
    expect(row).to_contain_text("echo: [hold unseen] 忙")


def say_often(page: Page, house: House, count: int) -> None:
    for number in range(1, count + 1):
        sent = page.request.post(
            "/api/messages",
            data={"conversation": conversation(page), "text": f"第 {number} 句"},
            headers={"Origin": house.url},
        )
        assert sent.ok, sent.text()


def test_older_messages_come_on_the_way_up_and_nothing_jumps(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "开头")
    ended(page)
    say_often(page, shared_house, 60)
    log = page.get_by_role("log")
    newest = log.get_by_text("echo: 第 60 句", exact=True)
    expect(newest).to_be_visible(timeout=60_000)
    page.reload()
    expect(newest).to_be_in_viewport()
    expect(page.locator("article.m")).to_have_count(50)

    log.evaluate("it => { it.scrollTop = 200 }")
    watched, before = log.evaluate(TOPMOST)
    expect(page.locator("article.m")).not_to_have_count(50)
    there = page.locator(f"[data-post={watched}]")
    expect(there).to_be_in_viewport()
    assert abs(there.evaluate("it => it.getBoundingClientRect().top") - before) < 2

    page.wait_for_function(
        """() => {
          const log = document.querySelector('[role=log]');
          if (log.scrollTop > 0) log.scrollTop = 0;
          return log.innerText.includes('开头');
        }"""
    )
    expect(page.locator("article.m")).to_have_count(122)
    page.get_by_role("button", name=say(ZH, "chat.to_end")).click()
    expect(newest).to_be_in_viewport()


def test_a_reader_who_scrolled_up_stays_there_while_more_is_written(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[long 1500] 铺满")
    ended(page)
    tell(page, "[slow 60 50] 边写边看")
    expect(answers(page)).to_have_count(2)
    log = page.get_by_role("log")
    log.hover()
    page.mouse.wheel(0, -600)
    to_end = page.locator(".to-end")
    expect(to_end).to_be_visible()
    before = log.evaluate("it => it.scrollTop")
    tell_end = page.get_by_text(re.compile("59 60"))
    expect(tell_end).to_be_attached()
    ended(page, 2)
    assert abs(log.evaluate("it => it.scrollTop") - before) < 2
    to_end.click()
    expect(tell_end).to_be_in_viewport()
    expect(to_end).to_have_count(0)


def test_the_keys_of_the_log(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tell(page, "键")
    ended(page)
    page.get_by_role("log").focus()
    page.keyboard.press("k")
    expect(answers(page).last).to_be_focused()
    page.keyboard.press("k")
    expect(asked(page)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.get_by_text(say(ZH, "ui.copied"), exact=True)).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == "echo: 键"
    page.keyboard.press("q")
    expect(page.locator(".comp .quote")).to_contain_text("echo: 键")
    # In the field they are letters.
    page.keyboard.type("jkcq")
    expect(field(page)).to_have_value("jkcq")


def test_answers_are_told_by_sentence_in_one_place(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "开始")
    ended(page)
    page.evaluate(
        """() => {
          window.told = [];
          const region = document.querySelector('main > .sr[aria-live=polite]');
          new MutationObserver(() => window.told.push(region.textContent))
            .observe(region, {childList: true, characterData: true, subtree: true});
        }"""
    )
    tell(page, "第一句话说完了。第二句也完了。剩下半句[slow 20 50]")
    ended(page, 2)
    name = page.request.get("/api/agents").json()["items"][0]["name"]
    page.wait_for_function(
        "words => window.told.at(-1) === words", arg=say(ZH, "chat.announce.done", name=name)
    )
    told: list[str] = page.evaluate("() => window.told")
    assert told[0].startswith(say(ZH, "chat.announce.begins", name=name))
    assert any(one.endswith("第二句也完了。") for one in told), told
    assert len(told) <= 5, told
    expect(answers(page).last).to_have_attribute("aria-live", "off")


def test_on_a_phone_one_thing_at_a_time(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house, size=PHONE)
    tell(page, "[markdown] 手机")
    ended(page)
    expect(page.locator(".tabbar")).to_have_count(0)
    assert page.evaluate("() => document.documentElement.scrollWidth") == PHONE["width"]
    assert field(page).evaluate("it => getComputedStyle(it).fontSize") == "16px"
    page.get_by_role("button", name=say(ZH, "ui.back")).click()
    expect(page).to_have_url(re.compile("/chats$"))
    expect(page.locator(".tabbar")).to_be_visible()
    expect(page.locator(".list a.lr").first).to_be_visible()
