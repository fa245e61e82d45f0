"""OpenAI's newer dialect: `POST /responses`, streamed, with nothing stored on the other side."""

from __future__ import annotations

from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.wire.http import Asked
from teahouse.llm.wire.model_row import model_row
from teahouse.llm.wire.openai_media import OpenAIMedia
from teahouse.llm.wire.openai_responses_body import responses_body
from teahouse.llm.wire.openai_responses_stream import ResponsesStream


class OpenAIResponses(OpenAIMedia):
    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        origin = f"{self.name}/{request.model}"
        body = await responses_body(request, profile, origin=origin, files=self._files)
        reply = ResponsesStream(self.name, request.model, input_estimate=input_estimate)
        return Asked("/responses", body, reply)

    def _info(self, row: JsonObject) -> ModelInfo:
        return model_row(row)
