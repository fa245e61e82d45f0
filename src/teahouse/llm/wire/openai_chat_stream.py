"""Replies in the OpenAI chat dialect, as vendors really stream them, to our events.

Tolerant by rule: fields that are missing, null, unknown or of another shape are passed over, and
only what makes the reply wrong (broken JSON, an error object, an end too early) is an error.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.events import Reason, Usage
from teahouse.core.messages import JsonObject, ToolCall
from teahouse.llm.errors import Overloaded, StreamCut
from teahouse.llm.profiles import Profile
from teahouse.llm.refusal import refusal_in
from teahouse.llm.sse import SseEvent
from teahouse.llm.surrogates import mend_text
from teahouse.llm.tool_calls import ToolCallAssembler
from teahouse.llm.wire.fields import as_count, as_object, as_objects
from teahouse.llm.wire.reasoning_details import merge_details
from teahouse.llm.wire.spoken import Channel, SpokenReply

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
_THOUGHTS: Final = ("reasoning_content", "reasoning")
_FAILURES = frozenset({"error", "network_error", "insufficient_system_resource"})


class _PlainDelta(Struct, frozen=True):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: tuple[()] | None = None
    refusal: Literal[""] | None = None
    tool_calls: tuple[()] | None = None
    function_call: None = None


class _PlainChoice(Struct, frozen=True):
    delta: _PlainDelta
    index: Literal[0] = 0
    finish_reason: None = None
    error: None = None
    usage: None = None
    x_groq: None = None


class _PlainChunk(Struct, frozen=True):
    """A chunk that brings text or thoughts and nothing else that we read: nearly all of them do.
    What fits no such form is read with more patience."""

    choices: tuple[_PlainChoice]
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    error: None = None
    usage: None = None
    x_groq: None = None


_plain = msgspec.json.Decoder(_PlainChunk)


class ChatStream(SpokenReply):
    def __init__(self, provider: str, model: str, profile: Profile, *, input_estimate: int) -> None:
        super().__init__(provider, model, profile, input_estimate=input_estimate)
        self._calls = ToolCallAssembler()
        self._call_indices: dict[int, int] = {}
        self._finish: str | None = None
        self._started = False  # anything of a reply has come
        self._choice: object = None  # index of the one choice that is read
        self._refused = False
        self._usage = Usage()
        self._thoughts_apart = profile.thoughts_apart
        self._details: list[JsonObject] = []

    @property
    def finished(self) -> bool:
        return self._finish is not None

    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        if self._fed_plain(event):
            return
        if event.data.strip() == b"[DONE]":
            self.done = True
            return
        chunk = self._decode(event.data, last=last)
        self._check(chunk, event.name)
        self._count(chunk)
        for choice in as_objects(chunk.get("choices")):
            self._read_choice(choice)

    def _fed_plain(self, event: SseEvent) -> bool:
        """Take a chunk of nothing but text, in a quarter of the time that any other takes."""
        if event.name == "error" or self._choice not in (None, 0):
            return False
        try:
            chunk = _plain.decode(event.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        self._choice, self._started = 0, True
        delta = chunk.choices[0].delta
        if delta.reasoning_content or delta.reasoning:
            self._think_aloud(delta.reasoning_content, delta.reasoning)
        if delta.content:
            self._say("text", delta.content)
        return True

    def end(self) -> None:
        self.keep()
        if not self._started or (self._finish is None and not self.done):
            raise StreamCut(self._provider)
        reason = _REASONS.get((self._finish or "stop").lower(), "stop")
        if self._refused and reason == "stop":
            reason = "content_filter"
        found, left_out = self._calls.finish(cut=reason == "length")
        calls: list[tuple[int, ToolCall]] = []
        for place, call in found:
            index = self._call_indices.pop(place, None)  # none: one of several that came glued
            index = self.parts.reserve() if index is None else index
            calls.append((index, replace(call, opaque=self._own(call.opaque))))
        self._complete(reason, calls, self._usage, left_out=left_out)

    def _given(self) -> JsonObject:
        details = deepcopy(self._details)  # a part is given them while more may come
        return super()._given() | ({"details": details} if details else {})

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
        merge_details(self._details, as_objects(delta.get("reasoning_details")))
        self._think_aloud(delta.get("reasoning_content"), delta.get("reasoning"))

    def _think_aloud(self, *thoughts: object) -> None:
        """Say one of them only: some send the same thought under both names."""
        for name, thought in zip(_THOUGHTS, thoughts, strict=True):
            if isinstance(thought, str) and thought:
                self._field = self._field or name
                self._say("thinking", thought)
                return

    def _read_blocks(self, blocks: list[Any]) -> None:
        """Content in blocks, as Mistral's thinking models send it."""
        for block in as_objects(blocks):
            kind: Channel = "thinking" if block.get("type") == "thinking" else "text"
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

    def _count(self, holder: JsonObject) -> None:
        """Keep the highest counts: some report once, some the sum so far in every chunk."""
        usage = as_object(holder.get("usage") or as_object(holder.get("x_groq")).get("usage"))
        if not usage:
            return
        details = as_object(usage.get("prompt_tokens_details")) or usage
        spoken = as_object(usage.get("completion_tokens_details")) or usage
        known = self._usage
        asked = as_count(usage, "prompt_tokens", "input_tokens")
        output = as_count(usage, "completion_tokens", "output_tokens")
        thought = as_count(spoken, "reasoning_tokens")
        if self._thoughts_apart and as_count(usage, "total_tokens") != asked + output:
            output += thought
        self._usage = Usage(
            input=max(known.input, asked),
            output=max(known.output, output),
            cached=max(known.cached, as_count(details, "cached_tokens", "prompt_cache_hit_tokens")),
            written=max(known.written, as_count(details, "cache_write_tokens")),
            reasoning=max(known.reasoning, thought),
        )
