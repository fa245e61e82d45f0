"""The front dialect that most programs speak: `POST /v1/chat/completions`."""

from __future__ import annotations

from teahouse.core.clock import Clock, SystemClock
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.openai.chat_read import read_chat
from teahouse.server.gateway.openai.chat_voice import ChatVoice
from teahouse.server.gateway.openai.error import refuse


class OpenAIChat:
    stream_type = "text/event-stream; charset=utf-8"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, body: bytes, /) -> Asked:
        return read_chat(body)

    def voice(self, asked: Asked, model: str, /) -> ChatVoice:
        return ChatVoice(model, counts=asked.counts, clock=self._clock)

    def refuse(self, refusal: Refusal, /) -> bytes:
        return refuse(refusal)
