"""The page itself: built files by their hashed names, and `index.html` for every address in it."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from litestar import HttpMethod, Response, get, route
from litestar.params import FromPath
from litestar.response import File
from msgspec import Struct

from teahouse.core.errors import NotFound
from teahouse.server.body import Request
from teahouse.server.errors import reader_language

ROOT = Path(__file__).parent.parent / "static"
FOREVER = "public, max-age=31536000, immutable"
EACH_TIME = "no-cache"
TYPES = {  # of texts the framework adds the charset
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/plain",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


class Asset(Struct, frozen=True):
    """A small file is kept in memory; a large one is read when it is asked for."""

    path: Path
    media_type: str
    caching: str
    etag: str
    content: bytes | None


KEPT_BYTES = 64 << 10
ANY = [HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE]


@get(["/", "/{path:path}"], open=True, include_in_schema=False)
async def page(request: Request, path: FromPath[str] = "/") -> Response[bytes] | File:
    built = assets(ROOT, _built_at(ROOT))
    asset = built.get(path.lstrip("/"))
    if asset is None:
        if "." in path.rpartition("/")[2]:
            raise NotFound("no_such_page")
        asset = built.get("index.html")
    if asset is None:
        return _not_built(request)
    headers = {"cache-control": asset.caching, "etag": asset.etag}
    if request.headers.get("if-none-match") == asset.etag:
        return Response(b"", status_code=304, headers=headers)
    if asset.content is None:
        return File(
            asset.path,
            media_type=asset.media_type,
            headers={"cache-control": asset.caching},
            content_disposition_type="inline",
        )
    return Response(asset.content, media_type=asset.media_type, headers=headers)


@route("/api/{path:path}", http_method=ANY, open=True, include_in_schema=False, status_code=200)
async def nothing(path: FromPath[str]) -> None:
    raise NotFound("no_such_page")


def _built_at(root: Path) -> int:
    """Changes when the page is built anew under a running server."""
    try:
        return (root / "index.html").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@lru_cache(maxsize=1)
def assets(root: Path, built_at: int) -> dict[str, Asset]:
    """Every file that may be served, by its address: what is not here does not exist."""
    files = [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []
    return {path.relative_to(root).as_posix(): _asset(root, path) for path in files}


def _asset(root: Path, path: Path) -> Asset:
    content = path.read_bytes()
    hashed = path.relative_to(root).parts[0] == "assets"
    return Asset(
        path=path,
        media_type=TYPES.get(path.suffix, "application/octet-stream"),
        caching=FOREVER if hashed else EACH_TIME,
        etag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        content=content if len(content) <= KEPT_BYTES else None,
    )


def _not_built(request: Request) -> Response[bytes]:
    language = reader_language(request.headers.get("accept-language"), request.house.language)
    problem = NotFound("page_not_built").problem(language)
    words = f"{problem.message}\n{problem.hint}\n"
    return Response(words.encode(), status_code=503, media_type="text/plain")


HANDLERS = (page, nothing)
