"""Requests in the Anthropic dialect: messages of blocks, in turns, signed thoughts untouched."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any, Final

from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.media import PDF, PICTURES, BlobReader, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.wire.fields import as_object
from teahouse.llm.wire.history import History
from teahouse.llm.wire.strict_schema import strict_schema

ANSWER: Final = "final_answer"  # the tool whose arguments are the reply, where schemas aren't known
_INTERRUPTED = "(interrupted)"
_LARGEST_PICTURE = 3_900_000  # 5 MiB once it is base64
_LARGEST_PDF = 23_000_000  # 32 MB is what a whole request may have
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_RUN_THERE = frozenset({"server_tool_use", "mcp_tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


async def anthropic_body(
    request: ModelRequest, profile: Profile, *, origin: str, files: BlobReader | None
) -> JsonObject:
    """The JSON body of a streaming request; `origin` as in `History`."""
    history = _History(profile, origin, files)
    await history.write(request.messages)
    extra = profile.extra | request.extra
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
    thinks = as_object(extra.get("thinking")).get("type") in {"enabled", "adaptive"}
    if request.temperature is not None and profile.temperature and not thinks:
        body["temperature"] = min(request.temperature, 1.0)
    if request.schema is not None:
        _ask_for_json(body, request.schema, extra, profile, thinks=thinks)
    body |= extra
    _make_room_to_think(body)
    return body


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }


def _ask_for_json(
    body: JsonObject, schema: JsonObject, extra: JsonObject, profile: Profile, *, thinks: bool
) -> None:
    if profile.json_schema:
        wanted = {"type": "json_schema", "schema": strict_schema(schema)}
        asked = as_object(extra.pop("output_config", None))  # may hold an effort
        body["output_config"] = {"format": wanted} | asked
        return
    answer = ToolSpec(name=ANSWER, description="Give the reply.", parameters=schema)
    body["tools"] = [*body.get("tools", []), _tool(answer)]
    if not thinks:  # a model that thinks cannot be made to call one
        forced = {"type": "any"} if len(body["tools"]) > 1 else {"type": "tool", "name": ANSWER}
        body["tool_choice"] = forced


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
    def __init__(self, profile: Profile, origin: str, files: BlobReader | None) -> None:
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
        shown = blob.media_type in {*PICTURES, PDF} and self._profile.vision
        largest = _LARGEST_PDF if kind == "document" else _LARGEST_PICTURE
        if self._files is None or not shown or blob.size > largest:
            return self._text(mention(blob))
        data = base64.b64encode(await self._files(blob.file)).decode("ascii")
        source = {"type": "base64", "media_type": blob.media_type, "data": data}
        return {"type": kind, "source": source} | (
            {"title": blob.name} if kind == "document" else {}
        )
