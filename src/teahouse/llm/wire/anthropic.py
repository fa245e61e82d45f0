"""Anthropic's dialect, which others speak too: `POST /messages`, streamed."""

from __future__ import annotations

import re

from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.wire.anthropic_body import anthropic_body
from teahouse.llm.wire.anthropic_stream import AnthropicStream
from teahouse.llm.wire.fields import as_count, as_object
from teahouse.llm.wire.http import Asked, HttpWire
from teahouse.llm.wire.json_tool import ANSWER

_VERSION = "2023-06-01"
_VERSIONED = re.compile(r"/v\d+\w*$")


class Anthropic(HttpWire):
    models_path = "/models?limit=1000"

    def _base(self, base_url: str) -> str:
        """The vendor's own clients are told the address without its version."""
        return base_url if _VERSIONED.search(base_url) else f"{base_url}/v1"

    def _identity(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}

    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        origin = f"{self.name}/{request.model}"
        body = await anthropic_body(request, profile, origin=origin, files=self._files)
        answer = ANSWER if request.schema is not None and not profile.json_schema else None
        reply = AnthropicStream(
            self.name, request.model, input_estimate=input_estimate, answer=answer
        )
        return Asked("/messages", body, reply)

    def _info(self, row: JsonObject) -> ModelInfo:
        sees = as_object(as_object(row.get("capabilities")).get("image_input")).get("supported")
        return ModelInfo(
            id=str(row.get("id") or ""),
            context_window=as_count(row, "max_input_tokens", "context_window") or None,
            vision=sees if isinstance(sees, bool) else None,
        )
