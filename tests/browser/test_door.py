"""Coming in and going out, and what a stranger sees."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD, House, Visitor
from tests.browser.words import say


def test_a_wrong_password_is_refused_in_words_and_the_right_one_opens(
    shared_house: House, visit: Visitor
) -> None:
    visit.expect("401")
    page = visit(shared_house, "/contacts", log_in=False)
    field = page.get_by_label(say("zh-CN", "setup.password"), exact=True)
    field.fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    field.fill(PASSWORD)
    page.keyboard.press("Enter")
    # One stays where one wanted to go.
    expect(page.get_by_role("heading", name=say("zh-CN", "shell.contacts"))).to_be_visible()


def test_logging_out_shows_the_door_and_forgets_what_was_read(
    shared_house: House, visit: Visitor
) -> None:
    page = visit(shared_house, "/settings/account", language="en-US")
    page.locator("#set-account").get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    assert page.request.get("/api/me").status == 401


def test_an_address_that_leads_nowhere_says_so(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/nowhere/at/all")
    expect(page.get_by_role("heading", name=say("zh-CN", "ui.not_found"))).to_be_visible()
    page.get_by_role("link", name=say("zh-CN", "shell.home")).click()
    expect(page).to_have_url(f"{shared_house.url}/chats")


def test_an_agent_that_is_gone_says_so(shared_house: House, visit: Visitor) -> None:
    visit.expect("404")
    page = visit(shared_house, "/contacts/a_gone")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name=say("zh-CN", "ui.retry"))).to_be_visible()
