"""Finds what a person means by a name: an agent, a conversation, a person."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from teahouse.cli.client import Client
from teahouse.core.errors import Invalid, NotFound

LAST = "last"


async def agent(client: Client, name: str | None) -> dict[str, Any]:
    """By id, name, or the beginning of a name; without one the first of the house."""
    found = await client.items("/api/agents")
    if name is None:
        if not found:
            raise NotFound("agents_none")
        return found[0]
    return _one(found, name, "agent_unnamed")


async def person(client: Client, name: str) -> dict[str, Any]:
    return _one(await client.items("/api/people"), name, "person_unnamed")


async def conversation(client: Client, name: str) -> dict[str, Any]:
    """By id or the beginning of an id; `last` is the one with the newest post."""
    found = await client.items("/api/conversations", limit=200)
    found += await client.items("/api/conversations", limit=200, archived="true")
    if name == LAST and found:
        return max(found, key=lambda one: str(one["updated_at"]))
    matches = [one for one in found if one["id"].startswith(name)]
    if name and len(matches) == 1:
        return matches[0]
    raise NotFound("conversation_unnamed", name=name)


def _one(found: Sequence[dict[str, Any]], name: str, code: str) -> dict[str, Any]:
    wanted = name.strip().casefold()
    names = [str(one["name"]) for one in found]
    folded = [one.casefold() for one in names]
    for fits in (
        [one["id"] == name for one in found],
        [one == wanted for one in folded],
        [bool(wanted) and one.startswith(wanted) for one in folded],
    ):
        matches = [one for one, is_it in zip(found, fits, strict=True) if is_it]
        if len(matches) == 1:
            return matches[0]
        if matches:
            which = ", ".join(f"{one['name']} ({one['id']})" for one in matches)
            raise Invalid("name_ambiguous", name=name, names=which)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    raise NotFound(code, name=name, names=", ".join(near or names))
