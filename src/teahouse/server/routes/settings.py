"""The house's settings and the models it can reach."""

from __future__ import annotations

from typing import Any

from litestar import get, patch, post
from litestar.params import JSONBody

from teahouse.chat.ports import Page
from teahouse.llm.compare import Comparison
from teahouse.server.answers import whole
from teahouse.server.body import Request
from teahouse.server.forms import ModelPair, ModelQuestion, Pull
from teahouse.server.ports import LocalStatus, ModelEntry, Trial
from teahouse.server.presence import while_there


@get("/api/settings", managers=True)
async def get_settings(request: Request) -> dict[str, Any]:
    """The settings in force, secrets masked; `locked` lists what the environment fixes."""
    return request.house.settings.public()


@patch("/api/settings", managers=True)
async def change_settings(request: Request, data: JSONBody[dict[str, Any]]) -> dict[str, Any]:
    return await request.house.settings.patch(data)


@get("/api/models")
async def list_models(request: Request) -> Page[ModelEntry]:
    return whole(await request.house.models.list())


@post("/api/models/test", managers=True, status_code=200)
async def test_model(request: Request, data: JSONBody[ModelQuestion]) -> Trial:
    """Ask a model a short question; `provider` tries one that is not kept yet."""
    return await while_there(request, request.house.models.test(data.model, data.provider))


@post("/api/models/check", managers=True, status_code=200)
async def check_models(request: Request, data: JSONBody[ModelPair]) -> Comparison:
    """Put one question of a fixed suite to two models, and tell where their answers differ in
    shape: events, language, calls, ending, counts, error."""
    return await while_there(request, request.house.models.check(data.a, data.b, data.case))


@get("/api/models/local")
async def local_model(request: Request) -> LocalStatus:
    return await request.house.models.status()


@post("/api/models/pull", managers=True, status_code=202)
async def pull_model(request: Request, data: JSONBody[Pull | None] = None) -> LocalStatus:
    """Begin to fetch the model file; `GET /api/models/local` tells how far it is."""
    await request.house.models.pull(data.name if data else "")
    return await request.house.models.status()


HANDLERS = (
    get_settings,
    change_settings,
    list_models,
    test_model,
    check_models,
    local_model,
    pull_model,
)
