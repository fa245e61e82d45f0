"""What a message may hold: formatted text, code, steps, thoughts, files, and hostile words."""

from __future__ import annotations

import base64
import re

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
    posts,
    tell,
)
from tests.browser.words import say

# Group D of the attacks: each would act if any part of it became HTML, a script or a request.
HOSTILE = [
    "[x](javascript:alert(1)) [y](data:text/html,<script>alert(1)</script>) [z](file:///etc/passwd)",
    "<img src=x onerror=alert(1)> <svg onload=alert(1)></svg>",
    "<script>alert(1)</script>",
    "<iframe src='http://evil.example/'></iframe>",
    "![x](http://evil.example/track.png)",
    "```html\n<script>alert(1)</script>\n```",
    "$\\href{javascript:alert(1)}{x}$ $$\\includegraphics{http://evil.example/x.png}$$",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <b onmouseover=alert(1)>x</b> |",
    "<a href='javascript:alert(1)'>x</a> <http://evil.example/\"onmouseover=alert(1)>",
]
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"


def inert(page: Page) -> None:
    """Nothing that a message brought can act. Requests elsewhere are seen by the visitor."""
    found = page.evaluate(
        """() => [...document.querySelectorAll('#content *')].flatMap(it => [...it.attributes]
          .filter(at => /^on|^srcdoc$/i.test(at.name) ||
            (['href', 'src'].includes(at.name) && !/^(https?:|mailto:|[/]|#)/.test(at.value)))
          .map(at => `${it.outerHTML.slice(0, 80)} ${at.name}`))"""
    )
    assert found == []
    assert page.locator("#content :is(script, iframe, object, embed)").count() == 0


