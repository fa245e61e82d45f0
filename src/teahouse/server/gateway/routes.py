"""Which path is answered by what, and in whose words an error is told there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from teahouse.server.gateway import anthropic, ollama
from teahouse.server.gateway.anthropic import Messages
from teahouse.server.gateway.dialect import Dialect, Refusal
from teahouse.server.gateway.openai_chat import OpenAIChat
from teahouse.server.gateway.openai_error import refuse
from teahouse.server.gateway.responses import OpenAIResponses
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


async def _version(visit: Visit) -> None:
    await visit.outgoing.whole(ollama.version())


async def _tags(visit: Visit) -> None:
    await visit.outgoing.whole(ollama.tags(await visit.models(), visit.now()))


async def _ps(visit: Visit) -> None:
    await visit.outgoing.whole(ollama.ps(await visit.models(), visit.now()))


async def _show(visit: Visit) -> None:
    model = ollama.read_show(await visit.incoming.body())
    await visit.outgoing.whole(ollama.show(await visit.model(model), visit.now()))


def _ollama_route(handle: Handle, method: str = "GET") -> Route:
    return Route(method=method, handle=handle, refuse=_ollama.refuse)


ROUTES: Final[Mapping[str, Route]] = {
    "/v1/chat/completions": talk(OpenAIChat()),
    "/v1/responses": talk(OpenAIResponses()),
    "/v1/messages": talk(_messages),
    "/v1/messages/count_tokens": Route(handle=_count, refuse=_messages.refuse),
    "/ollama/api/chat": talk(_ollama),
    "/ollama/api/generate": talk(ollama.Generate()),
    "/ollama/api/version": _ollama_route(_version),
    "/ollama/api/tags": _ollama_route(_tags),
    "/ollama/api/ps": _ollama_route(_ps),
    "/ollama/api/show": _ollama_route(_show, "POST"),
}


def form_of(path: str, headers: Mapping[str, str]) -> Callable[[Refusal], bytes]:
    """In whose words an error is told where there may be no route."""
    if route := ROUTES.get(path):
        return route.refuse
    if path.startswith("/ollama"):
        return _ollama.refuse
    return _messages.refuse if "anthropic-version" in headers else refuse


def is_ours(path: str) -> bool:
    return path in ROUTES or path.startswith(("/v1/", "/ollama/"))
