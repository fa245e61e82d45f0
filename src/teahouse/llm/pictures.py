"""Pictures that a vendor paints after a description."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct, field

from teahouse.core.messages import JsonObject, Usage
from teahouse.llm.usage import Counted


class PictureRequest(Struct, frozen=True, kw_only=True):
    """`extra` are the vendor's further wishes: size, quality, background …"""

    model: str = ""
    prompt: str
    count: int = 1
    extra: JsonObject = field(default_factory=dict[str, object])


class Picture(Struct, frozen=True, kw_only=True):
    """Its bytes in base64, or the address where the vendor keeps it for a while."""

    encoded: str | None = None
    url: str | None = None
    revised_prompt: str | None = None


class Painted(Counted, frozen=True, kw_only=True):
    """`told` is what the vendor says of all of them: size, quality, format."""

    pictures: tuple[Picture, ...]
    usage: Usage
    told: JsonObject = field(default_factory=dict[str, object])


@runtime_checkable
class Painter(Protocol):
    async def paint(self, request: PictureRequest, /) -> Painted:
        """Raises `ProviderError`."""
        ...
