"""Requests in the OpenAI chat dialect: our messages as strict endpoints accept them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from teahouse.core.codec import encode
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from teahouse.llm.media import PICTURES, BlobReader, data_url, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, ToolSpec

_NO_RESULT = "This call was interrupted; there is no result."


async def chat_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request.

    `origin` is the endpoint and model asked: what a vendor wants back untouched (signatures,
    thoughts) goes only to where it came from.
    """
    history = _History(profile=profile, origin=origin, files=files)
    for message in request.messages:
        await history.add(message)
    history.close()
    body: JsonObject = {"model": request.model, "messages": history.written, "stream": True}
    if profile.include_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    if request.max_tokens is not None:
        body[profile.max_tokens] = request.max_tokens
    if request.temperature is not None and profile.temperature:
        body["temperature"] = request.temperature
    if request.schema is not None:
        body["response_format"] = _response_format(request.schema, profile)
    return body | request.extra


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        },
    }


def _response_format(schema: JsonObject, profile: Profile) -> JsonObject:
    if not profile.json_schema:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}


class _History(Struct, kw_only=True):
    """Writes messages one after the other. Each call gets its result directly after its message;
    one without a result gets a line that says so, a result without a call is left out."""

    profile: Profile
    origin: str
    files: BlobReader | None
    written: list[JsonObject] = field(default_factory=list[JsonObject])
    open_calls: list[str] = field(default_factory=list[str])

    async def add(self, message: Message) -> None:
        if message.role in {"assistant", "tool"}:
            said: list[Part] = []
            for part in message.parts:  # the parts of a whole run hold several replies in a row
                if isinstance(part, ToolResult):
                    self._assistant(said)
                    said = []
                    self._result(part)
                else:
                    said.append(part)
            self._assistant(said)
            return
        self.close()
        role = self.profile.system_role if message.role == "system" else "user"
        content = await self._content(message.parts)
        if content:
            self.written.append({"role": role, "content": content})

    def close(self) -> None:
        """Give the calls that are still open a result."""
        for call in self.open_calls:
            self.written.append({"role": "tool", "tool_call_id": call, "content": _NO_RESULT})
        self.open_calls = []

    def _assistant(self, parts: list[Part]) -> None:
        calls = [part for part in parts if isinstance(part, ToolCall)]
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if not calls and not text.strip():
            return
        self.close()
        empty = None if calls and self.profile.empty_content == "null" else ""
        written: JsonObject = {"role": "assistant", "content": text or empty}
        written |= self._thoughts(parts, calls=bool(calls))
        if calls:
            written["tool_calls"] = [self._call(call) for call in calls]
            self.open_calls = [call.id for call in calls]
        self.written.append(written)

    def _result(self, result: ToolResult) -> None:
        if result.call not in self.open_calls:
            return
        self.open_calls.remove(result.call)
        lines = [part.text if isinstance(part, Text) else mention(part) for part in result.content]
        content = "\n".join(lines)
        self.written.append({"role": "tool", "tool_call_id": result.call, "content": content})

    def _call(self, call: ToolCall) -> JsonObject:
        function = {"name": call.name, "arguments": encode(call.arguments).decode()}
        own: JsonObject = {"id": call.id, "type": "function", "function": function}
        return self._own(call.opaque) | own

    def _thoughts(self, parts: Iterable[Part], *, calls: bool) -> JsonObject:
        when = self.profile.reasoning_back
        thoughts = [part for part in parts if isinstance(part, Thinking)]
        if when == "never" or (when == "tools" and not calls) or not thoughts:
            return {}
        given: JsonObject = {}
        for thought in thoughts:
            own = self._own(thought.opaque)
            name = self.profile.reasoning_field or own.get("field")
            if name and thought.text:
                given[name] = given.get(name, "") + thought.text
            if own.get("details"):
                given["reasoning_details"] = own["details"]
        return given

    def _own(self, opaque: JsonObject | None) -> JsonObject:
        if opaque is None or opaque.get("origin") != self.origin:
            return {}
        given: JsonObject = opaque.get("given", {})
        return given

    async def _content(self, parts: Iterable[Part]) -> str | list[JsonObject]:
        content: list[JsonObject] = []
        for part in parts:
            if isinstance(part, Text):
                content.append({"type": "text", "text": part.text})
            elif isinstance(part, Blob):
                content.append(await self._blob(part))
        if all(item["type"] == "text" for item in content):
            return "".join(item["text"] for item in content)
        return content

    async def _blob(self, blob: Blob) -> dict[str, Any]:
        if self.files is None or not self.profile.vision or blob.media_type not in PICTURES:
            return {"type": "text", "text": mention(blob)}
        return {"type": "image_url", "image_url": {"url": await data_url(blob, self.files)}}
