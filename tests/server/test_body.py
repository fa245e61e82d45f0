"""Bodies: what could be understood in two ways is refused with a clear word, and nothing breaks."""

from __future__ import annotations

import io
import json
import socket
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.errors import Invalid
from teahouse.server.body import strict
from tests.server.conftest import Web

pytestmark = pytest.mark.anyio


@pytest.fixture
def web(shared: Web) -> Web:
    return shared


JSON = {"content-type": "application/json"}


class Tea(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    leaves: Any = None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"text": "a", "text": "b"}', "key_twice"),
        (b'{"text": "a", "files": [], "reply_to": {"x": 1, "x": 2}}', "not_json"),
        (b'{"text": NaN}', "not_json"),
        (b'{"text": "\xff"}', "not_utf8"),
        ('{"text": "你好"}'.encode("gb18030"), "not_utf8"),
        (b'{"text": "\\ud800"}', "text_surrogates"),
        (b'{"text": "\\ud800\\ud800"}', "text_surrogates"),
        (b'{"text": "a", "colour": 1}', "field_unknown"),
        (b'{"agent": "a_1"}', "field_missing"),
        (b'{"text": 1}', "not_json"),
        (b'{"text": "a"', "not_json"),
        (b"[]", "not_json"),
        (b"[" * 200_000, "not_json"),
        (b'{"text": ' + b"9" * 5000 + b"}", "not_json"),
        (b"", "body_missing"),
    ],
)
async def test_a_body_that_is_not_plain_json_is_refused(web: Web, body: bytes, code: str) -> None:
    answer = await web.call("POST", "/api/messages", data=body, headers=JSON, who=web.owner)

    assert (answer.status, answer.code) == (400, code)


async def test_an_unknown_field_is_named(web: Web) -> None:
    answer = await web.call("POST", "/api/agents", {"name": "a", "colour": 1}, who=web.owner)

    assert "colour" in answer.json["error"]["message"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_only_json_is_taken_for_json(web: Web, kind: str) -> None:
    headers = {"content-type": kind}

    answer = await web.call("POST", "/api/messages", data=b"{}", headers=headers, who=web.owner)

    assert (answer.status, answer.code) == (415, "media_type")


@pytest.mark.parametrize(("path", "size"), [("/api/messages", 1 << 20), ("/api/login", 16 << 10)])
async def test_a_body_has_a_limit_and_strangers_a_lower_one(web: Web, path: str, size: int) -> None:
    body = io.BytesIO(json.dumps({"password": "x" * size}).encode())

    answer = await web.call("POST", path, data=body, headers=JSON, who=web.owner)

    assert (answer.status, answer.code) == (413, "body_too_large")


async def test_a_long_text_is_refused_by_its_length(web: Web) -> None:
    agent = web.house.services.agent

    answer = await web.call(
        "POST", "/api/messages", {"agent": agent, "text": "x" * 1_000_000}, who=web.owner
    )

    assert (answer.status, answer.code) == (413, "text_too_long")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "no_such_page"),
        ("POST", "/api/agents/x/y/z", 404, "no_such_page"),
        ("POST", "/api/me", 405, "wrong_method"),
        ("DELETE", "/healthz", 405, "wrong_method"),
        ("GET", "/api/messages", 400, "parameter_missing"),
        ("GET", "/api/conversations?limit=0", 400, "parameter_wrong"),
        ("GET", "/api/conversations?limit=many", 400, "parameter_wrong"),
        ("GET", "/api/agents/a_none", 404, "agent_unknown"),
    ],
)
async def test_every_error_has_the_same_form(
    web: Web, method: str, path: str, status: int, code: str
) -> None:
    answer = await web.call(method, path, who=web.owner)

    assert (answer.status, answer.code) == (status, code)
    assert set(answer.json) == {"error"}
    assert set(answer.json["error"]) - {"hint"} == {"code", "message", "retryable"}
    assert ("allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize(
    ("accept", "word"),
    [
        ("zh-CN,zh;q=0.9", "没有"),
        ("zh-TW", "沒有"),
        ("fr, en;q=0.1, zh;q=0.8", "没有"),
        ("fr", "no "),
        ("*;;q=x,,", "no "),
    ],
)
async def test_errors_are_told_in_the_readers_language(web: Web, accept: str, word: str) -> None:
    answer = await web.call(
        "POST", "/api/keys", {"nom": 1}, who=web.owner, headers={"accept-language": accept}
    )

    assert word in answer.json["error"]["message"]


async def test_a_peer_that_goes_away_in_mid_body_does_no_harm(
    web: Web, caplog: pytest.LogCaptureFixture
) -> None:
    host, port = web.address.removeprefix("http://").split(":")
    cookie = (await web.cookie(web.owner))["cookie"]
    with socket.create_connection((host, int(port))) as peer:
        head = f"POST /api/messages HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n"
        peer.sendall(
            f"{head}content-type: application/json\r\ncontent-length: 90\r\n\r\n{{".encode()
        )

    assert (await web.call("GET", "/healthz")).status == 200
    assert "failed" not in caplog.text


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(Invalid):
        assert strict(body, Tea).name is not None


@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(), max_size=5))
def test_what_json_can_say_comes_through(leaves: dict[str, Any]) -> None:
    text = json.dumps({"name": "龙井", "leaves": leaves})

    big = any(isinstance(one, int) and abs(one) >= 2**63 for one in leaves.values())
    if not big:
        assert strict(text.encode(), Tea).leaves == leaves
