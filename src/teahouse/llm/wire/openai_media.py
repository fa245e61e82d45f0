"""What OpenAI's endpoints do besides talking, and many of those that are like them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from typing import cast

import msgspec
from msgspec.structs import replace

from teahouse.core.events import Usage
from teahouse.core.ids import new_secret
from teahouse.core.messages import JsonObject
from teahouse.llm.embedding import Embedded, EmbedRequest, estimate_inputs
from teahouse.llm.errors import Malformed, NotOffered, Offer, RequestRefused
from teahouse.llm.pictures import Painted, Picture, PictureRequest
from teahouse.llm.refusal import NOT_IMPLEMENTED, is_page
from teahouse.llm.speech import (
    Recording,
    Sound,
    SpeechRequest,
    Transcribed,
    TranscriptionRequest,
    estimate_recording,
)
from teahouse.llm.tokens import estimate
from teahouse.llm.transport import Call
from teahouse.llm.wire.fields import as_count, as_object, as_objects, as_text
from teahouse.llm.wire.http import HttpWire
from teahouse.llm.wire.vectors import given, read_vectors


class OpenAIMedia(HttpWire):
    """Each method is a port of its own (`Embedder`, `Speaker`, `Transcriber`, `Painter`). Whether
    the endpoint has it, only the endpoint knows."""

    async def embed(self, request: EmbedRequest) -> Embedded:
        inputs = request.inputs
        body: JsonObject = {
            "model": request.model,
            "input": inputs[0] if len(inputs) == 1 and isinstance(inputs[0], str) else inputs,
            **given(dimensions=request.dimensions),
            **({"encoding_format": "base64"} if request.packed else {}),
            **request.fields("openai_chat"),
        }
        with self._offers("embeddings"):
            told = await self._told(self._call("/embeddings", body))
        vectors = [(row.get("index"), row.get("embedding")) for row in as_objects(told.get("data"))]
        if all(isinstance(place, int) for place, _ in vectors):
            vectors.sort(key=lambda one: cast("int", one[0]))
        return Embedded(
            vectors=read_vectors(self.name, [vector for _, vector in vectors], len(inputs)),
            usage=usage_in(told, estimate_inputs(inputs)),
        )

    async def speak(self, request: SpeechRequest) -> AsyncGenerator[Sound, None]:
        body: JsonObject = {
            "model": request.model,
            "input": request.text,
            "voice": request.voice,
            **given(response_format=request.format, speed=request.speed),
            **given(instructions=request.instructions),
            **request.extra,
        }
        call = self._call("/audio/speech", body)
        call = replace(call, headers={**call.headers, "Accept": "*/*"})
        with self._offers("speech"):
            sent = await self._transport.send(call)
        async with sent as exchange:
            kind = exchange.media_type
            if kind in {"application/json", "text/event-stream"}:
                data = await exchange.read()
                raise Malformed(self.name, data[:200].decode("utf-8", "replace"))
            while data := await exchange.read():
                exchange.heard()
                yield Sound(data=data, media_type=kind)
        usage = Usage(input=estimate(request.text), estimated=True)
        yield Sound(data=b"", media_type=kind, usage=usage)

    async def transcribe(self, request: TranscriptionRequest) -> Transcribed:
        fields: JsonObject = {
            "model": request.model,
            **given(response_format=request.format, language=request.language),
            **given(prompt=request.prompt, temperature=request.temperature),
            **request.extra,
        }
        with self._offers("transcription"):
            body, kind = await self._whole(self._form("/audio/transcriptions", fields, request))
        if (title := is_page(body)) is not None:
            raise Malformed(self.name, title)
        told: JsonObject = {}
        text = body.decode("utf-8", "replace")
        if kind == "application/json" or text.lstrip().startswith("{"):
            told = as_object(self._decoded(body))
            if not isinstance(told.get("text"), str):
                raise Malformed(self.name, text[:200])
            text = as_text(told["text"])
        guess = Usage(
            input=estimate_recording(request.recording), output=estimate(text), estimated=True
        )
        counted = as_object(told.get("usage"))
        usage = Usage(
            input=as_count(counted, "input_tokens", "prompt_tokens"),
            output=as_count(counted, "output_tokens", "completion_tokens"),
        )
        return Transcribed(
            text=text, body=body, media_type=kind, usage=usage if usage.input else guess
        )

    async def paint(self, request: PictureRequest) -> Painted:
        body: JsonObject = {"model": request.model, "prompt": request.prompt}
        if request.count != 1:
            body["n"] = request.count
        with self._offers("images"):
            told = await self._told(self._call("/images/generations", {**body, **request.extra}))
        rows = as_objects(told.get("data")) or as_objects(told.get("images"))
        pictures = tuple(
            Picture(
                encoded=as_text(row.get("b64_json")) or None,
                url=as_text(row.get("url")) or None,
                revised_prompt=as_text(row.get("revised_prompt")) or None,
            )
            for row in rows
        )
        if not any(one.encoded or one.url for one in pictures):
            raise Malformed(self.name, "no picture")
        known = ("background", "output_format", "quality", "size")
        return Painted(
            pictures=pictures,
            usage=usage_in(told, estimate(request.prompt)),
            told={name: told[name] for name in known if name in told},
        )

    @contextmanager
    def _offers(self, what: Offer) -> Generator[None]:
        """Many have only some of these paths. A 404 may also mean the model; then it says so."""
        try:
            yield
        except (RequestRefused, Malformed) as error:
            absent = error.status in {404, 405} and "model" not in error.values["detail"].lower()
            if absent or error.status == NOT_IMPLEMENTED:
                raise NotOffered(self.name, what) from error
            raise

    async def _told(self, call: Call) -> JsonObject:
        body, _ = await self._whole(replace(call, headers=_plain(call)))
        return as_object(self._decoded(body))

    def _form(self, path: str, fields: JsonObject, request: TranscriptionRequest) -> Call:
        boundary = new_secret()
        call = self._call(path)
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        body = b"".join(_parts(boundary, fields, request.recording))
        return replace(call, headers={**headers, **call.headers}, body=body)


def usage_in(told: JsonObject, guess: int) -> Usage:
    counted = as_object(told.get("usage"))
    read = as_count(counted, "prompt_tokens", "input_tokens", "total_tokens")
    if not read:
        return Usage(input=guess, estimated=True)
    return Usage(input=read, output=as_count(counted, "output_tokens"))


def _plain(call: Call) -> dict[str, str]:
    """Of an answer that is no stream."""
    return {**call.headers, "Accept": "application/json"}


def _parts(boundary: str, fields: JsonObject, recording: Recording) -> Iterator[bytes]:
    for name, value in fields.items():
        several = isinstance(value, list | tuple)
        for one in cast("list[object]", value) if several else [value]:
            text = one if isinstance(one, str) else msgspec.json.encode(one).decode()
            yield _head(boundary, f'name="{_quoted(name)}"') + b"\r\n" + _utf8(text) + b"\r\n"
    named = f'name="file"; filename="{_quoted(recording.name)}"'
    kind = f"Content-Type: {_quoted(recording.media_type)}\r\n"
    yield _head(boundary, named) + kind.encode() + b"\r\n"
    yield recording.data
    yield f"\r\n--{boundary}--\r\n".encode()


def _head(boundary: str, named: str) -> bytes:
    return _utf8(f"--{boundary}\r\nContent-Disposition: form-data; {named}\r\n")


def _quoted(text: str) -> str:
    """As browsers do it; no name can end its line and begin a header of its own."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
