"""Requests in the Ollama dialect: OpenAI's messages, with arguments and pictures as they are."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from msgspec.structs import replace

from teahouse.core.messages import Blob, JsonObject, Part, Text, ToolCall, ToolResult
from teahouse.llm.media import PICTURES, BlobReader, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest
from teahouse.llm.wire.fields import merge
from teahouse.llm.wire.openai_chat_body import ChatHistory, chat_tool


async def ollama_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`."""
    history = _History(replace(profile, empty_content="string"), origin, files)
    await history.write(request.messages)
    body: JsonObject = {"model": request.model, "messages": history.written, "stream": True}
    if request.tools:
        body["tools"] = [chat_tool(spec) for spec in request.tools]
    if request.schema is not None:
        body["format"] = request.schema if profile.json_schema else "json"
    options: JsonObject = {}
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    if request.temperature is not None and profile.temperature:
        options["temperature"] = request.temperature
    if profile.window is not None:
        options["num_ctx"] = profile.window
    if options:
        body["options"] = options
    return merge(merge(body, profile.extra), request.extra)


class _History(ChatHistory):
    async def _user(self, parts: Sequence[Part]) -> None:
        seen = [part for part in parts if isinstance(part, Blob) and self._sees(part)]
        texts = [
            part.text if isinstance(part, Text) else mention(part)
            for part in parts
            if isinstance(part, Text) or (isinstance(part, Blob) and part not in seen)
        ]
        message: JsonObject = {"role": "user", "content": "".join(texts)}
        if seen and self._files is not None:
            data = [base64.b64encode(await self._files(blob.file)) for blob in seen]
            message["images"] = [picture.decode("ascii") for picture in data]
        if message["content"] or seen:
            self.written.append(message)

    def _sees(self, blob: Blob) -> bool:
        return self._files is not None and self._profile.vision and blob.media_type in PICTURES

    def _call(self, call: ToolCall) -> JsonObject:
        return {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}

    async def _result(self, call: ToolCall, result: ToolResult) -> None:
        await super()._result(call, result)
        self.written[-1]["tool_name"] = call.name
