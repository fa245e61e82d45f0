"""Requests in the Gemini dialect: contents of parts, each signature back on its own part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.media import PDF, PICTURES, BlobReader, Files, is_address, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, OneTool, ToolSpec
from teahouse.llm.wire.effort import budget_of, effort_of
from teahouse.llm.wire.fields import merge
from teahouse.llm.wire.gemini_schema import in_subset
from teahouse.llm.wire.history import History

_WIRE: Final = "gemini"
_READ: Final = (PICTURES - {"image/gif"}) | {PDF, "image/heic", "image/heif"}
_READ_IN_RESULTS: Final = (PICTURES - {"image/gif"}) | {PDF, "text/plain"}
_READ_KINDS: Final = ("audio/", "video/", "text/")
_LARGEST: Final = 14_000_000  # 20 MB is what a whole request may have, and base64 adds a third
_LARGEST_SEED: Final = 0x7FFF_FFFF
_MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_NOT_OURS: Final = "skip_thought_signature_validator"
"""Stands for the signature of a call that another model made; Google documents it for that."""


async def gemini_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a request; `origin` as in `History`. This dialect cannot forbid several
    calls at once: that wish is left out."""
    history = _History(profile, origin, Files(files, request.media))
    await history.write(request.messages)
    body: JsonObject = {"contents": history.written}
    if history.system:
        body["systemInstruction"] = {"parts": history.system}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declared(spec) for spec in request.tools]}]
    config: JsonObject = {}
    if request.max_tokens is not None:
        config["maxOutputTokens"] = request.max_tokens
    if request.temperature is not None and profile.temperature:
        config["temperature"] = request.temperature
    if request.schema is not None:
        config["responseMimeType"] = "application/json"
        if profile.json_schema:
            config |= _bound(request.schema, "responseSchema", "responseJsonSchema")
    if profile.thoughts:
        config["thinkingConfig"] = {"includeThoughts": True}
    if config:
        body["generationConfig"] = config
    body = merge(merge(body, profile.extra), _wishes(request, profile))
    return merge(body, merge(request.extra, request.own.get(_WIRE, {})))


def _wishes(request: ModelRequest, profile: Profile) -> JsonObject:
    config: JsonObject = {}
    if request.top_p is not None and profile.temperature:
        config["topP"] = request.top_p
    if request.seed is not None and profile.seed is not None:
        config["seed"] = request.seed & _LARGEST_SEED
    if request.stop and profile.stop:
        config["stopSequences"] = list(request.stop)
    thinking = _thinking(request, profile)
    if thinking:
        config["thinkingConfig"] = thinking
    wishes: JsonObject = {"generationConfig": config} if config else {}
    choice = request.tool_choice
    if request.tools and choice is not None:
        calling: JsonObject = {"mode": "ANY" if isinstance(choice, OneTool) else _MODES[choice]}
        if isinstance(choice, OneTool):
            calling["allowedFunctionNames"] = [choice.name]
        wishes["toolConfig"] = {"functionCallingConfig": calling}
    return wishes


def _thinking(request: ModelRequest, profile: Profile) -> JsonObject:
    budget, effort = budget_of(request, profile), effort_of(request, profile)
    if budget is None:
        return {}
    if profile.thinking != "budget":
        return {"thinkingLevel": effort, "includeThoughts": True}
    least, most = profile.thinking_budget
    if budget == 0 and (least == 0 or "none" in profile.efforts):
        return {"thinkingBudget": 0, "includeThoughts": False}
    return {"thinkingBudget": min(max(budget, least), most), "includeThoughts": True}


def _declared(spec: ToolSpec) -> JsonObject:
    declared: JsonObject = {"name": spec.name, "description": spec.description}
    if spec.parameters.get("properties") or spec.parameters.get("$ref"):
        declared |= _bound(spec.parameters, "parameters", "parametersJsonSchema")
    return declared


def _bound(schema: JsonObject, subset: str, whole: str) -> JsonObject:
    """The older field where it can say the schema, since all models know it; else the newer."""
    said = in_subset(schema)
    return {whole: schema} if said is None else {subset: said}


