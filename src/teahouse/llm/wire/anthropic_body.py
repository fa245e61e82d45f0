"""Requests in the Anthropic dialect: messages of blocks, in turns, signed thoughts untouched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.media import PDF, BlobReader, Files, is_address, is_picture, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, OneTool, ToolSpec
from teahouse.llm.wire.effort import budget_of, effort_of, wanted_effort
from teahouse.llm.wire.fields import as_object, merge
from teahouse.llm.wire.history import History
from teahouse.llm.wire.strict_schema import strict_schema

ANSWER: Final = "final_answer"  # the tool whose arguments are the reply, where schemas aren't known
_WIRE: Final = "anthropic"
_INTERRUPTED = "(interrupted)"
_LEAST_BUDGET: Final = 1024
_FORCED: Final = frozenset({"any", "tool"})
_LARGEST_PICTURE = 3_900_000  # 5 MiB once it is base64
_LARGEST_PDF = 23_000_000  # 32 MB is what a whole request may have
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_RUN_THERE = frozenset({"server_tool_use", "mcp_tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


async def anthropic_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`. This dialect has no word for
    a seed: it is left out."""
    history = _History(profile, origin, Files(files, request.media))
    await history.write(request.messages)
    settled, thinks = _settled(request, profile)
    body: JsonObject = {
        "model": request.model,
        "max_tokens": request.max_tokens or profile.output_tokens,
        "messages": history.finished(),
        "stream": True,
    }
    if history.system:
        body["system"] = "\n\n".join(history.system)
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    if profile.prompt_cache:
        body["cache_control"] = {"type": "ephemeral"}
    if profile.temperature and not thinks:
        body |= _sampling(request, profile)
    if request.schema is not None:
        _ask_for_json(body, request.schema, settled, profile, thinks=thinks)
    body = merge(body, settled)
    _make_room_to_think(body)
    return body


def _settled(request: ModelRequest, profile: Profile) -> tuple[JsonObject, bool]:
    """What is said beside the conversation, and whether the model is to think: it cannot where it
    must call a tool."""
    wished = _thinking(request, profile)
    known = profile.extra
    if wished is not None:
        known = {name: value for name, value in known.items() if name != "thinking"}
    fields = merge(known, wished or {})
    stop = [text for text in request.stop if text.strip()]  # blanks alone are refused
    if stop and profile.stop:
        fields["stop_sequences"] = stop
    choice = _tool_choice(request)
    if choice:
        fields["tool_choice"] = choice
    fields = merge(fields, merge(request.extra, request.own.get(_WIRE, {})))
    if as_object(fields.get("tool_choice")).get("type") in _FORCED:
        fields.pop("thinking", None)
    thinks = as_object(fields.get("thinking")).get("type") in {"enabled", "adaptive"}
    return fields, thinks


def _thinking(request: ModelRequest, profile: Profile) -> JsonObject | None:
    """None where nothing is wished; models of today take an effort and decide by themselves."""
    wanted, budget, effort = (
        wanted_effort(request),
        budget_of(request, profile),
        effort_of(request, profile),
    )
    if budget is None:
        return None
    if profile.thinking == "budget":
        enough = max(budget, _LEAST_BUDGET)
        return {"thinking": {"type": "enabled", "budget_tokens": enough}} if budget else {}
    if wanted == "none" and profile.thinking != "always":
        return {"thinking": {"type": "disabled"}} if effort == "none" else {}
    if effort == "none":  # the nearest of some odd choice of levels
        effort = "low"
    # their thoughts are not shown unless one asks
    adaptive = {"type": "adaptive", "display": "summarized"}
    return {"thinking": adaptive} | ({"output_config": {"effort": effort}} if effort else {})


def _tool_choice(request: ModelRequest) -> JsonObject:
    if not request.tools or (request.tool_choice is None and request.parallel_calls is not False):
        return {}
    match request.tool_choice:
        case OneTool(name=name):
            choice: JsonObject = {"type": "tool", "name": name}
        case "required":
            choice = {"type": "any"}
        case word:
            choice = {"type": word or "auto"}
    if request.parallel_calls is False and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = True
    return choice


def _sampling(request: ModelRequest, profile: Profile) -> JsonObject:
    fields: JsonObject = {}
    if request.temperature is not None:
        fields["temperature"] = min(request.temperature, 1.0)
    if request.top_p is not None and not (fields and profile.one_sampling):
        fields["top_p"] = request.top_p
    return fields


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }


def _ask_for_json(
    body: JsonObject, schema: JsonObject, settled: JsonObject, profile: Profile, *, thinks: bool
) -> None:
    if profile.json_schema:
        wanted = {"type": "json_schema", "schema": strict_schema(schema)}
        body["output_config"] = {"format": wanted}  # `settled` may add an effort
        return
    chosen = as_object(settled.get("tool_choice"))
    if chosen.get("type") in _FORCED:
        return  # the reply is a call of another tool
    answer = ToolSpec(name=ANSWER, description="Give the reply.", parameters=schema)
    body["tools"] = [*body.get("tools", []), _tool(answer)]
    alone = len(body["tools"]) == 1 or chosen.get("type") == "none"
    if not thinks:  # a model that thinks cannot be made to call one
        forced: JsonObject = {"type": "tool", "name": ANSWER} if alone else {"type": "any"}
        settled["tool_choice"] = {k: v for k, v in chosen.items() if k != "type"} | forced
    elif alone:
        settled.pop("tool_choice", None)


