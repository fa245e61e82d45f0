"""Requests in the OpenAI chat dialect: our messages as strict endpoints accept them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from teahouse.core.codec import encode
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from teahouse.llm.media import PDF, SOUNDS, BlobReader, Files, is_address, is_picture, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, OneTool, ToolChoice, ToolSpec
from teahouse.llm.wire.effort import effort_of, wanted_effort
from teahouse.llm.wire.fields import merge
from teahouse.llm.wire.history import History
from teahouse.llm.wire.tool_choice import offered

_WIRE: Final = "openai_chat"


async def chat_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`. What the request wishes goes
    over the profile's extra fields, and its own extra fields over all."""
    history = ChatHistory(profile, origin, Files(files, request.media))
    await history.write(request.messages)
    tools, choice = offered(request, profile.tool_choices)
    body: JsonObject = {"model": request.model, "messages": history.written, "stream": True}
    if profile.include_usage:
        body["stream_options"] = {"include_usage": True}
    if tools:
        body["tools"] = [chat_tool(spec) for spec in tools]
    if request.max_tokens is not None:
        body[profile.max_tokens] = request.max_tokens
    if request.temperature is not None and profile.temperature:
        body["temperature"] = request.temperature
    if request.schema is not None:
        body["response_format"] = _response_format(request.schema, profile)
    _begin_reply(body, profile)
    forced = choice == "required" or isinstance(choice, OneTool)
    if forced and not profile.forced_thinks:
        request = replace(request, effort="none", thinking_tokens=None)
    wishes = _sampling(request, profile) | _thinking(request, profile)
    if choice is not None:
        wishes["tool_choice"] = _choice(choice)
    if tools and request.parallel_calls is not None and profile.parallel_calls:
        wishes["parallel_tool_calls"] = request.parallel_calls
    return merge(body | profile.extra | wishes, merge(request.extra, request.own.get(_WIRE, {})))


def _sampling(request: ModelRequest, profile: Profile) -> JsonObject:
    fields: JsonObject = {}
    if request.top_p is not None and profile.temperature:
        fields["top_p"] = request.top_p
    if request.seed is not None and profile.seed is not None:
        fields[profile.seed] = request.seed
    if request.stop and profile.stop:
        fields["stop"] = list(request.stop)
    return fields


def _choice(choice: ToolChoice) -> object:
    if isinstance(choice, OneTool):
        return {"type": "function", "function": {"name": choice.name}}
    return choice


def _thinking(request: ModelRequest, profile: Profile) -> JsonObject:
    """The wish under the endpoint's own field; most of them know no more than on and off."""
    wanted, tokens = wanted_effort(request), request.thinking_tokens
    if wanted is None or not profile.thinks:
        return {}
    on, said = wanted != "none", dict[str, object]()
    match profile.effort:
        case "reasoning_effort":
            said["reasoning_effort"] = effort_of(request, profile)
        case "reasoning":
            by_tokens = on and request.effort is None
            said["reasoning"] = {"max_tokens": tokens} if by_tokens else {"effort": wanted}
        case "thinking":
            said["thinking"] = {"type": "enabled" if on else "disabled"}
        case "enable_thinking":
            said = {"enable_thinking": on} | ({"thinking_budget": tokens} if on and tokens else {})
        case "chat_template_kwargs":
            said["chat_template_kwargs"] = {"enable_thinking": on}
        case None:
            pass
    return said


def _begin_reply(body: JsonObject, profile: Profile) -> None:
    """Say, where it has to be said, that what the assistant said last is to be gone on with."""
    last: JsonObject = body["messages"][-1] if body["messages"] else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        return
    if profile.continues == "prefix":
        last["prefix"] = True
    elif profile.continues == "final":
        body.update(continue_final_message=True, add_generation_prompt=False)


def chat_tool(spec: ToolSpec) -> JsonObject:
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


class ChatHistory(History):
    def _system(self, parts: Sequence[Part]) -> None:
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if text:
            self.written.append({"role": self._profile.system_role, "content": text})

    async def _user(self, parts: Sequence[Part]) -> None:
        content = await self._content(parts)
        if all(item["type"] == "text" for item in content):
            text = "".join(item["text"] for item in content)
            if text:
                self.written.append({"role": "user", "content": text})
        else:
            self.written.append({"role": "user", "content": content})

    def _spoken(self, parts: Sequence[Part]) -> list[JsonObject]:
        calls = [part for part in parts if isinstance(part, ToolCall)]
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if not calls and not text.strip():
            return []
        empty = None if calls and self._profile.empty_content == "null" else ""
        written: JsonObject = {"role": "assistant", "content": text or empty}
        written |= self._thoughts(parts, calls=bool(calls))
        if calls:
            written["tool_calls"] = [self._call(call) for call in calls]
        return [written]

    def _say(self, spoken: list[JsonObject]) -> None:
        self.written += spoken

    async def _result(self, call: ToolCall, result: ToolResult) -> None:
        lines = [part.text if isinstance(part, Text) else mention(part) for part in result.content]
        content = "\n".join(lines)
        self.written.append({"role": "tool", "tool_call_id": call.id, "content": content})
        if self._profile.user_after_results:
            blobs = [part for part in result.content if isinstance(part, Blob)]
            self._lay_aside(call, [blob for blob in blobs if self._shown_aside(blob)])

    def _call(self, call: ToolCall) -> JsonObject:
        function = {"name": call.name, "arguments": encode(call.arguments).decode()}
        own: JsonObject = {"id": call.id, "type": "function", "function": function}
        return self._own(call.opaque) | own

    def _thoughts(self, parts: Iterable[Part], *, calls: bool) -> JsonObject:
        when = self._profile.reasoning_back
        thoughts = [part for part in parts if isinstance(part, Thinking)]
        if when == "never" or (when == "tools" and not calls) or not thoughts:
            return {}
        given: JsonObject = {}
        for thought in thoughts:
            own = self._own(thought.opaque)
            name = self._profile.reasoning_field or own.get("field")
            if name and thought.text:
                given[name] = given.get(name, "") + thought.text
            if own.get("details"):
                given["reasoning_details"] = own["details"]
        return given

    def _text(self, text: str) -> JsonObject:
        return {"type": "text", "text": text}

    async def _blob(self, blob: Blob) -> JsonObject:
        kind, profile = blob.media_type, self._profile
        if self._sees(blob):
            return {"type": "image_url", "image_url": {"url": await self._files.url(blob)}}
        if self._reads(blob):
            data = f"data:{PDF};base64,{await self._bytes(blob)}"
            return {"type": "file", "file": {"filename": blob.name, "file_data": data}}
        if self._files.has(blob) and profile.audio and kind in SOUNDS:
            sound = {"data": await self._bytes(blob), "format": SOUNDS[kind]}
            return {"type": "input_audio", "input_audio": sound}
        return self._text(mention(blob))

    def _sees(self, blob: Blob) -> bool:
        return self._profile.vision and is_picture(blob) and self._files.has(blob)

    def _shown_aside(self, blob: Blob) -> bool:
        return self._sees(blob) or (self._reads(blob) and not is_address(blob))

    def _reads(self, blob: Blob) -> bool:
        return self._profile.pdf and blob.media_type == PDF and self._files.has(blob)
