"""Templates: text with `{{parameter}}`, `{{secret:NAME}}` and `{{basic:NAME}}` in it.

`basic` is a secret of the form `user:password`, as the header of that scheme wants it.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct

OPENING: Final = "{{"
_HOLE: Final = re.compile(r"\{\{\s*(?:(secret|basic):)?([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}", re.ASCII)


class Hole(Struct, frozen=True):
    name: str
    kind: Literal["argument", "secret", "basic"] = "argument"

    @property
    def is_secret(self) -> bool:
        return self.kind != "argument"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.is_secret else self.name


Template: TypeAlias = tuple[str | Hole, ...]


def parse(text: str) -> Template:
    """Raises `ValueError` with the text that begins a hole and is none."""
    parts: list[str | Hole] = []
    at = 0
    for found in _HOLE.finditer(text):
        parts += [text[at : found.start()], _hole(found)]
        at = found.end()
    parts.append(text[at:])
    for part in parts:
        if isinstance(part, str) and OPENING in part:
            raise ValueError(part[part.index(OPENING) :][:40])
    return tuple(part for part in parts if part != "")


def holes(text: str) -> tuple[Hole, ...]:
    return tuple(part for part in parse(text) if isinstance(part, Hole))


def whole(template: Template) -> Hole | None:
    """The hole that a template is nothing but."""
    return template[0] if len(template) == 1 and isinstance(template[0], Hole) else None


def _hole(found: re.Match[str]) -> Hole:
    match found[1]:
        case "secret" | "basic" as kind:
            return Hole(found[2], kind)
        case _:
            return Hole(found[2])
