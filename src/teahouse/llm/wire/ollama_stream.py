"""Replies in the Ollama dialect: an object a line, the last one `done` and with the counts."""

from __future__ import annotations

from teahouse.core.events import Reason, Usage
from teahouse.core.messages import JsonObject
from teahouse.llm.errors import StreamCut
from teahouse.llm.refusal import refusal_in
from teahouse.llm.sse import SseEvent
from teahouse.llm.wire.fields import as_count, as_object, as_objects
from teahouse.llm.wire.spoken import SpokenReply


class OllamaStream(SpokenReply):
    _reason: Reason = "stop"
    _usage = Usage()

    def feed(self, event: SseEvent, *, last: bool = False) -> None:
        line = self._decode(event.data, last=last)
        if line.get("error"):
            raise refusal_in(self._provider, line["error"])
        self._read(as_object(line.get("message")))
        if line.get("done") is True:
            self.done = True
            if line.get("done_reason") == "length":
                self._reason = "length"
            self._usage = Usage(
                input=as_count(line, "prompt_eval_count"), output=as_count(line, "eval_count")
            )

    def end(self) -> None:
        self.keep()
        if not self.done:
            raise StreamCut(self._provider)
        calls, left_out = self._calls_made(cut=self._reason == "length")
        self._complete(self._reason, calls, self._usage, left_out=left_out)

    def _read(self, message: JsonObject) -> None:
        thought = message.get("thinking")
        if isinstance(thought, str) and thought:
            self._field = "thinking"
            self._say("thinking", thought)
        text = message.get("content")
        if isinstance(text, str):
            self._say("text", text)
        for call in as_objects(message.get("tool_calls")):
            function = as_object(call.get("function"))
            identity = call.get("id") or function.get("id")
            self._call_whole(identity, function.get("name"), function.get("arguments"), {})
