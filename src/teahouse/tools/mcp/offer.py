"""Offers our agents to others as tools: who speaks the Model Context Protocol can ask them.

A client sees the agents that its person sees, and asks in that person's name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from teahouse import __version__
from teahouse.core.errors import TeahouseError, told
from teahouse.core.tasks import Supervisor

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_BEAT_S: Final = 10.0  # clients give up on a call that tells nothing of itself
_TEXT: Final = {"type": "string"}


class Card(Struct, frozen=True, kw_only=True):
    name: str
    description: str


class Reply(Struct, frozen=True, kw_only=True):
    text: str
    conversation: str


class Agents(Protocol):
    """The agents of one person. Both raise `TeahouseError`; cancelling `ask` stops the run."""

    async def cards(self) -> Sequence[Card]: ...
    async def ask(self, agent: str, text: str, conversation: str | None, /) -> Reply: ...


AgentsOf: TypeAlias = Callable[[Scope | None], Agents]
"""Whose agents: of the person who made the HTTP request of this scope; of None over stdio."""

_LIST = types.Tool(
    name="list_agents",
    description="List the agents of this Teahouse that can be asked, and what each is for.",
    input_schema={"type": "object", "properties": {}},
    annotations=types.ToolAnnotations(read_only_hint=True),
)
_ASK = types.Tool(
    name="ask_agent",
    description="Ask an agent of this Teahouse and wait for its answer. It has its own memory, "
    "knowledge and tools. To go on in a conversation, name the one that its last answer came from.",
    input_schema={
        "type": "object",
        "properties": {
            "agent": {**_TEXT, "description": "The agent's name, as list_agents has it"},
            "message": {**_TEXT, "description": "What to ask"},
            "conversation": {**_TEXT, "description": "Leave it out to begin a new one"},
        },
        "required": ["agent", "message"],
    },
)


def server(agents_of: AgentsOf) -> Server[Any]:
    """For any number of connections, over any transport."""

    async def tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_LIST, _ASK])

    async def call(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        request: Any = context.request
        agents = agents_of(None if request is None else request.scope)
        try:
            async with _beating(context):
                return await _called(agents, params.name, params.arguments or {})
        except TeahouseError as error:
            problem = error.problem()
            return _said(told(problem.message, problem.hint), is_error=True)

    return Server(
        "teahouse",
        title="Teahouse",
        version=__version__,
        instructions="The agents of a Teahouse. See who is there with list_agents, then ask_agent.",
        on_list_tools=tools,
        on_call_tool=call,
    )


async def over_stdio(offered: Server[Any]) -> None:
    """Until standard input ends. Nothing else may write to standard output meanwhile."""
    async with stdio_server() as (read, write):
        await offered.run(read, write, offered.create_initialization_options())


@asynccontextmanager
async def over_http(offered: Server[Any], hosts: Sequence[str]) -> AsyncGenerator[App]:
    """An ASGI app for one path. It knows no sessions, so none can be taken over: whoever stands
    before it checks each request's key. `hosts`, like `127.0.0.1:*`, are what it may be called; the
    pages of others are kept out."""
    manager = StreamableHTTPSessionManager(
        offered,
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=list(hosts),
            allowed_origins=[f"{kind}://{host}" for host in hosts for kind in ("http", "https")],
        ),
    )
    async with manager.run():
        yield manager.handle_request


async def _called(agents: Agents, tool: str, given: dict[str, Any]) -> types.CallToolResult:
    if tool == _LIST.name:
        cards = await agents.cards()
        lines = [f"- {card.name}: {card.description}".rstrip(": ") for card in cards]
        return _said("\n".join(lines))
    if tool != _ASK.name:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {tool}")
    agent, message = given.get("agent"), given.get("message")
    conversation = given.get("conversation") or None
    if not (isinstance(agent, str) and isinstance(message, str) and message.strip()):
        return _said("Both agent and message are needed, as text.", is_error=True)
    if not isinstance(conversation, str | None):
        return _said("A conversation is named by a text.", is_error=True)
    reply = await agents.ask(agent, message, conversation)
    return _said(reply.text, f"(conversation {reply.conversation})")


def _said(*texts: str, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts], is_error=is_error
    )


@asynccontextmanager
async def _beating(context: ServerRequestContext[Any]) -> AsyncGenerator[None]:
    """Tell whoever wants to hear it that the agent is still at it."""

    async def beat() -> None:
        beats = 0
        while True:
            await asyncio.sleep(_BEAT_S)
            beats += 1
            await context.session.report_progress(beats)

    async with Supervisor() as tasks:
        tasks.start("mcp progress", beat())
        yield
