"""Puts the web application together: one guard, one place for errors, one gate around all of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from litestar.datastructures import State

from teahouse.core.tasks import Supervisor
from teahouse.server.body import Request
from teahouse.server.credentials import require_person
from teahouse.server.errors import answer
from teahouse.server.framework import Routes
from teahouse.server.gate import Gate, Receive, Scope, Send
from teahouse.server.gateway.app import Gateway
from teahouse.server.readers import Readers
from teahouse.server.routes import HANDLERS, MANAGING
from teahouse.server.schema import openapi_schema
from teahouse.server.socket import ws

if TYPE_CHECKING:
    from litestar import Litestar

    from teahouse.server.metrics import Metrics
    from teahouse.server.ports import House

MAX_BODY = 1 << 20


class Application(Gate):
    """An ASGI application. `readers` are those who listen at this moment."""

    def __init__(self, house: House, *, page: bool = True, metrics: Metrics | None = None) -> None:
        self.readers = readers = Readers(house.accounts)
        self.routes = litestar(house, self.readers, page=page)
        self._gateway = Gateway(house, metrics)
        if metrics is not None:
            what = "Sockets and event streams that are open."
            metrics.watch("teahouse_readers", what, lambda: len(readers))
        super().__init__(self._serve, house)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = scope["type"] == "http"
        to = self._gateway if http and self._gateway.takes(scope["path"]) else self.routes
        await to(scope, receive, send)  # pyright: ignore[reportArgumentType]  the same three, typed otherwise


def litestar(house: House, readers: Readers, *, page: bool) -> Litestar:
    return Routes(
        route_handlers=[*HANDLERS, ws] if page else list(MANAGING),
        guards=[require_person],
        request_class=Request,
        request_max_body_size=MAX_BODY,
        exception_handlers={Exception: answer},
        lifespan=[_background],
        state=State(
            {"house": house, "readers": readers, "describe": openapi_schema}, deep_copy=False
        ),
        openapi_config=None,  # the framework would serve its own pages of it
        logging_config=None,
    )


@asynccontextmanager
async def _background(app: Litestar) -> AsyncGenerator[None]:
    async with Supervisor() as supervisor:
        app.state.supervisor = supervisor
        supervisor.keep("readers", app.state.readers.watch)
        yield
