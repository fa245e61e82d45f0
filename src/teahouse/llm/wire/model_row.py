"""A row of `GET /models`, in any of the shapes that servers of OpenAI's family give it."""

from __future__ import annotations

from typing import Any, cast

from teahouse.core.messages import JsonObject
from teahouse.llm.provider import ModelInfo
from teahouse.llm.wire.fields import as_object


def model_row(row: JsonObject) -> ModelInfo:
    window = next(
        (
            row[key]
            for key in ("context_window", "context_length", "max_model_len", "max_context_length")
            if isinstance(row.get(key), int)
        ),
        None,
    )
    return ModelInfo(
        id=str(row.get("id") or row.get("name") or ""), context_window=window, vision=_vision(row)
    )


def _vision(row: JsonObject) -> bool | None:
    capable = as_object(row.get("capabilities")).get("vision")
    if isinstance(capable, bool):
        return capable
    kinds = as_object(row.get("architecture")).get("input_modalities")
    return "image" in cast("list[Any]", kinds) if isinstance(kinds, list) else None
