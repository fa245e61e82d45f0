"""The dialect that most endpoints speak: `POST /chat/completions`, streamed."""

from __future__ import annotations

from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.wire.http import Asked
from teahouse.llm.wire.model_row import model_row
from teahouse.llm.wire.openai_chat_body import chat_body
from teahouse.llm.wire.openai_chat_stream import ChatStream
from teahouse.llm.wire.openai_media import OpenAIMedia


class OpenAIChat(OpenAIMedia):
    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        origin = f"{self.name}/{request.model}"
        body = await chat_body(request, profile, origin=origin, files=self._files)
        reply = ChatStream(self.name, request.model, profile, input_estimate=input_estimate)
        return Asked("/chat/completions", body, reply)

    def _info(self, row: JsonObject) -> ModelInfo:
        return model_row(row)
