"""The paths of OpenAI's interface."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Final

from teahouse.server.gateway.attend import attend
from teahouse.server.gateway.openai import responses
from teahouse.server.gateway.openai.audio import (
    SpeechAsked,
    read_speech,
    read_transcription,
    speech_piece,
    speech_type,
    transcription_answer,
    transcription_type,
)
from teahouse.server.gateway.openai.chat import OpenAIChat
from teahouse.server.gateway.openai.embeddings import embeddings_answer, read_embeddings
from teahouse.server.gateway.openai.error import refuse
from teahouse.server.gateway.openai.images import images_answer, read_images
from teahouse.server.gateway.route import Handle, Route, talk
from teahouse.server.gateway.visit import Visit


async def _embeddings(visit: Visit) -> None:
    asked = read_embeddings(await visit.incoming.body())
    await visit.outgoing.whole(embeddings_answer(asked, await visit.embed(asked)))


async def _speech(visit: Visit) -> None:
    asked = read_speech(await visit.incoming.body())
    visit.allow(asked.model)
    await attend(visit.incoming.receive, _speak(visit, asked))


async def _speak(visit: Visit, asked: SpeechAsked) -> None:
    """Sound has no words for an error: one that comes after the first piece cuts the answer."""
    sounds = visit.house.inference.speak(asked.model, asked.request, visit.caller())
    async with aclosing(sounds):
        async for sound in sounds:
            if not visit.outgoing.begun:
                await visit.outgoing.start(speech_type(asked, sound))
            if piece := speech_piece(asked, sound):
                await visit.outgoing.send(piece)
    await visit.outgoing.send(b"", more=False)


async def _transcription(visit: Visit) -> None:
    kind = visit.incoming.headers.get("content-type", "")
    asked = read_transcription(kind, await visit.incoming.body())
    visit.allow(asked.model)
    work = visit.house.inference.transcribe(asked.model, asked.request, visit.caller())
    told = await visit.attended(work)
    await visit.outgoing.whole(transcription_answer(asked, told), transcription_type(asked, told))


async def _images(visit: Visit) -> None:
    asked = read_images(await visit.incoming.body())
    visit.allow(asked.model)
    work = visit.house.inference.paint(asked.model, asked.request, visit.caller())
    await visit.outgoing.whole(images_answer(asked, await visit.attended(work), visit.now()))


def _route(handle: Handle, method: str = "POST") -> Route:
    return Route(method=method, handle=handle, refuse=refuse)


ROUTES: Final[Mapping[str, Route]] = {
    "/v1/chat/completions": talk(OpenAIChat()),
    "/v1/responses": _route(responses.respond),
    "/v1/embeddings": _route(_embeddings),
    "/v1/audio/speech": _route(_speech),
    "/v1/audio/transcriptions": _route(_transcription),
    "/v1/images/generations": _route(_images),
}
ONE_RESPONSE: Final[Mapping[str, Route]] = {
    "GET": _route(responses.show, "GET"),
    "DELETE": _route(responses.forget, "DELETE"),
}
