"""Texts as vectors: what is asked of a vendor that embeds, and what it gives."""

from __future__ import annotations

import base64
import binascii
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct, field

from teahouse.core.messages import JsonObject, Usage
from teahouse.llm.settings import WireName
from teahouse.llm.tokens import estimate
from teahouse.llm.usage import Counted

Input: TypeAlias = str | tuple[int, ...]
"""A text, or the tokens of one, which only an OpenAI-compatible endpoint takes."""
Vector: TypeAlias = tuple[float, ...] | str
"""Numbers, or little-endian 32-bit floats in base64: as it came, so that nothing is rounded."""


class EmbedRequest(Struct, frozen=True, kw_only=True):
    """`packed`: ask for base64 where the endpoint knows it, which is a third of the size. `extra`
    goes into the body as it is, and `own[DIALECT]` where that dialect is spoken."""

    model: str = ""
    inputs: tuple[Input, ...]
    dimensions: int | None = None
    packed: bool = False
    extra: JsonObject = field(default_factory=dict[str, object])
    own: Mapping[WireName, JsonObject] = field(default_factory=dict[WireName, JsonObject])

    def fields(self, wire: WireName) -> JsonObject:
        """What stands in the body besides what we know."""
        return {**self.extra, **self.own.get(wire, {})}


class Embedded(Counted, frozen=True, kw_only=True):
    """One vector for each input, in their order. `model`: who gave them, where it is another model
    than was asked."""

    vectors: tuple[Vector, ...]
    usage: Usage


@runtime_checkable
class Embedder(Protocol):
    async def embed(self, request: EmbedRequest, /) -> Embedded:
        """Raises `ProviderError`."""
        ...


def floats(vector: Vector) -> Sequence[float]:
    if not isinstance(vector, str):
        return vector
    numbers = array("f", unpacked(vector))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def packed(vector: Vector) -> str:
    if isinstance(vector, str):
        return vector
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def unpacked(vector: str) -> bytes:
    """Raises `ValueError` for what is no base64 of 32-bit floats."""
    try:
        data = base64.b64decode(vector, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if not data or len(data) % 4:
        raise ValueError(f"{len(data)} bytes")
    return data


def estimate_inputs(inputs: Sequence[Input]) -> int:
    return sum(estimate(one) if isinstance(one, str) else len(one) for one in inputs)
