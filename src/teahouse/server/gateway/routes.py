"""Which path is answered by what, and in whose words an error is told there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from teahouse.server.gateway import media
from teahouse.server.gateway.anthropic import messages as anthropic
from teahouse.server.gateway.anthropic.messages import Messages
from teahouse.server.gateway.dialect import Dialect, Refusal
from teahouse.server.gateway.model_list import (
    anthropic_model,
    anthropic_models,
    openai_model,
    openai_models,
)
from teahouse.server.gateway.ollama import chat as ollama
from teahouse.server.gateway.openai import responses
from teahouse.server.gateway.openai.chat import OpenAIChat
from teahouse.server.gateway.openai.error import refuse
from teahouse.server.gateway.seed_chat import SeedChat
from teahouse.server.gateway.visit import Visit

Handle: TypeAlias = Callable[[Visit], Awaitable[None]]


class Route(Struct, frozen=True, kw_only=True):
    method: str = "POST"
    handle: Handle
    refuse: Callable[[Refusal], bytes]


def talk(dialect: Dialect) -> Route:
    async def handle(visit: Visit) -> None:
        await visit.talk(dialect)

    return Route(handle=handle, refuse=dialect.refuse)


_messages, _ollama = Messages(), ollama.Chat()


async def _count(visit: Visit) -> None:
    asked = _messages.read_to_count(await visit.incoming.body())
    visit.allow(asked.model)
    await visit.outgoing.whole(anthropic.count(asked))


async def _models(visit: Visit) -> None:
    listed = anthropic_models if _for_anthropic(visit.incoming.headers) else openai_models
    await visit.outgoing.whole(listed(await visit.models()))


async def _model(visit: Visit) -> None:
    name = visit.incoming.path.removeprefix(_ONE)
    told = anthropic_model if _for_anthropic(visit.incoming.headers) else openai_model
    await visit.outgoing.whole(told(await visit.model(name)))


def _for_anthropic(headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers


async def _version(visit: Visit) -> None:
    await visit.outgoing.whole(ollama.version())


async def _tags(visit: Visit) -> None:
    await visit.outgoing.whole(ollama.tags(await visit.models(), visit.started()))


async def _ps(visit: Visit) -> None:
    await visit.outgoing.whole(ollama.ps(await visit.models(), visit.now()))


async def _show(visit: Visit) -> None:
    model = ollama.read_show(await visit.incoming.body())
    await visit.outgoing.whole(ollama.show(await visit.model(model), visit.started()))


def _ollama_route(handle: Handle, method: str = "GET") -> Route:
    return Route(method=method, handle=handle, refuse=_ollama.refuse)


_ONE: Final = "/v1/models/"

ROUTES: Final[Mapping[str, Route]] = {
    "/chat": talk(SeedChat()),
    "/v1/chat/completions": talk(OpenAIChat()),
    "/v1/responses": Route(handle=responses.respond, refuse=refuse),
    "/v1/messages": talk(_messages),
    "/v1/messages/count_tokens": Route(handle=_count, refuse=_messages.refuse),
    "/v1/models": Route(method="GET", handle=_models, refuse=refuse),
    "/v1/embeddings": Route(handle=media.embeddings, refuse=refuse),
    "/v1/audio/speech": Route(handle=media.speech, refuse=refuse),
    "/v1/audio/transcriptions": Route(handle=media.transcription, refuse=refuse),
    "/v1/images/generations": Route(handle=media.images, refuse=refuse),
    "/ollama/api/chat": talk(_ollama),
    "/ollama/api/generate": talk(ollama.Generate()),
    "/ollama/api/embed": _ollama_route(media.ollama_embed, "POST"),
    "/ollama/api/embeddings": _ollama_route(media.ollama_embedding, "POST"),
    "/ollama/api/version": _ollama_route(_version),
    "/ollama/api/tags": _ollama_route(_tags),
    "/ollama/api/ps": _ollama_route(_ps),
    "/ollama/api/show": _ollama_route(_show, "POST"),
}

_ONE_MODEL: Final = Route(method="GET", handle=_model, refuse=refuse)
_ONE_RESPONSE: Final[Mapping[str, Route]] = {
    "GET": Route(method="GET", handle=responses.show, refuse=refuse),
    "DELETE": Route(method="DELETE", handle=responses.forget, refuse=refuse),
}


def route_of(path: str, method: str) -> Route | None:
    if path.startswith(_ONE) and len(path) > len(_ONE):  # a model's name has slashes of its own
        return _ONE_MODEL
    if path.startswith(responses.ONE):
        return _ONE_RESPONSE.get(method, _ONE_RESPONSE["GET"])
    return ROUTES.get(path)


def form_of(path: str, headers: Mapping[str, str]) -> Callable[[Refusal], bytes]:
    """In whose words an error is told, also where there is no route."""
    if path.startswith("/ollama"):
        return _ollama.refuse
    if _for_anthropic(headers):
        return _messages.refuse
    route = ROUTES.get(path)
    return route.refuse if route else refuse


def is_ours(path: str) -> bool:
    return path in ROUTES or path.startswith(("/v1/", "/ollama/"))
