"""Pictures and files on their way to a model."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from teahouse.core.messages import Blob

BlobReader: TypeAlias = Callable[[str], Awaitable[bytes]]
"""Gives the bytes of a file by its id (f_…); raises `NotFound`."""

PDF = "application/pdf"
PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


async def data_url(blob: Blob, read: BlobReader) -> str:
    data = base64.b64encode(await read(blob.file)).decode("ascii")
    return f"data:{blob.media_type};base64,{data}"


def mention(blob: Blob) -> str:
    """What a model reads of a file that it cannot see."""
    return f"[file: {blob.name}, {blob.media_type}, {blob.size} bytes]"
