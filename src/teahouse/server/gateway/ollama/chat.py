"""Ollama's own interface as two front dialects: a chat, and one prompt."""

from __future__ import annotations

from teahouse.core.clock import Clock, SystemClock
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.ollama.read import read_chat, read_generate
from teahouse.server.gateway.ollama.voice import OllamaVoice, refusal_line


class Chat:
    """`POST /api/chat`."""

    stream_type = "application/x-ndjson"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, body: bytes, /) -> Asked:
        """Without messages nothing is asked, and no model is to be."""
        return read_chat(body)

    def voice(self, asked: Asked, model: str, /) -> OllamaVoice:
        loads = not asked.request.messages
        return OllamaVoice(model, self._clock, chats=True, loads=loads)

    def refuse(self, refusal: Refusal, /) -> bytes:
        return refusal_line(refusal)


class Generate(Chat):
    """`POST /api/generate`."""

    def read(self, body: bytes, /) -> Asked:
        return read_generate(body)

    def voice(self, asked: Asked, model: str, /) -> OllamaVoice:
        loads = not asked.request.messages
        return OllamaVoice(model, self._clock, chats=False, loads=loads)
