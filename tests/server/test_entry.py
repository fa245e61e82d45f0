"""Getting in: setting up, logging in and out, keys."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.conftest import PASSWORD, Web

pytestmark = pytest.mark.anyio


async def test_health_and_status_are_open(web: Web) -> None:
    health = await web.call("GET", "/healthz")
    status = await web.call("GET", "/api/status")

    assert (health.status, health.json) == (200, {"status": "ok"})
    assert status.json == {
        "version": "0.0.0",
        "set_up": True,
        "logged_in": False,
        "language": "en-US",
        "languages": ["en-US", "zh-CN", "zh-HK"],
    }


async def test_login_gives_a_cookie_that_scripts_and_other_sites_cannot_use(web: Web) -> None:
    answer = await web.call("POST", "/api/login", {"password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    me = await web.call("GET", "/api/me", headers={"cookie": cookie.partition(";")[0]})

    assert answer.status == 200
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert me.json == answer.json
    assert set(me.json) == {"id", "name", "role", "created_at"}


async def test_a_wrong_password_is_refused_in_the_readers_language(web: Web) -> None:
    answer = await web.call(
        "POST", "/api/login", {"password": "wrong"}, headers={"accept-language": "zh-HK, en;q=0.5"}
    )

    assert (answer.status, answer.code) == (401, "wrong_password")
    assert any("\u4e00" <= c <= "\u9fff" for c in answer.json["error"]["message"])


async def test_guessing_is_slowed_down_and_told_for_how_long(web: Web) -> None:
    body, claimed = {"password": "wrong"}, {"x-forwarded-for": "10.0.0.9"}
    async with asyncio.timeout(60):  # the wait doubles: it outgrows the slowest machine
        while (answer := await web.call("POST", "/api/login", body)).status == 401:
            pass
    elsewhere = await web.call("POST", "/api/login", body, headers=claimed)

    assert (answer.status, elsewhere.status) == (429, 429)
    assert int(answer.headers["retry-after"]) >= 1


async def test_logging_out_ends_the_session_and_not_only_the_cookie(web: Web) -> None:
    cookie = await web.cookie(web.owner)
    answer = await web.call("POST", "/api/logout", headers=cookie)

    assert answer.status == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert (await web.call("GET", "/api/me", headers=cookie)).code == "session_ended"


async def test_a_new_password_ends_other_sessions_and_keeps_ones_own(web: Web) -> None:
    other, mine = await web.cookie(web.owner), await web.cookie(web.owner)
    answer = await web.call(
        "POST", "/api/me/password", {"old": PASSWORD, "new": "new password"}, headers=mine
    )
    fresh = {"cookie": answer.headers["set-cookie"].partition(";")[0]}

    assert (await web.call("GET", "/api/me", headers=other)).status == 401
    assert (await web.call("GET", "/api/me", headers=mine)).status == 401
    assert (await web.call("GET", "/api/me", headers=fresh)).status == 200


async def test_a_key_opens_what_its_person_may_and_ends_when_removed(web: Web) -> None:
    made = await web.call("POST", "/api/keys", {"name": "script"}, who=web.owner)
    bearer = {"authorization": f"Bearer {made.json['key']}"}
    listed = await web.call("GET", "/api/keys", headers=bearer)
    await web.call("DELETE", f"/api/keys/{made.json['id']}", headers=bearer)
    after = await web.call("GET", "/api/me", headers=bearer)

    assert made.status == 201
    assert [key["id"] for key in listed.json["items"]] == [made.json["id"]]
    assert made.json["key"] not in listed.body.decode()
    assert (after.status, after.code) == (401, "key_wrong")


@pytest.mark.parametrize("header", ["Basic eDp5", "Bearer", "Bearer ", "Bearer x' UNION SELECT 1"])
async def test_a_wrong_key_never_falls_back_on_the_cookie(web: Web, header: str) -> None:
    cookie = await web.cookie(web.owner)

    answer = await web.call("GET", "/api/me", headers=cookie | {"authorization": header})

    assert (answer.status, answer.code) == (401, "key_wrong")


async def test_setting_up_does_not_open_again(web: Web) -> None:
    answer = await web.call("POST", "/api/setup", {"password": "another one"})

    assert (answer.status, answer.code) == (409, "already_set_up")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "tea.example"},
        {"x-forwarded-for": "203.0.113.5"},
        {"host": "tea.example", "x-setup-token": "guess"},
    ],
)
async def test_setting_up_from_elsewhere_needs_the_consoles_token(
    web: Web, headers: dict[str, str]
) -> None:
    body = {"password": "another one"}

    refused = await web.call("POST", "/api/setup", body, headers=headers)
    token = headers | {"x-setup-token": "console-token"}
    let_in = await web.call("POST", "/api/setup", body, headers=token)

    assert (refused.status, refused.code) == (403, "setup_elsewhere")
    assert let_in.code == "already_set_up"
