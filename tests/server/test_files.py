"""Files in and out."""

from __future__ import annotations

from urllib.parse import unquote

import aiohttp
import pytest

from tests.server.conftest import Web

pytestmark = pytest.mark.anyio


@pytest.fixture
def web(shared: Web) -> Web:
    return shared


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"


async def upload(web: Web, content: bytes, name: str) -> str:
    answer = await web.call("POST", f"/api/files?name={name}", data=content, who=web.owner)
    assert answer.status == 201, answer.body
    return answer.json["id"]


async def test_a_file_comes_back_as_it_went_in(web: Web) -> None:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("file", b"tea leaves" * 1000, filename="茶.txt", content_type="text/plain")
    sent = await web.call("POST", "/api/files", data=form, who=web.owner)
    got = await web.call("GET", f"/api/files/{sent.json['id']}", who=web.owner)

    assert (sent.status, sent.json["name"], sent.json["size"]) == (201, "茶.txt", 10_000)
    assert got.body == b"tea leaves" * 1000
    assert got.headers["content-length"] == "10000"
    assert unquote(got.headers["content-disposition"]).endswith("filename*=UTF-8''茶.txt")


@pytest.mark.parametrize(
    ("content", "name", "shown"),
    [(PNG, "a.png", True), (SVG, "a.svg", False), (HTML, "a.png", False), (HTML, "a.pdf", False)],
)
async def test_only_a_real_picture_is_shown_in_place(
    web: Web, content: bytes, name: str, shown: bool
) -> None:
    got = await web.call("GET", f"/api/files/{await upload(web, content, name)}", who=web.owner)

    assert got.headers["content-disposition"].startswith("inline" if shown else "attachment")
    assert got.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "svg" not in got.headers["content-type"]


@pytest.mark.parametrize("name", ["a%22%0D%0Ax%3A%20y.txt", "..%2F..%2Fetc%2Fpasswd", "%E2%80%AE"])
async def test_a_name_cannot_break_out_of_its_header(web: Web, name: str) -> None:
    got = await web.call("GET", f"/api/files/{await upload(web, b'x', name)}", who=web.owner)

    disposition = got.headers["content-disposition"]
    assert disposition.count('"') == 2
    assert "/" not in unquote(disposition)
    assert "x" not in got.headers


async def test_a_form_without_a_file_is_refused(web: Web) -> None:
    form = aiohttp.FormData()
    form.add_field("other", b"x", filename="x")

    answer = await web.call("POST", "/api/files", data=form, who=web.owner)

    assert (answer.status, answer.code) == (400, "file_missing")


async def test_a_file_past_the_limit_is_refused_before_it_is_whole(web: Web) -> None:
    async def endless():
        while True:
            yield b"x" * (1 << 20)

    answer = await web.call("POST", "/api/files?name=x", data=endless(), who=web.owner)

    assert (answer.status, answer.code) in ((413, "file_too_large"), (413, "body_too_large"))
