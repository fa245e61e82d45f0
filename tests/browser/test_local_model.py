"""The whole way of a newcomer, with the real local model at its end: no key, no network."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import House, Visitor
from tests.browser.words import say

FOLDER = Path(os.environ.get("TEAHOUSE_MODELS") or "~/.cache/teahouse/models").expanduser()
HAN, LATIN = re.compile(r"[\u4e00-\u9fff]{4}"), re.compile(r"[A-Za-z]{4}")
ANSWERS_WITHIN_MS = 240_000  # on a busy machine without a free core


@pytest.fixture
def house_with_its_own_model(tmp_path: Path) -> Iterator[House]:
    house = House(
        tmp_path,
        "http://127.0.0.1:9/v1",
        TEAHOUSE_LOCAL_MODEL__ENABLED="true",
        TEAHOUSE_LOCAL_MODEL__CONTEXT="2048",
        TEAHOUSE_LOCAL_MODEL__FOLDER=str(FOLDER),
    )
    house.start()
    yield house
    house.stop()


@pytest.mark.model
def test_a_newcomer_talks_to_the_model_on_this_machine_in_both_languages(
    house_with_its_own_model: House, visit: Visitor
) -> None:
    page = visit(house_with_its_own_model, language="zh-CN", log_in=False)
    page.get_by_label(say("zh-CN", "setup.name")).fill("林小满")
    page.get_by_label(say("zh-CN", "setup.password"), exact=True).fill("long enough to keep")
    page.get_by_role("button", name=say("zh-CN", "setup.owner.go")).click()
    page.get_by_role("button", name=say("zh-CN", "setup.enter")).click()
    expect(page).to_have_url(f"{house_with_its_own_model.url}/chats")
    agents = page.request.get("/api/agents").json()["items"]
    assert [agent["name"] for agent in agents] == ["掌柜", "书童", "工匠"]

    page.get_by_role("main").get_by_text("掌柜").first.click()
    # which words a model of this size finds is its own affair; in which language is not
    questions = (("用中文介绍一下绿茶。", HAN), ("Say hello in English.", LATIN))
    for number, (question, words) in enumerate(questions):
        page.get_by_role("main").get_by_role("textbox").fill(question)
        page.keyboard.press("Enter")
        answer = page.get_by_role("log").locator("article[data-post]:not(.me)").nth(number)
        expect(answer).to_be_visible(timeout=ANSWERS_WITHIN_MS)  # it has its post when it is whole
        expect(answer.locator("p").first).to_contain_text(words)

    conversation = page.url.rpartition("/")[2]
    posts = page.request.get(f"/api/messages?conversation={conversation}").json()["items"]
    assert len(posts) == 4
    assert {post.get("ending") for post in posts[1::2]} <= {"stop", "length"}
