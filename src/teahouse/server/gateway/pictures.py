"""Pictures, sounds and files inside of requests: each becomes a blob, its bytes beside it."""

from __future__ import annotations

import binascii
import hashlib
from typing import Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from teahouse.core.errors import Invalid
from teahouse.core.messages import Blob

_SHOWN: Final = 60  # characters of an address that the error quotes
_SUFFIXES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
}
_URLSAFE: Final = str.maketrans("-_", "+/")


class Media:
    """What one request brings along; `media` goes into `ModelRequest.media`.

    `field` is the path of the field for the error. A blob's `file` is never a name that the client
    chose: it could be that of somebody else's file in the house.
    """

    def __init__(self) -> None:
        self.media: dict[str, bytes] = {}

    def add_url(self, url: str, field: str, *, name: str = "", kind: str = "image/jpeg") -> Blob:
        """Take a data URL or an address; `kind` where neither tells what it is."""
        if url[:5].lower() == "data:":
            return self.add_data_url(url, field, name=name, kind=kind)
        return self.add_address(url, field, name=name, kind=kind)

    def add_data_url(
        self, url: str, field: str, *, name: str = "", kind: str = "image/jpeg"
    ) -> Blob:
        head, comma, data = url.partition(",")
        if head[:5].lower() != "data:" or not comma:
            raise Invalid("media_address", field=field, value=url[:_SHOWN])
        declared, *options = head[5:].split(";")
        kind = declared.strip() or kind
        if any(option.strip().lower() == "base64" for option in options):
            return self.add_base64(data, field, kind=kind, name=name)
        return self.add_bytes(unquote_to_bytes(data), kind=kind, name=name)

    def add_base64(self, data: str, field: str, *, kind: str, name: str = "") -> Blob:
        try:
            content = _decoded(data)
        except ValueError as error:
            raise Invalid("media_base64", field=field, detail=error) from error
        return self.add_bytes(content, kind=kind, name=name)

    def add_bytes(self, content: bytes, *, kind: str, name: str = "") -> Blob:
        file = f"inline:{hashlib.sha256(content).hexdigest()}"
        self.media[file] = content
        kind = _kind(content, kind)
        return Blob(
            file=file,
            media_type=kind,
            name=name or kind.replace("/", "."),
            size=len(content),
        )

    def add_address(
        self, url: str, field: str, *, name: str = "", kind: str = "image/jpeg"
    ) -> Blob:
        """An address stays one: whoever answers the request fetches it, not this house."""
        url = url.strip()
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise Invalid("media_address", field=field, value=url[:_SHOWN]) from error
        fetched = parts.scheme in {"http", "https"} and parts.netloc
        if not fetched or not url.isprintable() or " " in url:
            raise Invalid("media_address", field=field, value=url[:_SHOWN])
        last = unquote(parts.path.rpartition("/")[2])
        kind = _SUFFIXES.get(last.rpartition(".")[2].lower(), kind)
        return Blob(file=url, media_type=kind, name=name or last or parts.netloc, size=0)


def _decoded(data: str) -> bytes:
    """Some break the lines, use the alphabet of addresses, or leave out the padding."""
    try:
        content = binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        data = "".join(data.split()).translate(_URLSAFE).rstrip("=")
        content = binascii.a2b_base64(data + "=" * (-len(data) % 4), strict_mode=True)
    if not content:
        raise ValueError("empty")
    return content


def _kind(content: bytes, declared: str) -> str:
    """What the bytes say before what was declared: vendors refuse a picture of the wrong name."""
    if content.startswith(b"\x89PNG\r\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content.startswith(b"%PDF-"):
        return "application/pdf"
    return declared.lower()
