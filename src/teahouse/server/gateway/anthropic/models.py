"""The models and agents of the house as Anthropic's clients list them.

What cannot answer now is left out: a program chooses from the list and has nobody to ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from teahouse.core.codec import encode
from teahouse.core.messages import JsonObject

if TYPE_CHECKING:
    from teahouse.server.ports import ModelEntry

_UNKNOWN: Final = "1970-01-01T00:00:00Z"  # as Anthropic says of a date that nobody knows


def models(entries: Sequence[ModelEntry]) -> bytes:
    """All in one page, whatever was asked: there are never many."""
    data = [_row(entry) for entry in entries if entry.ready]
    return encode(
        {
            "data": data,
            "first_id": data[0]["id"] if data else None,
            "last_id": data[-1]["id"] if data else None,
            "has_more": False,
        }
    )


def model(entry: ModelEntry) -> bytes:
    return encode(_row(entry))


def _row(entry: ModelEntry) -> JsonObject:
    return {
        "type": "model",
        "id": entry.id,
        "display_name": entry.id,
        "created_at": _UNKNOWN,
    }
