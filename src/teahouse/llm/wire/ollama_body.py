"""Requests in the Ollama dialect: OpenAI's messages, with arguments and pictures as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from teahouse.core.messages import Blob, JsonObject, Part, Text, ToolCall, ToolResult
from teahouse.llm.media import BlobReader, Files, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest
from teahouse.llm.wire.effort import effort_of, wanted_effort
from teahouse.llm.wire.fields import merge
from teahouse.llm.wire.openai_chat_body import ChatHistory, chat_tool
from teahouse.llm.wire.tool_choice import offered

_WIRE: Final = "ollama"


async def ollama_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`.

    This dialect has no word for how tools are chosen: `none` offers none, one tool is offered alone
    and the model may still not call it. Files go as bytes only; one that lies elsewhere raises
    `NoAddresses`.
    """
    files_at_hand = Files(files, request.media)
    history = _History(replace(profile, empty_content="string"), origin, files_at_hand)
    await history.write(request.messages)
    body: JsonObject = {"model": request.model, "messages": history.written, "stream": True}
    tools, _ = offered(request, ())
    if tools:
        body["tools"] = [chat_tool(spec) for spec in tools]
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
    body = merge(merge(body, profile.extra), _wishes(request, profile))
    return merge(body, merge(request.extra, request.own.get(_WIRE, {})))


def _wishes(request: ModelRequest, profile: Profile) -> JsonObject:
    options: JsonObject = {}
    if request.top_p is not None and profile.temperature:
        options["top_p"] = request.top_p
    if request.seed is not None and profile.seed is not None:
        options["seed"] = request.seed
    if request.stop and profile.stop:
        options["stop"] = list(request.stop)
    wishes: JsonObject = {"options": options} if options else {}
    wanted, effort = wanted_effort(request), effort_of(request, profile)
    if effort is not None:  # a level is refused by those who know only on and off
        wishes["think"] = wanted != "none" if profile.thinking == "budget" else effort
    return wishes


class _History(ChatHistory):
    async def _user(self, parts: Sequence[Part]) -> None:
        seen = [part for part in parts if isinstance(part, Blob) and self._sees(part)]
        texts = [
            part.text if isinstance(part, Text) else mention(part)
            for part in parts
            if isinstance(part, Text) or (isinstance(part, Blob) and part not in seen)
        ]
        message: JsonObject = {"role": "user", "content": "".join(texts)}
        if seen:
            message["images"] = [await self._bytes(blob) for blob in seen]
        if message["content"] or seen:
            self.written.append(message)

    def _shown_aside(self, blob: Blob) -> bool:
        return False  # a result holds its pictures itself

    def _call(self, call: ToolCall) -> JsonObject:
        return {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}

    async def _result(self, call: ToolCall, result: ToolResult) -> None:
        seen = [part for part in result.content if isinstance(part, Blob) and self._sees(part)]
        rest = tuple(part for part in result.content if part not in seen)
        await super()._result(call, replace(result, content=rest))
        self.written[-1]["tool_name"] = call.name
        if seen:
            self.written[-1]["images"] = [await self._bytes(blob) for blob in seen]
