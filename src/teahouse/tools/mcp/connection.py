"""A session with a server that is up: what it offers, and one call, over either transport.

Results are not checked against the schemas that the server gave: a server could make us search for
a match without end. What a model reads is judged by the model.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.client import Client, ClientRequestContext, IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from teahouse import __version__
from teahouse.core.messages import JsonObject
from teahouse.tools.mcp import definition, remote
from teahouse.tools.mcp.child import Child
from teahouse.tools.mcp.definition import Definition, Hints, Unfit
from teahouse.tools.mcp.errors import McpFailed
from teahouse.tools.mcp.login import Login
from teahouse.tools.mcp.ports import House, Question
from teahouse.tools.mcp.settings import ServerSettings

T = TypeVar("T")
Heard = Callable[[float, float | None, str | None], None]

_Result: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_US = types.Implementation(name="teahouse", title="Teahouse", version=__version__)
_LISTEN_AGAIN_S = 30.0


class Listed(Struct, frozen=True, kw_only=True):
    tools: tuple[Definition, ...]
    unfit: dict[str, str]


class Connection:
    """Its methods raise `McpFailed`, and may be called from any task while the session is up."""

    def __init__(
        self, name: str, client: Client, house: House, why: Callable[[], McpFailed | None]
    ):
        self._name, self._client, self._house, self._why = name, client, house, why

    def check(self) -> None:
        """Raises what ended it, if that is known."""
        if (why := self._why()) is not None:
            raise why

    @property
    def server(self) -> types.Implementation | None:
        return self._client.server_info

    @property
    def protocol(self) -> str:
        return self._client.protocol_version

    @property
    def instructions(self) -> str:
        return definition.visible(self._client.instructions or "")[: definition.MOST_WORDS]

    async def tools(self) -> Listed:
        found: dict[str, Definition] = {}
        unfit: dict[str, str] = {}
        if self._client.server_capabilities.tools is not None:
            async for tool in self._pages(self._tool_page):
                if tool.name in found:
                    unfit[tool.name] = "twice"
                elif len(found) == self._house.limits.tools:
                    unfit[tool.name] = "many"
                else:
                    try:
                        found[tool.name] = _defined(tool)
                    except Unfit as error:
                        unfit[tool.name] = str(error)
        return Listed(tools=tuple(found.values()), unfit=unfit)

    async def call(
        self, tool: str, arguments: JsonObject, seconds: float, heard: Heard
    ) -> types.CallToolResult:
        """Leaving it early (also by cancelling) tells the server to stop."""

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            heard(progress, total, message)

        params = types.CallToolRequestParams(name=tool, arguments=arguments)
        result = await self._asked(
            lambda: self._client.session.send_request(
                types.CallToolRequest(params=params), _Result, progress_callback=on_progress
            ),
            seconds,
        )
        if isinstance(result, types.InputRequiredResult):
            raise McpFailed("mcp_refused", server=self._name, detail="input required")
        return result

    async def resources(self) -> tuple[types.Resource, ...]:
        if self._client.server_capabilities.resources is None:
            return ()
        return tuple([one async for one in self._pages(self._resource_page)])

    async def resource_templates(self) -> tuple[types.ResourceTemplate, ...]:
        if self._client.server_capabilities.resources is None:
            return ()
        return tuple([one async for one in self._pages(self._template_page)])

    async def read(self, uri: str, seconds: float) -> types.ReadResourceResult:
        return await self._asked(lambda: self._client.read_resource(uri), seconds)

    async def prompts(self) -> tuple[types.Prompt, ...]:
        if self._client.server_capabilities.prompts is None:
            return ()
        return tuple([one async for one in self._pages(self._prompt_page)])

    async def prompt(
        self, name: str, arguments: dict[str, str], seconds: float
    ) -> types.GetPromptResult:
        return await self._asked(lambda: self._client.get_prompt(name, arguments), seconds)

    async def listen(self, stir: Callable[[], None]) -> None:
        """Newer servers tell of changes only to whoever listens; runs until cancelled."""
        while True:
            try:
                async with self._client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        stir()
            except SubscriptionLost:
                stir()
            except (ListenNotSupportedError, MCPError, TimeoutError):
                return
            await asyncio.sleep(_LISTEN_AGAIN_S)

    async def _tool_page(self, cursor: str | None) -> tuple[list[types.Tool], str | None]:
        page = await self._client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor

    async def _resource_page(self, cursor: str | None) -> tuple[list[types.Resource], str | None]:
        page = await self._client.list_resources(cursor=cursor)
        return page.resources, page.next_cursor

    async def _template_page(
        self, cursor: str | None
    ) -> tuple[list[types.ResourceTemplate], str | None]:
        page = await self._client.list_resource_templates(cursor=cursor)
        return page.resource_templates, page.next_cursor

    async def _prompt_page(self, cursor: str | None) -> tuple[list[types.Prompt], str | None]:
        page = await self._client.list_prompts(cursor=cursor)
        return page.prompts, page.next_cursor

    async def _pages(self, page: Callable[[str | None], Any]) -> AsyncGenerator[Any, None]:
        cursor: str | None = None
        for _ in range(self._house.limits.pages):
            now = cursor
            items, cursor = await self._asked(lambda now=now: page(now), self._house.limits.list_s)
            for item in items:
                yield item
            if not cursor:
                return

    async def _asked(self, ask: Callable[[], Any], seconds: float) -> Any:
        """One question, with a deadline of ours: the SDK's begins when the question is written, and
        a server may not even read it."""
        try:
            async with asyncio.timeout(seconds):
                return await ask()
        except TimeoutError as error:
            raise McpFailed("mcp_timeout", server=self._name, seconds=f"{seconds:g}") from error
        except MCPError as error:
            if error.code in {types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT} or _is_over(error):
                raise self._why() or McpFailed("mcp_lost", server=self._name) from error
            detail = definition.visible(error.message)[:500]
            raise McpFailed("mcp_refused", server=self._name, detail=detail) from error
        except ValidationError as error:
            detail = f"{error.error_count()} × {error.title}"
            raise McpFailed("mcp_garbage", server=self._name, detail=detail) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError) as error:
            raise self._why() or McpFailed("mcp_lost", server=self._name) from error


def _is_over(error: MCPError) -> bool:
    return error.code == types.INVALID_REQUEST and error.message == "Session terminated"


def _defined(tool: types.Tool) -> Definition:
    told = tool.annotations or types.ToolAnnotations()
    hints = Hints(
        read_only=told.read_only_hint,
        destructive=told.destructive_hint,
        idempotent=told.idempotent_hint,
        open_world=told.open_world_hint,
    )
    return definition.read(
        tool.name, tool.description or tool.title or "", tool.input_schema, hints
    )


@asynccontextmanager
async def connected(
    name: str,
    settings: ServerSettings,
    house: House,
    *,
    log: deque[str],
    login: Login,
    stir: Callable[[], None],
) -> AsyncGenerator[Connection]:
    """Raises whatever comes from below, in groups. `stir` is called when tools may have changed."""

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            stir()

    child = Child(name, settings, house, log, stir) if settings.command else None
    transport = child or _remote(settings, house, login)
    client = Client(
        transport,
        client_info=_US,
        cache=None,
        message_handler=heard,
        elicitation_callback=_asking(name, house),
    )
    try:
        async with client:
            yield Connection(name, client, house, lambda: child.why if child else None)
    except Exception as error:
        if child is not None and child.why is not None:
            raise child.why from error
        raise


@asynccontextmanager
async def _remote(settings: ServerSettings, house: House, login: Login) -> AsyncGenerator[Any]:
    assert settings.url is not None
    has_key = any(name.lower() == "authorization" for name in settings.headers)
    async with (
        remote.client(settings, house, None if has_key else login.auth()) as http,
        streamable_http_client(
            settings.url, http_client=http, max_sse_event_size=house.limits.message
        ) as streams,
    ):
        yield streams


def _asking(name: str, house: House) -> Any:
    asks = house.asks
    if asks is None:
        return None

    async def ask(
        _: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        if isinstance(params, types.ElicitRequestURLParams):
            return types.ElicitResult(action="decline")
        question = Question(
            server=name,
            message=definition.visible(params.message)[: definition.MOST_WORDS],
            schema=params.requested_schema,
        )
        answer = await asks(question)
        if answer is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=answer)

    return ask
