"""The page's files: hashed ones for ever, the rest each time, and nothing else of the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from teahouse.server.routes import page
from tests.server.conftest import Web

pytestmark = pytest.mark.anyio


@pytest.fixture
def web(shared: Web) -> Web:
    return shared


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "static"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html>", "utf-8")
    (root / "assets" / "app-a1b2.js").write_text("let tea;", "utf-8")
    (root / "assets" / "big-c3d4.js").write_text("/" * 200_000, "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    monkeypatch.setattr(page, "ROOT", root)
    return root


async def test_files_with_a_hash_in_their_name_are_kept_for_ever(web: Web, built: Path) -> None:
    for name, size in (("app-a1b2.js", 8), ("big-c3d4.js", 200_000)):
        answer = await web.call("GET", f"/assets/{name}")

        assert (answer.status, len(answer.body)) == (200, size)
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("path", ["/", "/index.html", "/chat/c_1", "/settings/models"])
async def test_every_address_of_the_page_is_the_page(web: Web, built: Path, path: str) -> None:
    answer = await web.call("GET", path)
    again = await web.call("GET", path, headers={"if-none-match": answer.headers["etag"]})

    assert (answer.status, answer.body) == (200, b"<!doctype html>")
    assert answer.headers["cache-control"] == "no-cache"
    assert (again.status, again.body) == (304, b"")


async def test_a_page_that_is_built_anew_is_served_at_once(web: Web, built: Path) -> None:
    await web.call("GET", "/")
    (built / "index.html").write_text("<!doctype html>new", "utf-8")
    (built / "assets" / "new-e5f6.js").write_text("let more;", "utf-8")

    assert (await web.call("GET", "/")).body == b"<!doctype html>new"
    assert (await web.call("GET", "/assets/new-e5f6.js")).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/gone-0000.js",
        "/assets/..%2f..%2fsecret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/favicon.ico",
        "/assets/app-a1b2.js%00.html",
    ],
)
async def test_nothing_else_is_served(web: Web, built: Path, path: str) -> None:
    answer = await web.call("GET", path)

    assert (answer.status, answer.code) == (404, "no_such_page")


async def test_without_a_built_page_one_is_told_what_to_do(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "ROOT", tmp_path / "nothing")

    answer = await web.call("GET", "/")

    assert answer.status == 503
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"make web" in answer.body
