"""A response of pieces whose source is closed at once when the reader goes, not when it is
collected as garbage."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

import anyio
from litestar.response.streaming import ASGIStreamingResponse

if TYPE_CHECKING:
    from litestar.types import Send

CLOSE_S = 5.0


class Pieces(ASGIStreamingResponse):
    def __init__(
        self, source: AsyncGenerator[bytes], media_type: str, headers: Mapping[str, str]
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            iterator=source, media_type=media_type, headers=dict(headers)
        )
        self._source = source

    async def _stream(self, send: Send) -> None:
        try:
            await super()._stream(send)
        finally:
            # shielded: a source that is closed may have to wait itself, for a thread that closes
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._source.aclose()
