"""Voices: text that a vendor reads aloud, and speech that it writes down."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from msgspec import Struct, field

from teahouse.core.messages import JsonObject, Usage
from teahouse.llm.usage import Counted


class SpeechRequest(Struct, frozen=True, kw_only=True):
    """`format` is the vendor's word for one: mp3, opus, aac, flac, wav, pcm."""

    model: str = ""
    text: str
    voice: str
    format: str | None = None
    speed: float | None = None
    instructions: str | None = None
    extra: JsonObject = field(default_factory=dict[str, object])


class Sound(Counted, frozen=True, kw_only=True):
    """A piece of the sound; the last one, perhaps an empty one, bears the usage."""

    data: bytes
    media_type: str
    usage: Usage | None = None


@runtime_checkable
class Speaker(Protocol):
    def speak(self, request: SpeechRequest, /) -> AsyncGenerator[Sound, None]:
        """Ends after the piece with the usage, or raises `ProviderError`. Closing the generator
        closes the socket."""
        ...


class Recording(Struct, frozen=True, kw_only=True):
    data: bytes
    name: str
    media_type: str


class TranscriptionRequest(Struct, frozen=True, kw_only=True):
    """`format` is the vendor's word: json, text, srt, vtt, verbose_json. `extra` are further fields
    of the form; a list is sent as one field for each of its items."""

    model: str = ""
    recording: Recording
    format: str | None = None
    language: str | None = None
    prompt: str | None = None
    temperature: float | None = None
    extra: JsonObject = field(default_factory=dict[str, object])


class Transcribed(Counted, frozen=True, kw_only=True):
    """`body` is the answer as the vendor gave it: with its times, words or subtitles."""

    text: str
    body: bytes
    media_type: str
    usage: Usage


@runtime_checkable
class Transcriber(Protocol):
    async def transcribe(self, request: TranscriptionRequest, /) -> Transcribed:
        """Raises `ProviderError`."""
        ...


def estimate_recording(recording: Recording) -> int:
    """In tokens, some ten a second; of speech packed as tightly as telephones do it."""
    return len(recording.data) // 64 + 1
