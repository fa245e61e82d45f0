"""Pictures, sounds and files on their way to a model."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from teahouse.core.messages import Blob

BlobReader: TypeAlias = Callable[[str], Awaitable[bytes]]
"""Gives the bytes of a file by its id (f_…); raises `NotFound`."""

PDF = "application/pdf"
PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
SOUNDS: Final[Mapping[str, str]] = {
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
}
"""Sounds that may stand in a message, and their names there."""


class Files:
    """The bytes of files: what a request brought along first, then what the house keeps."""

    def __init__(self, read: BlobReader | None, brought: Mapping[str, bytes]) -> None:
        self._read, self._brought = read, brought

    def has(self, blob: Blob) -> bool:
        """Whether it can be shown at all, by its bytes or by its address."""
        return self._read is not None or blob.file in self._brought or is_address(blob)

    async def base64(self, blob: Blob) -> str:
        data = self._brought.get(blob.file)
        if data is None:
            assert self._read is not None  # whoever asks has asked `has` before
            data = await self._read(blob.file)
        return base64.b64encode(data).decode("ascii")

    async def url(self, blob: Blob) -> str:
        """Its address where it has one, else its bytes as one."""
        if is_address(blob):
            return blob.file
        return f"data:{blob.media_type};base64,{await self.base64(blob)}"


def is_address(blob: Blob) -> bool:
    """Whether it lies somewhere else, for the vendor to fetch."""
    return blob.file[:8].lower().startswith(("http://", "https://"))


def is_picture(blob: Blob) -> bool:
    """What lies elsewhere may be of a kind that nobody here knows."""
    if is_address(blob):
        return blob.media_type.startswith("image/")
    return blob.media_type in PICTURES


def mention(blob: Blob) -> str:
    """What a model reads of a file that it cannot see."""
    if is_address(blob):
        return f"[file: {blob.name}, {blob.media_type}, {blob.file}]"
    return f"[file: {blob.name}, {blob.media_type}, {blob.size} bytes]"


def result_files(name: str, call: str) -> str:
    """What stands before files that a tool gave, where its result cannot hold them."""
    return f"[files in the result of {name}, call {call}]"
