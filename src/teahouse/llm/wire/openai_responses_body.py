"""Requests in the OpenAI Responses dialect, stateless: the whole conversation goes each time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Final

from teahouse.core.codec import encode
from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.media import PDF, BlobReader, Files, is_address, is_picture, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, OneTool, ToolChoice, ToolSpec
from teahouse.llm.wire.effort import effort_of
from teahouse.llm.wire.fields import merge
from teahouse.llm.wire.history import History
from teahouse.llm.wire.tool_choice import offered

_WIRE: Final = "openai_responses"
_LEAST_TOKENS = 16  # fewer are refused
_LONGEST_ID = 64


async def responses_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`. This dialect has no words for
    a seed and for texts that end the reply: they are left out."""
    history = _History(profile, origin, Files(files, request.media))
    await history.write(request.messages)
    tools, choice = offered(request, profile.tool_choices)
    body: JsonObject = {
        "model": request.model,
        "input": history.written,
        "stream": True,
        "store": False,
    }
    if profile.encrypted_reasoning:
        body["include"] = ["reasoning.encrypted_content"]
    if tools:
        body["tools"] = [_tool(spec) for spec in tools]
    if request.max_tokens is not None:
        body["max_output_tokens"] = max(request.max_tokens, _LEAST_TOKENS)
    if request.temperature is not None and profile.temperature:
        body["temperature"] = request.temperature
    if request.schema is not None:
        body["text"] = {"format": _format(request.schema, profile)}  # extra may add a verbosity
    wishes: JsonObject = {}
    if request.top_p is not None and profile.temperature:
        wishes["top_p"] = request.top_p
    if choice is not None:
        wishes["tool_choice"] = _choice(choice)
    if tools and request.parallel_calls is not None and profile.parallel_calls:
        wishes["parallel_tool_calls"] = request.parallel_calls
    effort = effort_of(request, profile)
    if effort is not None:
        summary = {} if effort == "none" else {"summary": "auto"}
        wishes["reasoning"] = {"effort": effort} | summary
    body = merge(merge(body, profile.extra), wishes)
    return merge(body, merge(request.extra, request.own.get(_WIRE, {})))


def _choice(choice: ToolChoice) -> object:
    return {"type": "function", "name": choice.name} if isinstance(choice, OneTool) else choice


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "strict": False,  # else optional parameters become required ones
    }


def _format(schema: JsonObject, profile: Profile) -> JsonObject:
    if not profile.json_schema:
        return {"type": "json_object"}
    return {"type": "json_schema", "name": "reply", "schema": schema, "strict": False}


class _History(History):
    def _system(self, parts: Sequence[Part]) -> None:
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if text:
            self.written.append({"role": self._profile.system_role, "content": text})

    async def _user(self, parts: Sequence[Part]) -> None:
        content = _plain(await self._content(parts))
        if content:
            self.written.append({"role": "user", "content": content})

    def _spoken(self, parts: Sequence[Part]) -> list[JsonObject]:
        items = _Items(with_ids=self._profile.item_ids)
        for part in parts:
            match part:
                case Text():
                    items.text(part.text)
                case Thinking():
                    own = self._own(part.opaque)
                    if "item" in own:
                        items.item(own["item"])
                    elif "message" in own:
                        items.message(own["message"])
                case ToolCall():
                    items.item(self._call(part))
                case _:
                    pass
        return items.whole()

    def _say(self, spoken: list[JsonObject]) -> None:
        self.written += spoken

    def _call(self, call: ToolCall) -> JsonObject:
        own = self._own(call.opaque)
        head: JsonObject = own | {"call_id": _call_id(call), "name": call.name}
        if own.get("type") == "custom_tool_call":
            return head | {"input": str(call.arguments.get("input", ""))}
        return head | {"type": "function_call", "arguments": encode(call.arguments).decode()}

    async def _result(self, call: ToolCall, result: ToolResult) -> None:
        kind = str(self._own(call.opaque).get("type") or "function_call")
        output = _plain(await self._content(result.content))
        told = {"type": f"{kind}_output", "call_id": _call_id(call), "output": output}
        self.written.append(told)

    def _text(self, text: str) -> JsonObject:
        return {"type": "input_text", "text": text}

    async def _blob(self, blob: Blob) -> JsonObject:
        shown = (blob.media_type == PDF or is_picture(blob)) and self._profile.vision
        if not shown or not self._files.has(blob):
            return self._text(mention(blob))
        url = await self._files.url(blob)
        if blob.media_type != PDF:
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        if is_address(blob):
            return {"type": "input_file", "file_url": url}
        return {"type": "input_file", "filename": blob.name, "file_data": url}


class _Items:
    """The items of one reply. What came with thoughts goes back with them or without its id: an id
    without the thoughts that led to it is refused, and thoughts that led to nothing are too."""

    def __init__(self, *, with_ids: bool) -> None:
        self._items: list[JsonObject] = []
        self._with_ids = with_ids
        self._linked = True  # the thoughts before this were sent
        self._expected: list[JsonObject] = []  # contents of a message whose texts come next
        self._plain = False  # the last item is a message of text alone

    def item(self, item: JsonObject) -> None:
        self._plain, self._expected = False, []
        if item.get("type") == "reasoning":
            self._linked = bool(item.get("encrypted_content") or item.get("content"))
            if not self._linked:
                return
        self._items.append(self._named(item))

    def message(self, message: JsonObject) -> None:
        message = copy.deepcopy(message)
        self._expected = message["content"]
        self._plain = False
        self._items.append(self._named(message) | {"content": []})

    def text(self, text: str) -> None:
        if self._expected:
            content = self._expected.pop(0)
            field = "refusal" if content["type"] == "refusal" else "text"
            self._items[-1]["content"].append(content | {field: text})
        elif self._plain:
            self._items[-1]["content"][0]["text"] += text
        elif text.strip():
            content = [{"type": "output_text", "text": text}]
            self._items.append({"type": "message", "role": "assistant", "content": content})
            self._plain = True

    def whole(self) -> list[JsonObject]:
        items = [item for item in self._items if item.get("content") != [] or "summary" in item]
        while items and items[-1].get("type") == "reasoning":
            items.pop()
        return items

    def _named(self, item: JsonObject) -> JsonObject:
        if self._with_ids and self._linked:
            return item
        return {key: value for key, value in item.items() if key != "id"}


def _plain(content: list[JsonObject]) -> str | list[JsonObject]:
    if all(item["type"] == "input_text" for item in content):
        return "".join(item["text"] for item in content)
    return content


def _call_id(call: ToolCall) -> str:
    return call.id[-_LONGEST_ID:]
