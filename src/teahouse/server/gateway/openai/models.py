"""The models and agents of the house as OpenAI's clients list them.

What cannot answer now is left out: a program chooses from the list and has nobody to ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teahouse.core.codec import encode
from teahouse.core.messages import JsonObject

if TYPE_CHECKING:
    from teahouse.server.ports import ModelEntry


def models(entries: Sequence[ModelEntry]) -> bytes:
    data = [_row(entry) for entry in entries if entry.ready]
    return encode({"object": "list", "data": data})


def model(entry: ModelEntry) -> bytes:
    return encode(_row(entry))


def _row(entry: ModelEntry) -> JsonObject:
    """With what OpenAI does not tell under the names that others of its family have for it."""
    row: JsonObject = {
        "id": entry.id,
        "object": "model",
        "created": 0,
        "owned_by": entry.provider,
    }
    if entry.context_window is not None:
        row["context_length"] = entry.context_window
    if entry.vision is not None:
        kinds = ["text", "image"] if entry.vision else ["text"]
        row["architecture"] = {"input_modalities": kinds, "output_modalities": ["text"]}
    if entry.input_price is not None and entry.output_price is not None:
        row["pricing"] = {
            "prompt": _per_token(entry.input_price),
            "completion": _per_token(entry.output_price),
        }
    return row


def _per_token(price: float) -> str:
    """From dollars per million, without an exponent."""
    return f"{price / 1e6:.12f}".rstrip("0").rstrip(".")
