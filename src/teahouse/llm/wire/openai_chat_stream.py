"""Replies in the OpenAI chat dialect, as vendors really stream them, to our events.

Tolerant by rule: fields that are missing, null, unknown or of another shape are passed over, and
only what makes the reply wrong (broken JSON, an error object, an end too early) is an error.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from teahouse.core.events import Reason, ReplyDone, StreamEvent, Usage
from teahouse.core.messages import JsonObject
from teahouse.llm.errors import Malformed, Overloaded, StreamCut
from teahouse.llm.parts import PartsBuilder
from teahouse.llm.profiles import Profile
from teahouse.llm.refusal import refusal_in
from teahouse.llm.sse import SseEvent
from teahouse.llm.surrogates import HALF, mend_text
from teahouse.llm.think import Kind, ThinkTags
from teahouse.llm.tokens import estimate_parts
from teahouse.llm.tool_calls import ToolCallAssembler
from teahouse.llm.wire.fields import as_count, as_object, as_objects
from teahouse.llm.wire.reasoning_details import merge_details

_REASONS: Final[dict[str, Reason]] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
    "blocked": "content_filter",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
}  # every other one is an end by itself
_FAILURES = frozenset({"error", "network_error", "insufficient_system_resource"})
_SHOWN = 120  # bytes of a broken event that the error quotes
_Channel: TypeAlias = Literal["text", "thinking", "refusal"]


class ChatStream:
    """Feed it events; after each read take the `StreamEvent`s from `parts`. Does no I/O."""

    def __init__(self, provider: str, model: str, profile: Profile, *, input_estimate: int) -> None:
        self.parts = PartsBuilder()
        self.done = False  # the dialect's last event has come
        self._provider, self._origin, self._profile = provider, f"{provider}/{model}", profile
        self._input_estimate = input_estimate
        self._calls = ToolCallAssembler()
        self._call_indices: dict[int, int] = {}
        self._think = ThinkTags(inside=profile.think_open) if profile.think_tags else None
        self._finish: str | None = None
        self._started = False  # anything of a reply has come
        self._choice: object = None  # index of the one choice that is read
        self._refused = False
        self._usage = Usage()
        self._field: str | None = None
        self._details: list[JsonObject] = []
        self._halves: dict[_Channel, str] = {}

    @property
    def finished(self) -> bool:
        """The reply is whole, though counts may still come."""
        return self._finish is not None

    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        """Take one event; `last` when the connection ended with it. Raises `ProviderError`."""
        if event.data.strip() == b"[DONE]":
            self.done = True
            return
        chunk = self._decode(event.data, last=last)
        self._check(chunk, event.name)
        self._count(chunk)
        for choice in as_objects(chunk.get("choices")):
            self._read_choice(choice)

    def end(self) -> None:
        """The stream has ended: complete the parts and the reply, or raise `StreamCut`."""
        self.keep()
        if not self._started or (self._finish is None and not self.done):
            raise StreamCut(self._provider)
        reason = _REASONS.get((self._finish or "stop").lower(), "stop")
        calls, left_out = self._calls.finish(cut=reason == "length")
        for place, call in calls:
            index = self._call_indices.pop(place, None)
            opaque = {"origin": self._origin, "given": call.opaque} if call.opaque else None
            part = msgspec.structs.replace(call, opaque=opaque)
            self.parts.add(self.parts.reserve() if index is None else index, part)
        if self._refused and reason == "stop":
            reason = "content_filter"
        if calls and reason == "stop":
            reason = "tool_calls"
        problem = "invalid_tool_args" if left_out else None
        done = ReplyDone(reason=reason, usage=self._counted(), problem=problem)
        self.parts.events.append(done)

    def take(self) -> list[StreamEvent]:
        return self.parts.take()

    def keep(self) -> None:
        """Complete what was said so far; also when an error comes next."""
        for channel in tuple(self._halves):
            self._say(channel, "", last=True)
        if self._think is not None:
            for kind, text in self._think.end():
                self.parts.say(kind, text)
        self.parts.close()
        given: JsonObject = {"field": self._field} if self._field else {}
        if self._details:
            given["details"] = self._details
        if given:
            self.parts.mark_thoughts({"origin": self._origin, "given": given})

    def _decode(self, data: bytes, *, last: bool) -> JsonObject:
        try:
            chunk: Any = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            chunk = self._decode_loosely(data, last=last)
        if not isinstance(chunk, dict):
            raise Malformed(self._provider, data[:_SHOWN].decode("utf-8", "replace"))
        return cast("JsonObject", chunk)

    def _decode_loosely(self, data: bytes, *, last: bool) -> Any:
        """Python's own parser takes half surrogates and NaN, and bad bytes become U+FFFD."""
        text = data.decode("utf-8", "replace")
        try:
            return json.loads(text, strict=False)
        except ValueError as error:
            if last:
                raise StreamCut(self._provider) from error
            raise Malformed(self._provider, text[:_SHOWN]) from error

    def _check(self, chunk: JsonObject, name: str) -> None:
        error = chunk.get("error")
        if error:
            raise refusal_in(self._provider, error)
        told = "choices" not in chunk and "message" in chunk and "code" in chunk
        if name == "error" or chunk.get("object") == "error" or told:
            raise refusal_in(self._provider, chunk)

    def _read_choice(self, choice: JsonObject) -> None:
        if self._choice is None:
            self._choice = choice.get("index", 0)
        elif choice.get("index", self._choice) not in (self._choice, None):
            return  # a second answer to the same question, which was not asked for
        self._count(choice)
        delta = choice.get("delta")
        if delta is None and not self._started:  # the whole reply at once, not streamed
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._started = True
            self._read_delta(cast("JsonObject", delta))
        if choice.get("error"):
            raise refusal_in(self._provider, choice["error"])
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            if finish.lower() in _FAILURES:
                raise Overloaded(self._provider, finish)
            self._started = True
            self._finish = finish

    def _read_delta(self, delta: JsonObject) -> None:
        self._read_thoughts(delta)
        content = delta.get("content")
        if isinstance(content, str):
            self._say("text", content)
        elif isinstance(content, list):
            self._read_blocks(cast("list[Any]", content))
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._refused = True
            self._say("refusal", refusal)
        for call in as_objects(delta.get("tool_calls")):
            if "function" in call or call.get("type") in {None, "function"}:
                self._read_call(call)  # others are tools that the vendor runs itself
        old = as_object(delta.get("function_call"))  # the dialect before tools
        if old:
            self._read_call({"index": 0, "function": old})

    def _read_thoughts(self, delta: JsonObject) -> None:
        """Read one name only: some send the same thought under both."""
        merge_details(self._details, as_objects(delta.get("reasoning_details")))
        for name in ("reasoning_content", "reasoning"):
            thought = delta.get(name)
            if isinstance(thought, str) and thought:
                self._field = self._field or name
                self._say("thinking", thought)
                return

    def _read_blocks(self, blocks: list[Any]) -> None:
        """Content in blocks, as Mistral's thinking models send it."""
        for block in as_objects(blocks):
            kind: _Channel = "thinking" if block.get("type") == "thinking" else "text"
            inner = block.get(kind)
            if isinstance(inner, str):
                self._say(kind, inner)
            for piece in as_objects(inner):
                self._say(kind, str(piece.get("text") or ""))

    def _read_call(self, fragment: JsonObject) -> None:
        place, piece = self._calls.add(fragment)
        if place not in self._call_indices:
            self._call_indices[place] = self.parts.reserve()
        self.parts.delta(self._call_indices[place], "tool_call", mend_text(piece))

    def _say(self, channel: _Channel, text: str, *, last: bool = False) -> None:
        text = self._halves.pop(channel, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff" and not last:
            self._halves[channel], text = text[-1], text[:-1]  # its other half comes next
        if HALF.search(text):
            text = mend_text(text)
        if self._think is not None and channel == "text":
            for kind, piece in self._think.feed(text):
                self.parts.say(kind, piece)
        else:
            shown: Kind = "thinking" if channel == "thinking" else "text"
            self.parts.say(shown, text)

    def _count(self, holder: JsonObject) -> None:
        """Keep the highest counts: some report once, some the sum so far in every chunk."""
        usage = as_object(holder.get("usage") or as_object(holder.get("x_groq")).get("usage"))
        if not usage:
            return
        details = as_object(usage.get("prompt_tokens_details")) or usage
        known = self._usage
        self._usage = Usage(
            input=max(known.input, as_count(usage, "prompt_tokens", "input_tokens")),
            output=max(known.output, as_count(usage, "completion_tokens", "output_tokens")),
            cached=max(known.cached, as_count(details, "cached_tokens", "prompt_cache_hit_tokens")),
        )

    def _counted(self) -> Usage:
        if self._usage.input or self._usage.output:
            return self._usage
        output = estimate_parts(self.parts.parts.values())
        return Usage(input=self._input_estimate, output=output, estimated=True)
