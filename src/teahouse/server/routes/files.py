"""Files in and out. What comes out can do nothing in the reader's browser but be looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, cast

from litestar import get, post
from litestar.datastructures import UploadFile
from litestar.params import FromPath, FromQuery

from teahouse.core.errors import Invalid
from teahouse.server.answers import FileView
from teahouse.server.body import Request
from teahouse.server.disposition import attachment, inline
from teahouse.server.streaming import Pieces

MAX_FILE = 50 << 20
MULTIPART_EXTRA = 64 << 10
CHUNK = 256 << 10
# shown in place; an SVG is a document with scripts and only ever downloaded
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
CSP = "default-src 'none'; sandbox"


@post("/api/files", request_max_body_size=MAX_FILE + MULTIPART_EXTRA)
async def upload_file(request: Request, name: FromQuery[str] = "") -> FileView:
    """A multipart form with the field `file`, or the bare bytes with `?name=`."""
    files = request.house.files
    if request.content_type[0] != "multipart/form-data":
        chunks = _bare(request)
    else:
        upload: Any = (await request.form()).get("file")
        if not isinstance(upload, UploadFile):
            raise Invalid("file_missing")
        name, chunks = name or upload.filename, _parts(upload)
    record = await files.put(request.person.id, name or "file", chunks, limit=MAX_FILE)
    return FileView.of(record)


@get("/api/files/{file:str}")
async def get_file(request: Request, file: FromPath[str]) -> Pieces:
    files = request.house.files
    record = await files.get(request.person.id, file)
    shown = record.media_type in IMAGES
    headers = {
        "content-disposition": (inline if shown else attachment)(record.name),
        "content-length": str(record.size),
        "content-security-policy": CSP,
        "cache-control": "private, max-age=3600",
    }
    return Pieces(await _begun(files.read(record)), record.media_type, headers)


async def _begun(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Read the first piece already: what is lost is told before the answer has begun."""
    first = await anext(pieces, b"")

    async def all_of_it() -> AsyncGenerator[bytes]:
        try:
            yield first
            async for piece in pieces:
                yield piece
        finally:
            await cast("AsyncGenerator[bytes]", pieces).aclose()

    return all_of_it()


async def _bare(request: Request) -> AsyncGenerator[bytes]:
    async for chunk in request.stream():
        if chunk:
            yield chunk


async def _parts(upload: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await upload.read(CHUNK):
        yield chunk


HANDLERS = (upload_file, get_file)
