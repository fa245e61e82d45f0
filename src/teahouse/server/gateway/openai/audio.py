"""Speech and transcription in OpenAI's words (`/v1/audio/…`), there and back."""

from __future__ import annotations

import base64

import msgspec
from msgspec import Struct

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject, Usage
from teahouse.llm.speech import (
    Recording,
    Sound,
    SpeechRequest,
    Transcribed,
    TranscriptionRequest,
)
from teahouse.server.gateway.fields import Fields, read_object
from teahouse.server.gateway.multipart import read_form

STREAM = "text/event-stream"
_SPEECH = frozenset(
    {"model", "input", "voice", "response_format", "speed", "instructions", "stream_format"}
)
_FORM = frozenset(
    {"model", "file", "response_format", "language", "prompt", "temperature", "stream"}
)


class SpeechAsked(Struct, frozen=True, kw_only=True):
    """`model` is the name as the client wrote it. `events`: the sound is told as events."""

    model: str
    request: SpeechRequest
    events: bool = False


def read_speech(body: bytes) -> SpeechAsked:
    """Raises `Invalid`."""
    fields = read_object(body)
    extra: JsonObject = {
        name: value
        for name, value in fields.values.items()
        if name not in _SPEECH and value is not None
    }
    voice = fields.raw("voice")
    if isinstance(voice, dict):  # one of the customer's own
        extra["voice"] = voice
        name = fields.need_object("voice").need_text("id")
    else:
        name = fields.need_text("voice")
    return SpeechAsked(
        model=fields.need_text("model"),
        request=SpeechRequest(
            text=fields.need_text("input"),
            voice=name,
            format=fields.text("response_format"),
            speed=fields.number("speed", least=0.25, most=4),
            instructions=fields.text("instructions"),
            extra=extra,
        ),
        events=fields.choice("stream_format", ("audio", "sse")) == "sse",
    )


def speech_type(asked: SpeechAsked, first: Sound) -> str:
    """The media type of the answer, which its first piece tells."""
    return STREAM if asked.events else first.media_type


def speech_piece(asked: SpeechAsked, sound: Sound) -> bytes:
    """What is sent for one piece; may be empty."""
    if not asked.events:
        return sound.data
    told = b""
    if sound.data:
        audio = base64.b64encode(sound.data).decode("ascii")
        told = _event({"type": "speech.audio.delta", "audio": audio})
    if sound.usage is not None:
        told += _event({"type": "speech.audio.done", "usage": _usage(sound.usage)})
    return told


class TranscriptionAsked(Struct, frozen=True, kw_only=True):
    """`model` is the name as the client wrote it. `events`: the text is told as events."""

    model: str
    request: TranscriptionRequest
    events: bool = False


def read_transcription(content_type: str, body: bytes) -> TranscriptionAsked:
    """A multipart form with the recording in `file`. Raises `Invalid`."""
    form = read_form(content_type, body)
    found, file = form.fields, form.files.get("file")
    if file is None:
        raise Invalid("file_missing")
    fields = Fields({**found, **_numbers(found)})
    extra = {name: value for name, value in found.items() if name not in _FORM}
    return TranscriptionAsked(
        model=fields.need_text("model"),
        request=TranscriptionRequest(
            recording=Recording(data=file.data, name=file.name, media_type=file.media_type),
            format=fields.text("response_format"),
            language=fields.text("language"),
            prompt=fields.text("prompt"),
            temperature=fields.number("temperature", least=0, most=1),
            extra=extra,
        ),
        events=found.get("stream") == "true",
    )


def transcription_type(asked: TranscriptionAsked, transcribed: Transcribed) -> str:
    if asked.events:
        return STREAM
    kind = transcribed.media_type
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def transcription_answer(asked: TranscriptionAsked, transcribed: Transcribed) -> bytes:
    """The vendor's own answer, with all that it has told; as events, where those were asked for."""
    if not asked.events:
        return transcribed.body
    done: JsonObject = {"type": "transcript.text.done", "text": transcribed.text}
    if not transcribed.usage.estimated:
        done["usage"] = {"type": "tokens", **_usage(transcribed.usage)}
    delta = {"type": "transcript.text.delta", "delta": transcribed.text}
    return _event(delta) + _event(done)


def _event(told: JsonObject) -> bytes:
    return b"data: " + msgspec.json.encode(told) + b"\n\n"


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    }


def _numbers(found: JsonObject) -> JsonObject:
    """The field that is a number: in a form all are texts."""
    try:
        return {"temperature": float(found["temperature"])}
    except (KeyError, TypeError, ValueError):
        return {}
