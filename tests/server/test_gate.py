"""The gate: names, origins and what a browser may do with what it gets."""

from __future__ import annotations

import aiohttp
import pytest

from teahouse.core.errors import TeahouseError
from teahouse.server.gate import host_of
from tests.server.conftest import Web

pytestmark = pytest.mark.anyio


@pytest.fixture
def web(shared: Web) -> Web:
    return shared


NAMES = {"tea.example"}


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8788", "127.0.0.1:1", "[::1]:8788", "192.168.1.5", "TEA.example:443"],
)
def test_a_house_answers_to_its_names_and_to_addresses(host: str) -> None:
    assert host_of([(b"host", host.encode())], NAMES) == host.lower()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "tea.example.evil.example",
        "localhost.evil.example",
        "a?x",
        "localhost/#",
        "localhost@evil.example",
        "127.0.0.1:8788, evil.example",
        "",
        "[::1",
        "localhost:",
        "localhost:999999",
    ],
)
def test_a_house_answers_to_no_other_name(host: str) -> None:
    with pytest.raises(TeahouseError):
        host_of([(b"host", host.encode())], NAMES)


def test_a_request_with_two_hosts_is_refused() -> None:
    with pytest.raises(TeahouseError):
        host_of([(b"host", b"localhost"), (b"host", b"evil.example")], NAMES)


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/status", "/assets/x.js", "/api/me"])
async def test_a_foreign_name_opens_nothing_at_all(web: Web, path: str) -> None:
    answer = await web.call("GET", path, headers={"host": "evil.example"})

    assert (answer.status, answer.code) == (403, "host_unknown")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://localhost.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_another_page_can_change_nothing(web: Web, headers: dict[str, str]) -> None:
    agent = web.house.services.agent
    body = {"agent": agent, "text": "hi"}

    answer = await web.call("POST", "/api/messages", body, who=web.owner, headers=headers)
    login = await web.call("POST", "/api/login", {"password": "x"}, headers=headers)

    assert (answer.status, answer.code) == (403, "origin_foreign")
    assert login.code == "origin_foreign"
    assert not (await web.house.chat.conversations(web.owner)).items


@pytest.mark.parametrize("site", ["same-origin", "none", None])
async def test_the_houses_own_page_and_programs_may(web: Web, site: str | None) -> None:
    own = {"origin": web.address} | ({"sec-fetch-site": site} if site else {})
    body = {"name": "script"}

    assert (await web.call("POST", "/api/keys", body, who=web.owner, headers=own)).status == 201
    assert (await web.call("POST", "/api/keys", body, who=web.owner)).status == 201


async def test_a_page_of_another_origin_gets_no_socket(web: Web) -> None:
    cookie = await web.cookie(web.owner)
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await web.client.ws_connect(
            web.address + "/ws", headers=cookie | {"origin": "http://evil.example"}
        )

    assert refused.value.status == 403
    async with web.socket(web.owner, origin=web.address) as socket:
        await socket.send(type="ping")
        assert await socket.next() == {"type": "pong"}


async def test_what_can_be_got_can_be_asked_for_its_head(web: Web) -> None:
    answer = await web.call("HEAD", "/healthz")

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-length"] == "15"


@pytest.mark.parametrize("path", ["/", "/api/status", "/api/me", "/nothing.js", "/api/nothing"])
async def test_every_answer_ties_the_browsers_hands(web: Web, path: str) -> None:
    headers = (await web.call("GET", path)).headers

    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers
