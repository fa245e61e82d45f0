"""The paths of Ollama's interface, below one of the house's own: Ollama's are too general."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from teahouse.server.gateway.ollama import embeddings, models
from teahouse.server.gateway.ollama.chat import Chat, Generate
from teahouse.server.gateway.route import Handle, Route, talk
from teahouse.server.gateway.visit import Visit

_chat: Final = Chat()
refuse: Final = _chat.refuse


async def _embed(visit: Visit) -> None:
    asked = embeddings.read_embed(await visit.incoming.body())
    time = asyncio.get_running_loop().time
    begun = time()
    embedded = await visit.embed(asked)
    await visit.outgoing.whole(embeddings.embed_answer(asked, embedded, time() - begun))


async def _embedding(visit: Visit) -> None:
    asked = embeddings.read_embedding(await visit.incoming.body())
    await visit.outgoing.whole(embeddings.embedding_answer(await visit.embed(asked)))


async def _version(visit: Visit) -> None:
    await visit.outgoing.whole(models.version())


async def _tags(visit: Visit) -> None:
    await visit.outgoing.whole(models.tags(await visit.models(), visit.started()))


async def _ps(visit: Visit) -> None:
    await visit.outgoing.whole(models.ps(await visit.models(), visit.now()))


async def _show(visit: Visit) -> None:
    model = models.read_show(await visit.incoming.body())
    await visit.outgoing.whole(models.show(await visit.model(model), visit.started()))


def _route(handle: Handle, method: str = "GET") -> Route:
    return Route(method=method, handle=handle, refuse=refuse)


ROUTES: Final[Mapping[str, Route]] = {
    "/ollama/api/chat": talk(_chat),
    "/ollama/api/generate": talk(Generate()),
    "/ollama/api/embed": _route(_embed, "POST"),
    "/ollama/api/embeddings": _route(_embedding, "POST"),
    "/ollama/api/version": _route(_version),
    "/ollama/api/tags": _route(_tags),
    "/ollama/api/ps": _route(_ps),
    "/ollama/api/show": _route(_show, "POST"),
}