class _History(History):
    def __init__(self, profile: Profile, origin: str, files: Files) -> None:
        super().__init__(profile, origin, files)
        self.system: list[JsonObject] = []

    def _system(self, parts: Sequence[Part]) -> None:
        texts = [part.text for part in parts if isinstance(part, Text)]
        self.system += [self._text(text) for text in texts if text.strip()]

    async def _user(self, parts: Sequence[Part]) -> None:
        content = [item for item in await self._content(parts) if item.get("text", "_").strip()]
        if content:
            self.written.append({"role": "user", "parts": content})

    def _spoken(self, parts: Sequence[Part]) -> list[JsonObject]:
        spoken: list[JsonObject] = []
        for part in parts:
            match part:
                case Text():
                    spoken.append(self._text(part.text))
                case Thinking():
                    self._thought(part, spoken)
                case ToolCall():
                    spoken.append(self._call(part))
                case _:
                    pass
        calls = [item for item in spoken if "functionCall" in item]
        if not calls and not any(_shown(item) for item in spoken):
            return []
        if self._profile.call_signatures and not any("thoughtSignature" in c for c in calls):
            for first in calls[:1]:
                first["thoughtSignature"] = _NOT_OURS
        return [item for item in spoken if len(item) > 1 or item.get("text", "_").strip()]

    def _call(self, call: ToolCall) -> JsonObject:
        own = self._own(call.opaque)
        called: JsonObject = {"functionCall": {"name": call.name, "args": call.arguments}}
        if "id" in own:
            called["functionCall"]["id"] = own["id"]
        if "signature" in own:
            called["thoughtSignature"] = own["signature"]
        return called

    def _thought(self, thought: Thinking, spoken: list[JsonObject]) -> None:
        """Signed parts are as long as they were: `length` characters at the end of their text."""
        own = self._own(thought.opaque)
        if "signature" not in own:
            return  # a summary for people; the model reads nothing from it
        signed: JsonObject = {"thoughtSignature": own["signature"]}
        text, extra = thought.text, {}
        if own.get("of") == "thinking":
            extra = {"thought": True}
        elif spoken and set(spoken[-1]) == {"text"}:
            text = spoken.pop()["text"]
        start = max(len(text) - int(own.get("length") or 0), 0)
        if text[:start]:
            spoken.append({"text": text[:start]} | extra)
        spoken.append({"text": text[start:]} | extra | signed)

    def _say(self, spoken: list[JsonObject]) -> None:
        self.written.append({"role": "model", "parts": spoken})

    async def _result(self, call: ToolCall, result: ToolResult) -> None:
        lines: list[str] = []
        shown: list[JsonObject] = []
        aside: list[Blob] = []
        for part in result.content:
            if isinstance(part, Text):
                lines.append(part.text)
            elif self._sees_in_result(part):
                shown.append(await self._blob(part))
            else:
                lines.append(mention(part))
                if self._shown_aside(part):
                    aside.append(part)
        self._lay_aside(call, aside)
        key: Literal["error", "output"] = "error" if result.is_error else "output"
        response: JsonObject = {"name": call.name, "response": {key: "\n".join(lines)}}
        if shown:
            response["parts"] = shown
        own = self._own(call.opaque)
        if "id" in own:
            response["id"] = own["id"]
        last: list[JsonObject] = self.written[-1]["parts"]
        if "functionResponse" in last[0]:  # the results of one reply stand together
            last.append({"functionResponse": response})
        else:
            self.written.append({"role": "user", "parts": [{"functionResponse": response}]})

    def _text(self, text: str) -> JsonObject:
        return {"text": text}

    async def _blob(self, blob: Blob) -> dict[str, Any]:
        if not self._sees(blob):
            return self._text(mention(blob))
        if is_address(blob):
            return {"fileData": {"mimeType": blob.media_type, "fileUri": blob.file}}
        return {"inlineData": {"mimeType": blob.media_type, "data": await self._bytes(blob)}}

    def _sees(self, blob: Blob) -> bool:
        read = blob.media_type in _READ or blob.media_type.startswith(_READ_KINDS)
        here = self._files.has(blob) and blob.size <= _LARGEST
        return self._profile.vision and read and here

    def _sees_in_result(self, blob: Blob) -> bool:
        able = self._profile.result_media and blob.media_type in _READ_IN_RESULTS
        return able and not is_address(blob) and self._sees(blob)

    def _shown_aside(self, blob: Blob) -> bool:
        """What older models must be shown behind all results, as these hold text alone."""
        seen = blob.media_type == PDF or blob.media_type.startswith("image/")
        return seen and not is_address(blob) and self._sees(blob)


def _shown(item: JsonObject) -> bool:
    return "thought" not in item and bool(item.get("text", "").strip())
