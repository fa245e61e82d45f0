"""What is asked of models besides a reply: embeddings, speech, transcription, pictures."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from teahouse.llm.embedding import Embedded
from teahouse.server.gateway.attend import attend
from teahouse.server.gateway.openai.audio import (
    SpeechAsked,
    read_speech,
    read_transcription,
    speech_piece,
    speech_type,
    transcription_answer,
    transcription_type,
)
from teahouse.server.gateway.openai.embeddings import (
    EmbedAsked,
    embeddings_answer,
    ollama_embed_answer,
    ollama_embedding_answer,
    read_embeddings,
    read_ollama_embed,
    read_ollama_embedding,
)
from teahouse.server.gateway.openai.images import images_answer, read_images
from teahouse.server.gateway.visit import Visit


async def embeddings(visit: Visit) -> None:
    asked = read_embeddings(await visit.incoming.body())
    await visit.outgoing.whole(embeddings_answer(asked, await _embed(visit, asked)))


async def ollama_embed(visit: Visit) -> None:
    asked = read_ollama_embed(await visit.incoming.body())
    time = asyncio.get_running_loop().time
    begun = time()
    embedded = await _embed(visit, asked)
    await visit.outgoing.whole(ollama_embed_answer(asked, embedded, time() - begun))


async def ollama_embedding(visit: Visit) -> None:
    asked = read_ollama_embedding(await visit.incoming.body())
    await visit.outgoing.whole(ollama_embedding_answer(await _embed(visit, asked)))


async def _embed(visit: Visit, asked: EmbedAsked) -> Embedded:
    visit.allow(asked.model)
    work = visit.house.inference.embed(asked.model, asked.request, visit.caller())
    return await visit.attended(work)


async def speech(visit: Visit) -> None:
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


async def transcription(visit: Visit) -> None:
    kind = visit.incoming.headers.get("content-type", "")
    asked = read_transcription(kind, await visit.incoming.body())
    visit.allow(asked.model)
    work = visit.house.inference.transcribe(asked.model, asked.request, visit.caller())
    told = await visit.attended(work)
    await visit.outgoing.whole(transcription_answer(asked, told), transcription_type(asked, told))


async def images(visit: Visit) -> None:
    asked = read_images(await visit.incoming.body())
    visit.allow(asked.model)
    work = visit.house.inference.paint(asked.model, asked.request, visit.caller())
    await visit.outgoing.whole(images_answer(asked, await visit.attended(work), visit.now()))
