"""A conversation in the Anthropic dialect: blocks in turns, signed thoughts untouched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from teahouse.core.messages import Blob, JsonObject, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.media import PDF, Files, is_address, is_picture, mention
from teahouse.llm.profiles import Profile
from teahouse.llm.repair import NOTHING_SAID
from teahouse.llm.wire.history import History

THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
_LARGEST_PICTURE = 3_900_000  # 5 MiB once it is base64
_LARGEST_PDF = 23_000_000  # 32 MB is what a whole request may have
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_RUN_THERE = frozenset({"server_tool_use", "mcp_tool_use"})


def _drop_unanswered(message: JsonObject) -> None:
    """A tool that the vendor runs may stand without its result only where it is to go on."""
    blocks: list[JsonObject] = message["content"]
    answered = {block.get("tool_use_id") for block in blocks}
    whole = [b for b in blocks if b["type"] not in _RUN_THERE or b.get("id") in answered]
    message["content"] = whole or [{"type": "text", "text": NOTHING_SAID}]


class AnthropicHistory(History):
    def __init__(self, profile: Profile, origin: str, files: Files) -> None:
        super().__init__(profile, origin, files)
        self.system: list[str] = []
        self._ids: dict[str, str] = {}  # of the calls whose results are still to come
        self._taken: dict[str, int] = {}  # ids, and how often each was wanted

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
        while blocks and blocks[-1]["type"] in THOUGHTS:  # a reply that was cut while it thought
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
        found = plain
        while found in self._taken:
            self._taken[plain] += 1
            found = f"{plain}_{self._taken[plain]}"
        self._taken[found] = 1
        self._ids[call] = found
        return found

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
