"""Google's own dialect: `POST /models/MODEL:streamGenerateContent`, streamed."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.transport import Exchange
from teahouse.llm.wire.gemini_body import gemini_body
from teahouse.llm.wire.gemini_json import json_beside_tools
from teahouse.llm.wire.gemini_media import GeminiMedia
from teahouse.llm.wire.gemini_stream import GeminiStream
from teahouse.llm.wire.http import Asked, Framing
from teahouse.llm.wire.json_objects import JsonObjects

_METHOD = "generateContent"


class Gemini(GeminiMedia):
    models_path = "/models?pageSize=1000"

    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        origin = f"{self.name}/{request.model}"
        request, answer = json_beside_tools(request, profile)
        body = await gemini_body(request, profile, origin=origin, files=self._files)
        reply = GeminiStream(
            self.name, request.model, profile, input_estimate=input_estimate, answer=answer
        )
        model = request.model if "/" in request.model else f"models/{request.model}"
        return Asked(f"/{quote(model)}:streamGenerateContent?alt=sse", body, reply)

    def _base(self, base_url: str) -> str:
        base = base_url.removesuffix("/openai")  # where Google speaks OpenAI's dialect
        return base if urlsplit(base).path else f"{base}/v1beta"

    def _identity(self, key: str | None) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def _framing(self, exchange: Exchange, data: bytes) -> Framing:
        if data.lstrip()[:1] in {b"{", b"["}:  # one array, from who does not know `alt=sse`
            return JsonObjects()
        return super()._framing(exchange, data)

    def _info(self, row: JsonObject) -> ModelInfo | None:
        methods = row.get("supportedGenerationMethods")
        if isinstance(methods, list) and _METHOD not in methods:
            return None
        window = row.get("inputTokenLimit")
        return ModelInfo(
            id=str(row.get("name") or row.get("id") or "").removeprefix("models/"),
            context_window=window if isinstance(window, int) else None,
        )
