"""Talking: streamed answers, stop, reload, a second tab, a killed server, a lost connection."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from teahouse.core import i18n
from tests.browser.conftest import House, Visitor
from tests.browser.talk import (
    ZH,
    answers,
    asked,
    conversation,
    ended,
    field,
    open_chat,
    posts,
    release,
    stop_button,
    tell,
    text_of,
)
from tests.browser.words import say

LANGUAGES: list[tuple[i18n.Language, str]] = [("zh-CN", "讲讲茶馆"), ("en-US", "Tell me of tea")]


@pytest.mark.parametrize(("language", "question"), LANGUAGES)
def test_an_answer_is_written_before_the_readers_eyes(
    shared_house: House, visit: Visitor, language: i18n.Language, question: str
) -> None:
    page = open_chat(visit, shared_house, language=language)
    tell(page, f"{question} [slow 30 80]")

    expect(asked(page)).to_contain_text(question)
    live = page.locator("article[aria-busy=true]")
    expect(live).to_contain_text("] 1 2 3")
    expect(live).to_contain_text(say(language, "chat.doing.writing"))
    expect(live).not_to_contain_text("29 30")
    expect(stop_button(page, language)).to_be_visible()
    rate = say(language, "chat.rate", rate="#").partition("#")[2]
    expect(live).to_contain_text(rate)

    expect(ended(page)).to_contain_text("29 30")
    expect(stop_button(page, language)).to_have_count(0)
    assert [text_of(post) for post in posts(page)][1].endswith(" 29 30")


@pytest.mark.parametrize("how", ["button", "escape"])
def test_stop_keeps_what_was_written_and_offers_to_go_on(
    shared_house: House, visit: Visitor, how: str
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[slow 100 60] 停")
    expect(answers(page)).to_contain_text(" 2 3")
    if how == "button":
        stop_button(page).click()
    else:
        field(page).press("Escape")

    last = ended(page)
    expect(last).to_contain_text(say(ZH, "chat.ended.stopped"))
    expect(last).to_contain_text("1 2 3")
    kept = posts(page)[1]
    assert kept["ending"] == "stopped"
    assert "1 2 3" in text_of(kept)

    last.get_by_role("button", name=say(ZH, "chat.continue"), exact=True).click()
    expect(ended(page, 2)).to_contain_text("echo: " + say(ZH, "chat.continue.text"))


def test_a_reload_and_a_second_tab_go_on_with_the_same_text(
    shared_house: House, visit: Visitor, model: str
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[hold tabs] 同一段话")
    expect(answers(page)).to_contain_text("echo:")
    address = f"/chats/{conversation(page)}"
    page.reload()
    other = page.context.new_page()
    other.goto(address)
    for one in (page, other):
        live = one.locator("article[aria-busy=true]")
        expect(live).to_contain_text("echo:")
        expect(asked(one)).to_have_count(1)

    release(model, "tabs")
    for one in (page, other):
        expect(ended(one)).to_contain_text("同一段话")
    assert len(posts(page)) == 2


def test_what_one_tab_says_the_other_shows(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "第一句")
    ended(page)
    other = page.context.new_page()
    other.goto(f"/chats/{conversation(page)}")
    ended(other)
    tell(other, "第二句")
    expect(ended(page, 2)).to_contain_text("echo: 第二句")
    expect(asked(page)).to_have_count(2)


def test_a_server_killed_in_mid_answer_ends_in_one_whole_answer(
    new_house_with_owner: House, visit: Visitor, model: str
) -> None:
    house = new_house_with_owner
    for words in ("ERR_CONNECTION_", "ERR_EMPTY_RESPONSE", "WebSocket connection"):
        visit.expect(words)
    page = open_chat(visit, house)
    tell(page, "[hold killed] 一次说完")
    expect(answers(page)).to_contain_text("echo:")
    house.kill()
    expect(page.get_by_text(say(ZH, "shell.offline"))).to_be_visible()
    # What was seen stays in sight.
    expect(asked(page)).to_have_count(1)

    house.start()
    expect(page.get_by_text(say(ZH, "shell.offline"))).to_have_count(0, timeout=20_000)
    release(model, "killed")
    last = ended(page)
    expect(last.locator(".md-body")).to_have_text(re.compile(r"^echo: .*一次说完$"))
    assert len(posts(page)) == 2
    page.reload()
    expect(ended(page).locator(".md-body")).to_have_text(re.compile(r"^echo: .*一次说完$"))


def test_what_is_written_offline_is_sent_once_in_its_order(
    shared_house: House, visit: Visitor
) -> None:
    visit.expect("ERR_INTERNET_DISCONNECTED")
    page = open_chat(visit, shared_house)
    tell(page, "在线")
    ended(page)
    page.context.set_offline(True)
    tell(page, "离线一")
    tell(page, "离线二")
    for place in (1, 2):
        expect(page.get_by_text(say(ZH, "chat.offline", place=place))).to_be_visible()
    page.context.set_offline(False)
    expect(ended(page, 3)).to_contain_text("echo: 离线二")
    mine = [text_of(post) for post in posts(page) if post["author"].startswith("u_")]
    assert mine == ["在线", "离线一", "离线二"]


def test_a_message_taken_back_offline_is_never_sent(shared_house: House, visit: Visitor) -> None:
    visit.expect("ERR_INTERNET_DISCONNECTED")
    page = open_chat(visit, shared_house)
    tell(page, "在线")
    ended(page)
    page.context.set_offline(True)
    tell(page, "反悔")
    page.get_by_role("button", name=say(ZH, "chat.withdraw"), exact=True).click()
    expect(asked(page)).to_have_count(1)
    page.context.set_offline(False)
    tell(page, "又在线")
    ended(page, 2)
    assert "反悔" not in str(posts(page))


def test_a_lost_acknowledgement_makes_no_second_message(
    shared_house: House, visit: Visitor
) -> None:
    visit.expect("ERR_FAILED")
    page = open_chat(visit, shared_house)
    lost: list[str] = []

    def lose_first(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.request.post_data or "")
        route.fetch()
        route.abort()

    page.route("**/api/messages", lose_first)
    tell(page, "只此一条")
    expect(ended(page)).to_contain_text("echo: 只此一条")
    assert len(lost) == 1
    assert len(posts(page)) == 2


def test_a_question_asked_during_an_answer_waits_its_turn(
    shared_house: House, visit: Visitor, model: str
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[hold turn] 第一问")
    expect(answers(page)).to_contain_text("echo:")
    field(page).fill("第二问")
    expect(page.get_by_text(say(ZH, "chat.queues"))).to_be_visible()
    field(page).press("Enter")
    expect(asked(page).last).to_contain_text(say(ZH, "chat.waits"))

    release(model, "turn")
    expect(ended(page, 2)).to_contain_text("echo: 第二问")
    order = page.locator("article.m").all_inner_texts()
    words = ["[hold turn] 第一问", "echo: ", "第二问", "echo: 第二问"]
    assert all(word in text for word, text in zip(words, order, strict=True)), order


def test_a_refused_key_says_what_to_do_and_asking_again_works(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[fail 401 once] 钥匙")
    last = ended(page)
    expect(last.get_by_role("alert")).to_contain_text("401")
    link = last.get_by_role("link", name=say(ZH, "chat.to_settings"))
    expect(link).to_have_attribute("href", "/settings/models")

    last.get_by_role("button", name=say(ZH, "chat.again"), exact=True).click()
    expect(ended(page, 2)).to_contain_text("echo: ")
    expect(answers(page).last.get_by_role("alert")).to_have_count(0)


def test_a_stream_that_breaks_keeps_what_had_come(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[cut] 断")
    last = ended(page)
    expect(last.locator(".md-body")).to_have_text("echo:")
    expect(last.get_by_role("alert")).to_be_visible()


def test_a_text_too_long_is_not_sent_but_can_go_as_a_file(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    field(page).fill("茶" * 1_000_000)
    limit = say(ZH, "chat.too_long", length="1,000,000", limit="200,000")
    expect(page.get_by_text(limit)).to_be_visible()
    expect(page.get_by_role("button", name=say(ZH, "chat.send"), exact=True)).to_be_disabled()
    field(page).press("Enter")
    expect(asked(page)).to_have_count(0)

    page.get_by_role("button", name=say(ZH, "chat.as_file")).click()
    # It is not there yet; the message goes when it is.
    tell(page, "请看附件")
    expect(ended(page)).to_contain_text(say(ZH, "chat.text_file"))


def draft_kept(page: Page) -> None:
    page.wait_for_function("() => (localStorage.getItem('teahouse.drafts') ?? '').includes('半句')")


def test_a_draft_survives_a_reload_and_shows_in_the_list(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "先说一句")
    ended(page)
    field(page).fill("写到一半的半句")
    draft_kept(page)
    page.reload()
    expect(field(page)).to_have_value("写到一半的半句")
    address = conversation(page)
    page.goto("/chats")
    row = page.locator(f"[data-conversation={address}]")
    expect(row).to_contain_text(say(ZH, "chat.draft"))
    expect(row).to_contain_text("半句")


def test_enter_while_choosing_characters_does_not_send(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    field(page).fill("拼音")
    field(page).dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    field(page).press("Shift+Enter")
    expect(field(page)).to_have_value("拼音\n")
    expect(asked(page)).to_have_count(0)
    field(page).press("Enter")
    expect(asked(page)).to_have_count(1)


def test_an_address_that_leads_nowhere_says_so(shared_house: House, visit: Visitor) -> None:
    visit.expect("404")
    page = visit(shared_house, "/chats/c_nothing")
    expect(page.get_by_role("heading", name=say(ZH, "chat.gone"))).to_be_visible()
