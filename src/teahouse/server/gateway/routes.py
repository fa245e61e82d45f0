"""Which path is answered by what: all dialects together, and the list that two of them share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teahouse.server.gateway.anthropic import models as anthropic_models
from teahouse.server.gateway.anthropic import routes as anthropic
from teahouse.server.gateway.ollama import routes as ollama
from teahouse.server.gateway.openai import models as openai_models
from teahouse.server.gateway.openai import responses
from teahouse.server.gateway.openai import routes as openai
from teahouse.server.gateway.openai.error import refuse
from teahouse.server.gateway.route import Refuse, Route, talk
from teahouse.server.gateway.seed_chat import SeedChat
from teahouse.server.gateway.visit import Visit


async def _models(visit: Visit) -> None:
    told = anthropic_models if _for_anthropic(visit.incoming.headers) else openai_models
    await visit.outgoing.whole(told.models(await visit.models()))


async def _model(visit: Visit) -> None:
    name = visit.incoming.path.removeprefix(_ONE)
    told = anthropic_models if _for_anthropic(visit.incoming.headers) else openai_models
    await visit.outgoing.whole(told.model(await visit.model(name)))


def _for_anthropic(headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers


_ONE: Final = "/v1/models/"
_ONE_MODEL: Final = Route(method="GET", handle=_model, refuse=refuse)

ROUTES: Final[Mapping[str, Route]] = {
    "/chat": talk(SeedChat()),
    "/v1/models": Route(method="GET", handle=_models, refuse=refuse),
    **openai.ROUTES,
    **anthropic.ROUTES,
    **ollama.ROUTES,
}


def route_of(path: str, method: str) -> Route | None:
    if path.startswith(_ONE) and len(path) > len(_ONE):  # a model's name has slashes of its own
        return _ONE_MODEL
    if path.startswith(responses.ONE):
        return openai.ONE_RESPONSE.get(method, openai.ONE_RESPONSE["GET"])
    return ROUTES.get(path)


def form_of(path: str, headers: Mapping[str, str]) -> Refuse:
    """In whose words an error is told, also where there is no route."""
    if path.startswith("/ollama"):
        return ollama.refuse
    if _for_anthropic(headers):
        return anthropic.refuse
    route = ROUTES.get(path)
    return route.refuse if route else refuse


def is_ours(path: str) -> bool:
    return path in ROUTES or path.startswith(("/v1/", "/ollama/"))
