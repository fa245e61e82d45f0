"""The settings: what is chosen holds, also after a reload, and before the first paint."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from teahouse.testing.endpoint import Endpoint
from tests.browser.conftest import PASSWORD, House, Visitor
from tests.browser.talk import ended, tell
from tests.browser.test_look import serious_faults
from tests.browser.words import say

ZH = "zh-CN"


def test_a_dark_theme_is_there_before_the_first_paint(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/settings/look")
    page.get_by_label(say(ZH, "settings.theme.dark"), exact=True).check(force=True)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    # The module that starts the page never comes, and yet the theme is set.
    page.route(
        "**/assets/*.js", lambda route: route.fulfill(body="", content_type="text/javascript")
    )
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(24, 23, 20)"


def test_the_language_changes_at_once_and_stays(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/settings/language")
    page.get_by_label(say(ZH, "settings.language.page")).select_option("en-US")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en-US")
    page.get_by_label(say("en-US", "settings.language.page")).select_option("zh-HK")
    expect(page.get_by_role("heading", name=say("zh-HK", "shell.settings"))).to_be_visible()


def test_an_address_leads_to_its_part_of_the_page(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/settings/models")
    expect(page.get_by_role("heading", name=say(ZH, "settings.models"))).to_be_in_viewport()
    expect(page.get_by_label(say(ZH, "settings.models.default"))).to_be_in_viewport()
    expect(page).to_have_title(f"{say(ZH, 'shell.settings')} · {say(ZH, 'ui.app')}")


def test_what_the_environment_fixes_cannot_be_changed(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/settings/language")
    expect(page.get_by_label(say(ZH, "settings.language.house"))).to_be_disabled()
    expect(page.get_by_text(say(ZH, "settings.locked")).first).to_be_visible()


def test_a_provider_is_tried_kept_and_its_key_never_shown(
    shared_house: House, visit: Visitor, model: str
) -> None:
    page = visit(shared_house, "/settings/models")
    page.get_by_role("button", name=say(ZH, "settings.models.add")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "models.vendor"), exact=True).select_option("own")
    dialog.get_by_label(say(ZH, "models.name")).fill("mine")
    dialog.get_by_label(say(ZH, "models.url")).fill("http://127.0.0.1:9/v1")
    dialog.get_by_label(say(ZH, "models.key.optional")).fill("sk-secret-1234")
    dialog.get_by_role("button", name=say(ZH, "models.test"), exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("mine")
    expect(dialog.get_by_role("alert")).to_contain_text(say(ZH, "models.test.not_kept"))

    dialog.get_by_label(say(ZH, "models.url")).fill(model)
    dialog.get_by_role("button", name=say(ZH, "models.test"), exact=True).click()
    expect(dialog.get_by_text(say(ZH, "models.test.ok", model="mine/fake"))).to_be_visible()
    dialog.get_by_role("button", name=say(ZH, "ui.save"), exact=True).click()
    expect(dialog).to_be_hidden()
    row = page.locator(".set-provider", has_text="mine")
    expect(row).to_contain_text("1234")
    assert "sk-secret" not in page.content()

    row.get_by_role("button", name=say(ZH, "models.test"), exact=True).click()
    expect(row.get_by_role("status")).to_contain_text("mine/fake")
    row.get_by_role("button", name=say(ZH, "settings.provider.more", name="mine")).click()
    page.get_by_role("menuitem", name=say(ZH, "settings.provider.remove")).click()
    page.get_by_role("dialog").get_by_role(
        "button", name=say(ZH, "settings.provider.remove")
    ).click()
    expect(row).to_have_count(0)


@pytest.mark.parametrize("name", ["anthropic", "mine"])
def test_a_provider_of_another_dialect_is_tried_kept_and_talked_to(
    shared_house: House, visit: Visitor, anthropic: Endpoint, name: str
) -> None:
    page = visit(shared_house, "/settings/models")
    page.get_by_role("button", name=say(ZH, "settings.models.add")).click()
    dialog = page.get_by_role("dialog")
    vendor = dialog.get_by_label(say(ZH, "models.vendor"), exact=True)
    if name == "anthropic":  # as the vendor itself, but somewhere else
        vendor.select_option("anthropic")
        expect(dialog.get_by_label(say(ZH, "models.wire"))).to_have_count(0)
        expect(dialog.get_by_label(say(ZH, "models.url"))).to_have_value(re.compile("anthropic"))
    else:
        vendor.select_option("own")
        dialog.get_by_label(say(ZH, "models.name")).fill(name)
        dialog.get_by_label(say(ZH, "models.wire")).select_option("anthropic")
    dialog.get_by_role("textbox", name=say(ZH, "models.model"), exact=True).fill("fake")
    dialog.get_by_label(say(ZH, "models.url")).fill(anthropic.base_url)
    dialog.get_by_role("textbox", name=say(ZH, "models.key")).fill("sk-ant-secret")
    dialog.get_by_role("button", name=say(ZH, "models.test"), exact=True).click()
    expect(dialog.get_by_text(say(ZH, "models.test.ok", model=f"{name}/fake"))).to_be_visible()
    dialog.get_by_role("button", name=say(ZH, "ui.save"), exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".set-provider", has_text=anthropic.base_url)).to_contain_text(name)

    agent = page.request.post(
        "/api/agents",
        data={"name": name, "model": f"{name}/fake"},
        headers={"Origin": shared_house.url},
    ).json()
    page.goto(f"/chats/{agent['id']}")
    tell(page, "你好")
    expect(ended(page)).to_contain_text("Good tea.")
    asked = anthropic.requests[-1]
    assert asked.path.endswith("/messages")
    assert asked.headers["x-api-key"] == "sk-ant-secret"


def test_a_key_is_shown_once_works_and_is_revoked(shared_house: House, visit: Visitor) -> None:
    page = visit(shared_house, "/settings/keys")
    page.get_by_role("button", name=say(ZH, "settings.keys.new")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(say(ZH, "settings.keys.name"), exact=True).fill("备份脚本")
    dialog.get_by_role("button", name=say(ZH, "agents.create")).click()
    key = dialog.locator("code").inner_text()
    bearer = {"Authorization": f"Bearer {key}"}
    dialog.get_by_role("button", name=say(ZH, "settings.keys.done")).click()
    assert key not in page.content()
    stranger = visit(shared_house, "/", log_in=False).request
    assert stranger.get("/api/me", headers=bearer).ok

    page.reload()
    row = page.locator("#set-keys .set", has_text="备份脚本")
    more = row.get_by_role("button", name=say(ZH, "settings.provider.more", name="备份脚本"))
    more.press("Enter")
    page.get_by_role("menuitem", name=say(ZH, "settings.keys.remove")).press("Enter")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(more).to_be_focused()
    page.reload()  # a menu that was used by the keyboard may still stand
    more.click()
    page.get_by_role("menuitem", name=say(ZH, "settings.keys.remove")).click()
    page.get_by_role("dialog").get_by_role(
        "button", name=say(ZH, "settings.keys.remove"), exact=True
    ).click()
    expect(row).to_have_count(0)
    assert stranger.get("/api/me", headers=bearer).status == 401


def test_a_key_may_do_only_what_was_chosen_and_its_limits_change(
    shared_house: House, visit: Visitor
) -> None:
    page = visit(shared_house, "/settings/keys")
    agent = page.request.get("/api/agents").json()["items"][0]["name"]
    page.get_by_role("button", name=say(ZH, "settings.keys.new")).click()
    dialog = page.get_by_role("dialog")
    create = dialog.get_by_role("button", name=say(ZH, "agents.create"))
    dialog.get_by_label(say(ZH, "settings.keys.name"), exact=True).fill("小程序")
    dialog.get_by_label(say(ZH, "settings.keys.budget")).fill("0.5")
    dialog.get_by_label(say(ZH, "settings.keys.rate.label")).fill("1.5")
    expect(create).to_be_disabled()
    dialog.get_by_label(say(ZH, "settings.keys.rate.label")).fill("30")
    dialog.get_by_text(say(ZH, "settings.keys.scope.some"), exact=True).click()
    expect(create).to_be_disabled()  # a key that may do nothing is of no use
    named = dialog.get_by_label(say(ZH, "settings.keys.scope.add"))
    named.select_option("fake/fake")
    named.select_option(f"agent/{agent}")
    dialog.get_by_role("button", name=say(ZH, "usage.take_out", name=f"agent/{agent}")).click()
    dialog.get_by_label(say(ZH, "settings.keys.scope.metrics"), exact=True).check()
    assert serious_faults(page) == []
    create.click()
    key = dialog.locator("code").inner_text()
    dialog.get_by_role("button", name=say(ZH, "settings.keys.done")).click()

    [made] = [
        one for one in page.request.get("/api/keys").json()["items"] if one["name"] == "小程序"
    ]
    assert (sorted(made["scopes"]), made["budget"], made["rate"], made["concurrent"]) == (
        ["fake/fake", "metrics"],
        0.5,
        30,
        None,
    )
    bearer = {"Authorization": f"Bearer {key}"}
    stranger = visit(shared_house, "/", log_in=False).request
    assert stranger.get("/api/agents", headers=bearer).status == 403
    assert stranger.get("/v1/models", headers=bearer).ok

    row = page.locator("#set-keys .set", has_text="小程序")
    expect(row).to_contain_text("fake/fake")
    expect(row).to_contain_text(say(ZH, "settings.keys.spent_of", spent="$0", budget="$0.50"))
    row.get_by_role("button", name=say(ZH, "settings.provider.more", name="小程序")).click()
    page.get_by_role("menuitem", name=say(ZH, "settings.keys.change")).click()
    dialog.get_by_label(say(ZH, "settings.keys.budget")).fill("")
    dialog.get_by_label(say(ZH, "settings.keys.concurrent.label")).fill("2")
    dialog.get_by_role("button", name=say(ZH, "ui.save"), exact=True).click()
    expect(row).to_contain_text(say(ZH, "settings.keys.concurrent", count=2))
    expect(row).not_to_contain_text("$0.50")


def test_a_new_password_keeps_this_page_and_ends_the_others(
    shared_house: House, visit: Visitor
) -> None:
    visit.expect("401")
    page, other = visit(shared_house, "/settings/account"), visit(shared_house, "/contacts")
    for old, new in ((PASSWORD, "another long password"), ("another long password", PASSWORD)):
        page.get_by_role("button", name=say(ZH, "settings.password.change")).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label(say(ZH, "settings.password.old")).fill("not the password")
        dialog.get_by_label(say(ZH, "settings.password.new")).fill(new)
        submit = dialog.get_by_role("button", name=say(ZH, "settings.password.change"))
        submit.click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        dialog.get_by_label(say(ZH, "settings.password.old")).fill(old)
        submit.click()
        expect(dialog).to_be_hidden()
    other.reload()
    expect(other.get_by_role("heading", name=say(ZH, "login.heading"))).to_be_visible()