def test_formatted_text_has_its_form(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[markdown] 格式")
    last = ended(page)
    expect(last.get_by_role("heading", name="茶馆 Teahouse")).to_be_visible()
    expect(last.locator("strong")).to_have_text("bold")
    expect(last.locator("ol > li > ul > li")).to_have_text("nested")
    expect(last.get_by_role("cell", name="95 °C")).to_be_visible()
    expect(last.locator("blockquote a")).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(last.locator("blockquote a")).to_have_attribute("href", "https://example.com/")


def test_code_is_coloured_and_copied_to_the_letter(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tell(page, "[markdown] 代码")
    code = ended(page).locator(".code")
    expect(code.locator(".code-h")).to_contain_text("python")
    expect(code.locator("pre .sk").first).to_have_text("def")
    code.get_by_role("button", name=say(ZH, "ui.copy")).click()
    expect(code.get_by_role("button", name=say(ZH, "ui.copied"))).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == 'def greet(name: str) -> str:\n    return f"你好, {name}"'


def test_a_message_is_copied_and_quoted(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tell(page, "原话")
    last = ended(page)
    last.get_by_role("button", name=say(ZH, "ui.copy"), exact=True).click()
    expect(page.get_by_text(say(ZH, "ui.copied"), exact=True)).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == "echo: 原话"

    last.get_by_role("button", name=say(ZH, "chat.quote"), exact=True).click()
    expect(field(page)).to_be_focused()
    expect(page.locator(".comp .quote")).to_contain_text("echo: 原话")
    tell(page, "接着说")
    ended(page, 2)
    expect(page.locator(".comp .quote")).to_have_count(0)
    expect(asked(page).last.locator(".quote")).to_contain_text("echo: 原话")
    assert posts(page)[2]["reply_to"] == posts(page)[1]["id"]


def test_steps_are_folded_and_open_to_what_went_in_and_came_out(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[tool now] 几点")
    last = ended(page)
    steps = last.locator("details.tl")
    expect(steps).to_contain_text(say(ZH, "chat.steps.one"))
    expect(steps).to_contain_text(say(ZH, "chat.tool.now"))
    expect(steps.locator(".out")).to_be_hidden()
    steps.locator("summary").first.click()
    steps.locator("details.ti summary").click()
    expect(steps.locator(".out")).to_contain_text("20")

    page.reload()
    steps = ended(page).locator("details.tl")
    steps.locator("summary").first.click()
    expect(steps.locator(".sec")).to_have_text("0.1 秒")
    expect(ended(page).locator(".m-foot")).to_contain_text(re.compile(r"[0-9.]+ 秒.*[0-9]+ 词元"))


def test_thoughts_are_folded(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[think] 想想")
    thoughts = ended(page).locator("details.think")
    expect(thoughts).to_contain_text(say(ZH, "chat.thought"))
    expect(thoughts.locator(".think-b")).to_be_hidden()
    thoughts.locator("summary").click()
    expect(thoughts.locator(".think-b")).to_contain_text("thinking about")


def test_files_go_with_a_message_and_pictures_are_shown(
    shared_house: House, visit: Visitor
) -> None:
    page = open_chat(visit, shared_house)
    page.set_input_files(
        "input[type=file]",
        [
            {"name": "杯子.png", "mimeType": "image/png", "buffer": PIXEL},
            {"name": "x.svg", "mimeType": "image/svg+xml", "buffer": SVG},
        ],
    )
    expect(page.locator(".atts .att")).to_have_count(2)
    expect(page.locator(".atts .bar")).to_have_count(0)
    tell(page, "看图")
    ended(page)
    picture = asked(page).locator("img")
    expect(picture).to_have_attribute("alt", "杯子.png")
    assert picture.evaluate("it => it.naturalWidth") == 1
    # A drawing is a document with scripts: it is only there to be fetched.
    expect(asked(page).locator("a.att")).to_have_attribute("download", "x.svg")
    inert(page)


def test_a_file_too_large_is_refused_before_it_is_sent(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    page.evaluate(
        """() => {
          const files = new DataTransfer();
          files.items.add(new File([new Blob([new ArrayBuffer(51 * 1024 * 1024)])], 'huge.bin'));
          const picker = document.querySelector('input[type=file]');
          picker.files = files.files;
          picker.dispatchEvent(new Event('change', {bubbles: true}));
        }"""
    )
    field(page).fill("带上它")
    refused = page.locator(".atts .att.bad")
    expect(refused).to_contain_text("50 MB")
    expect(page.get_by_role("button", name=say(ZH, "chat.send"), exact=True)).to_be_disabled()
    refused.get_by_role("button").click()
    expect(page.get_by_role("button", name=say(ZH, "chat.send"), exact=True)).to_be_enabled()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(shared_house: House, visit: Visitor, text: str) -> None:
    page = open_chat(visit, shared_house)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    tell(page, text)
    expect(ended(page)).to_contain_text("echo:")
    inert(page)
    page.reload()
    ended(page)
    inert(page)


def test_hostile_names_stay_names(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    name = "<img src=x onerror=alert(1)>"
    headers = {"Origin": shared_house.url}
    made = page.request.post("/api/agents", data={"name": name}, headers=headers)
    assert made.ok, made.text()
    agent = made.json()["id"]
    page.goto(f"/chats/{agent}")
    tell(page, "你好")
    expect(ended(page)).to_contain_text("<img src=x onerror=alert(1)>")
    title = page.request.patch(
        f"/api/conversations/{conversation(page)}",
        data={"title": "<script>alert(1)</script>"},
        headers=headers,
    )
    assert title.ok
    expect(page.get_by_role("heading", level=1, name="<script>alert(1)</script>")).to_be_visible()
    inert(page)
    page.request.delete(f"/api/agents/{agent}", headers=headers)


def test_a_long_answer_arrives_whole(shared_house: House, visit: Visitor) -> None:
    page = open_chat(visit, shared_house)
    tell(page, "[long 6000] 长")
    expect(answers(page)).to_contain_text("word6000", timeout=60_000)
    shown = ended(page).locator(".md-body").inner_text()
    page.reload()
    assert ended(page).locator(".md-body").inner_text() == shown
    assert len(shown.split()) >= 6000