def _make_room_to_think(body: JsonObject) -> None:
    """A budget counts within `max_tokens`; and no model thinks on from calls that it made without
    a thought, as when another one began this turn."""
    thinking = as_object(body.get("thinking"))
    budget = thinking.get("budget_tokens")
    if thinking.get("type") != "enabled" or not isinstance(budget, int):
        return
    if not _may_think(body["messages"]):
        del body["thinking"]
    elif body["max_tokens"] <= budget:
        body["max_tokens"] += budget


def _may_think(messages: list[JsonObject]) -> bool:
    last: list[JsonObject] = messages[-1]["content"] if messages else []
    if not last or last[0]["type"] != "tool_result":
        return True
    return messages[-2]["content"][0]["type"] in _THOUGHTS


def _drop_unanswered(message: JsonObject) -> None:
    """A tool that the vendor runs may stand without its result only where it is to go on."""
    blocks: list[JsonObject] = message["content"]
    answered = {block.get("tool_use_id") for block in blocks}
    whole = [b for b in blocks if b["type"] not in _RUN_THERE or b.get("id") in answered]
    message["content"] = whole or [{"type": "text", "text": _INTERRUPTED}]


class _History(History):
    def __init__(self, profile: Profile, origin: str, files: Files) -> None:
        super().__init__(profile, origin, files)
        self.system: list[str] = []
        self._ids: dict[str, str] = {}  # of the calls whose results are still to come

    def finished(self) -> list[JsonObject]:
        if self.written and self.written[-1]["role"] == "assistant":
            last: JsonObject = self.written[-1]["content"][-1]
            if last["type"] == "text":  # to be continued, and then no blank may end it
                last["text"] = last["text"].rstrip()
        for message in self.written[:-1]:
            _drop_unanswered(message)
        return self.written

    def _system(self, parts: Sequence[Part]) -> None:
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if text.strip():
            self.system.append(text)

    async def _user(self, parts: Sequence[Part]) -> None:
        self._put("user", await self._content(parts))

    def _put(self, role: str, blocks: list[JsonObject]) -> None:
        """Roles take turns: what follows under the same one belongs to the same message."""
        blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
        if not blocks:
            return
        if self.written and self.written[-1]["role"] == role:
            self.written[-1]["content"] += blocks
        else:
            self.written.append({"role": role, "content": blocks})

    def _spoken(self, parts: Sequence[Part]) -> list[JsonObject]:
        blocks: list[JsonObject] = []
        for part in parts:
            match part:
                case Text():
                    if part.text.strip():
                        blocks.append(self._text(part.text))
                case Thinking():
                    self._thought(part, blocks)
                case ToolCall():
                    call = {"type": "tool_use", "id": self._id(part.id), "name": part.name}
                    blocks.append(self._own(part.opaque) | call | {"input": part.arguments})
                case _:
                    pass
        while blocks and blocks[-1]["type"] in _THOUGHTS:  # a reply that was cut while it thought
            blocks.pop()
        return blocks

    def _thought(self, part: Thinking, blocks: list[JsonObject]) -> None:
        own = self._own(part.opaque)
        if own.get("type") == "thinking":
            blocks.append({**own, "thinking": part.text})
        elif "citations" in own:  # they belong to the text before them
            if blocks and blocks[-1]["type"] == "text":
                blocks[-1]["citations"] = own["citations"]
        elif "type" in own:
            blocks.append(own)

    def _say(self, spoken: list[JsonObject]) -> None:
        self._put("assistant", spoken)

    def _id(self, call: str) -> str:
        """An id that is accepted here: ids of other vendors hold what may not stand in one, or
        come again in each reply."""
        plain = _FOREIGN.sub("_", call) or "call"
        used = self._used
        found, number = plain, 1
        while found in used:
            number += 1
            found = f"{plain}_{number}"
        self._ids[call] = found
        return found

    @property
    def _used(self) -> set[str]:
        blocks = [block for message in self.written for block in message["content"]]
        return {block["id"] for block in blocks if block["type"] == "tool_use"}

    async def _result(self, call: ToolCall, result: ToolResult) -> None:
        content = await self._content(result.content)
        told: JsonObject = {"type": "tool_result", "tool_use_id": self._ids[call.id]}
        content = [item for item in content if item["type"] != "text" or item["text"].strip()]
        if content:
            told["content"] = content
        if result.is_error:
            told["is_error"] = True
        self._put("user", [told])

    def _text(self, text: str) -> JsonObject:
        return {"type": "text", "text": text}

    async def _blob(self, blob: Blob) -> dict[str, Any]:
        kind = {PDF: "document"}.get(blob.media_type) or "image"
        shown = (blob.media_type == PDF or is_picture(blob)) and self._profile.vision
        largest = _LARGEST_PDF if kind == "document" else _LARGEST_PICTURE
        if not self._files.has(blob) or not shown or blob.size > largest:
            return self._text(mention(blob))
        source = {"type": "url", "url": blob.file}
        if not is_address(blob):
            data = await self._bytes(blob)
            source = {"type": "base64", "media_type": blob.media_type, "data": data}
        return {"type": kind, "source": source} | (
            {"title": blob.name} if kind == "document" else {}
        )
