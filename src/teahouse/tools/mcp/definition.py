"""A tool as its server describes it: bounded, freed of hidden signs, and known by its hash.

The words are the server's own, and no more to be trusted than what its tools return.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from teahouse.core.messages import JsonObject

MOST_WORDS: Final = 2_000  # characters of a description
MOST_SCHEMA: Final = 64 << 10  # bytes
DEEPEST: Final = 32
_LONGEST_NAME: Final = 256

Standing: TypeAlias = Literal["accepted", "new", "changed"]
"""`new`: came after the server was accepted; `changed`: is no longer what was accepted. Neither can
be called."""


class Hints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the server claims of a tool; nothing may be allowed on its word."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class Definition(Struct, frozen=True, kw_only=True):
    """`tool` is the server's own name for it; `digest` is of all that the server said."""

    tool: str
    description: str
    parameters: JsonObject
    digest: str
    hints: Hints = Hints()


class Unfit(Exception):
    """Too long, too large or too deep to be shown to a model."""


def read(tool: str, description: str, schema: JsonObject, hints: Hints) -> Definition:
    """Raises `Unfit`."""
    if not 0 < len(tool) <= _LONGEST_NAME:
        raise Unfit("name")
    if _depth(schema) > DEEPEST:
        raise Unfit("depth")
    told = msgspec.json.encode([tool, description, schema, hints], order="sorted")
    if len(told) > MOST_SCHEMA:
        raise Unfit("size")
    parameters = cast("JsonObject", _plain(schema))
    return Definition(
        tool=tool,
        description=_cut(visible(description)),
        parameters={**parameters, "type": "object"},
        digest=hashlib.sha256(told).hexdigest(),
        hints=hints,
    )


def visible(text: str) -> str:
    """Without signs that a person cannot see, but a model reads."""
    return "".join(sign for sign in text if sign in "\n\t" or not _is_hidden(sign))


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cs", "Cn"}


def _cut(text: str) -> str:
    return text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 1]}…"


def _plain(value: object) -> object:
    match value:
        case dict():
            return {
                visible(key): _plain(below) for key, below in cast("dict[str, Any]", value).items()
            }
        case list():
            return [_plain(below) for below in cast("list[Any]", value)]
        case str():
            return visible(value)
        case _:
            return value


def _depth(value: object) -> int:
    """By levels, not by recursion: how deep it goes is what we are about to find out."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        depth += 1
        level = [below for one in level for below in _below(one)]
    return depth


def _below(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        return list(cast("Mapping[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


class Pinned(Struct, frozen=True, kw_only=True):
    """What a person has accepted of a server: its `place`, and the digests of its tools."""

    place: str
    tools: dict[str, str]


def standing(definition: Definition, pinned: Pinned) -> Standing:
    known = pinned.tools.get(definition.tool)
    if known is None:
        return "new"
    return "accepted" if known == definition.digest else "changed"
