"""Puts the web application together: one guard, one place for errors, one gate around all of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from litestar import Litestar
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.plugins.core import MsgspecDIPlugin

from teahouse import __version__
from teahouse.core.tasks import Supervisor
from teahouse.server.body import Request
from teahouse.server.credentials import require_person
from teahouse.server.errors import answer
from teahouse.server.gate import Gate
from teahouse.server.readers import Readers
from teahouse.server.routes import HANDLERS
from teahouse.server.socket import ws

if TYPE_CHECKING:
    from litestar.handlers import HTTPRouteHandler
    from litestar.plugins import PluginProtocol
    from litestar.types.internal_types import PathParameterDefinition

    from teahouse.server.ports import House

MAX_BODY = 1 << 20


class _Plain(Litestar):
    """Litestar loads pydantic and attrs wherever they happen to be installed: two thirds of the
    time to build the routes, and 15 MB, for values that we don't use."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


class Application(Gate):
    """An ASGI application. `readers` are those who listen at this moment."""

    def __init__(self, house: House) -> None:
        self.readers = Readers(house.accounts)
        self.routes = litestar(house, self.readers)
        super().__init__(self.routes, house)


def create_app(house: House) -> Application:
    return Application(house)


def litestar(house: House, readers: Readers) -> Litestar:
    return _Plain(
        route_handlers=[*HANDLERS, ws],
        guards=[require_person],
        request_class=Request,
        request_max_body_size=MAX_BODY,
        exception_handlers={Exception: answer},
        lifespan=[_background],
        state=State({"house": house, "readers": readers}, deep_copy=False),
        openapi_config=None,  # the framework would serve its own pages of it
        logging_config=None,
    )


def described() -> Litestar:
    """The same routes with a description of them, which needs no house."""
    return _Plain(
        route_handlers=[*HANDLERS, ws],
        request_class=Request,
        openapi_config=OpenAPIConfig(
            title="Teahouse",
            version=__version__,
            operation_id_creator=_operation_id,
            use_handler_docstrings=True,
        ),
        logging_config=None,
    )


@asynccontextmanager
async def _background(app: Litestar) -> AsyncGenerator[None]:
    async with Supervisor() as supervisor:
        app.state.supervisor = supervisor
        supervisor.keep("readers", app.state.readers.watch)
        yield


def _operation_id(
    handler: HTTPRouteHandler, method: object, path: list[str | PathParameterDefinition]
) -> str:
    """The function's own name: stable, and unique since the routes are one table."""
    return handler.handler_name
