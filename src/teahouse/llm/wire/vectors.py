"""What the dialects share of asking for vectors and reading them."""

from __future__ import annotations

from typing import Any

import msgspec

from teahouse.core.messages import JsonObject
from teahouse.llm.embedding import Input, Vector, unpacked
from teahouse.llm.errors import Malformed, RequestRefused


def given(**fields: object) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def read_vectors(provider: str, found: list[Any], count: int) -> tuple[Vector, ...]:
    """Raises `Malformed` for anything but `count` vectors of numbers."""
    if len(found) != count:
        raise Malformed(provider, f"{len(found)} embeddings for {count} inputs")
    try:
        return tuple(_vector(one) for one in found)
    except (msgspec.ValidationError, ValueError) as error:
        raise Malformed(provider, str(error)) from error


def text_of(provider: str, one: Input) -> str:
    """Tokens mean something to the one model only whose they are, and some take none."""
    if not isinstance(one, str):
        raise RequestRefused(provider, "input: int[]")
    return one


def _vector(value: Any) -> Vector:
    if isinstance(value, str):
        unpacked(value)
        return value
    numbers = msgspec.convert(value, tuple[float, ...])
    if not numbers:
        raise ValueError("an empty embedding")
    return numbers
