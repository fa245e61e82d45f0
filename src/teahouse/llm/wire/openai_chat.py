"""The dialect that most endpoints speak: `POST /chat/completions`, streamed."""

from __future__ import annotations

from typing import Any, cast

from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.wire.fields import as_object
from teahouse.llm.wire.http import Asked, HttpWire
from teahouse.llm.wire.openai_chat_body import chat_body
from teahouse.llm.wire.openai_chat_stream import ChatStream


class OpenAIChat(HttpWire):
    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        origin = f"{self.name}/{request.model}"
        body = await chat_body(request, profile, origin=origin, files=self._files)
        reply = ChatStream(self.name, request.model, profile, input_estimate=input_estimate)
        return Asked("/chat/completions", body, reply)

    def _info(self, row: JsonObject) -> ModelInfo:
        return model_row(row)


def model_row(row: JsonObject) -> ModelInfo:
    """A row of `GET /models` in any of the shapes that servers of this family give it."""
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
