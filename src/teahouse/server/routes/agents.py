"""Agents as contacts."""

from __future__ import annotations

from litestar import delete, get, patch, post, put
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import structs

from teahouse.agent.directory import Agent, AgentChanges, AgentDraft
from teahouse.agent.finder import ToolOfAgent
from teahouse.chat.ports import Page
from teahouse.server.answers import whole
from teahouse.server.body import Request


@get("/api/agents")
async def list_agents(request: Request, archived: FromQuery[bool] = False) -> Page[Agent]:
    return whole(await request.house.directory.list(request.person, archived=archived))


@post("/api/agents")
async def create_agent(request: Request, data: JSONBody[AgentDraft]) -> Agent:
    return await request.house.directory.create(request.person, data)


@get("/api/agents/{agent:str}")
async def get_agent(request: Request, agent: FromPath[str]) -> Agent:
    return await request.house.directory.get(request.person, agent)


@put("/api/agents/{agent:str}")
async def replace_agent(
    request: Request, agent: FromPath[str], data: JSONBody[AgentDraft]
) -> Agent:
    """What the body leaves out gets its default."""
    changes = AgentChanges(**structs.asdict(data))
    return await request.house.directory.change(request.person, agent, changes)


@patch("/api/agents/{agent:str}")
async def change_agent(
    request: Request, agent: FromPath[str], data: JSONBody[AgentChanges]
) -> Agent:
    """What the body leaves out stays."""
    return await request.house.directory.change(request.person, agent, data)


@get("/api/agents/{agent:str}/tools")
async def list_tools(request: Request, agent: FromPath[str]) -> Page[ToolOfAgent]:
    """Every tool there is, and whether the agent may use it."""
    return whole(await request.house.tools_of(request.person, agent))


@delete("/api/agents/{agent:str}")
async def remove_agent(request: Request, agent: FromPath[str]) -> None:
    await request.house.directory.remove(request.person, agent)


HANDLERS = (
    list_agents,
    create_agent,
    get_agent,
    replace_agent,
    change_agent,
    list_tools,
    remove_agent,
)
