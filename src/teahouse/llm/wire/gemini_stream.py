"""Replies in the Gemini dialect: candidates of parts, whole or in pieces, signed or not."""

from __future__ import annotations

from typing import Final

from teahouse.core.codec import encode
from teahouse.core.events import Reason, Usage
from teahouse.core.messages import JsonObject
from teahouse.llm.errors import Malformed, RequestRefused, StreamCut
from teahouse.llm.profiles import Profile
from teahouse.llm.refusal import refusal_in
from teahouse.llm.sse import SseEvent
from teahouse.llm.wire.fields import as_count, as_object, as_objects
from teahouse.llm.wire.spoken import SpokenReply

_REASONS: Final[dict[str, Reason]] = {
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
}  # every other one is an end by itself
_FAILURES: Final = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
    }
)
_UNSIGNED = "MISSING_THOUGHT_SIGNATURE"
_NONE_YET = "FINISH_REASON_UNSPECIFIED"


class GeminiStream(SpokenReply):
    """`answer` is the tool whose arguments are the text of the reply."""

    _finish: str | None = None
    _blocked = False  # the question itself was refused
    _candidate: object = None  # index of the one candidate that is read
    _usage = Usage()

    def __init__(
        self,
        provider: str,
        model: str,
        profile: Profile,
        *,
        input_estimate: int,
        answer: str | None = None,
    ) -> None:
        super().__init__(provider, model, profile, input_estimate=input_estimate)
        self._answer = answer

    @property
    def finished(self) -> bool:
        return self._finish is not None

    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        if event.data.strip() == b"[DONE]":  # proxies say so, Google itself does not
            self.done = True
            return
        chunk = self._decode(event.data, last=last)
        if chunk.get("error") or event.name == "error":
            raise refusal_in(self._provider, chunk.get("error") or chunk)
        self._count(as_object(chunk.get("usageMetadata")))
        if as_object(chunk.get("promptFeedback")).get("blockReason"):
            self._blocked = True
        for candidate in as_objects(chunk.get("candidates")):
            self._read(candidate)

    def end(self) -> None:
        self.keep()
        if self._finish is None and not self._blocked:
            raise StreamCut(self._provider)
        reason = _REASONS.get(self._finish or "", "stop")
        if self._blocked:
            reason = "content_filter"
        calls, left_out = self._calls_made(cut=reason == "length")
        self._complete(reason, calls, self._usage, left_out=left_out)

    def _read(self, candidate: JsonObject) -> None:
        index = candidate.get("index", 0)
        if self._candidate is None:
            self._candidate = index
        elif index != self._candidate:
            return  # a second answer to the same question, which was not asked for
        for part in as_objects(as_object(candidate.get("content")).get("parts")):
            self._read_part(part)
        finish = candidate.get("finishReason")
        if not isinstance(finish, str) or finish in {"", _NONE_YET}:
            return
        said = str(candidate.get("finishMessage") or finish)
        if finish in _FAILURES:
            raise Malformed(self._provider, said)
        if finish == _UNSIGNED:
            raise RequestRefused(self._provider, said)
        self._finish = finish

    def _read_part(self, part: JsonObject) -> None:
        """Read text, a thought or a call; what else a part may hold is no speech."""
        signature = part.get("thoughtSignature") or part.get("thought_signature")
        given: JsonObject = {"signature": signature} if isinstance(signature, str) else {}
        call = as_object(part.get("functionCall"))
        if call:
            self.parts.close()  # parts go back in the order in which they came
            if self._answer is not None and call.get("name") == self._answer:
                self._say("text", encode(as_object(call.get("args"))).decode(), last=True)
                self.parts.close()
                return
            if call.get("id"):
                given["id"] = call["id"]
            self._call_whole(call.get("id"), call.get("name"), call.get("args"), given)
            return
        text = part.get("text")
        if not isinstance(text, str):
            return
        channel = "thinking" if part.get("thought") is True else "text"
        said = self._say(channel, text, last=bool(given))
        if given:
            given |= {"of": channel, "length": len(said)}
            self.parts.sign(channel, {"origin": self._origin, "given": given})

    def _count(self, usage: JsonObject) -> None:
        """Counts are sums so far, and the latest stands; a chunk may lack some of them."""
        if not usage:
            return
        known = self._usage
        thought = as_count(usage, "thoughtsTokenCount")
        output = as_count(usage, "candidatesTokenCount") + thought
        self._usage = Usage(
            input=as_count(usage, "promptTokenCount") or known.input,
            output=output or known.output,
            cached=as_count(usage, "cachedContentTokenCount") or known.cached,
            reasoning=thought or known.reasoning,
        )
