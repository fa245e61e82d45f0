"""Our agents as tools of others, and our client against a server on the network: our own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from teahouse.core.messages import Text
from teahouse.tools.egress import EgressRules
from teahouse.tools.mcp.errors import ServerSaid
from teahouse.tools.mcp.settings import ServerSettings
from tests.tools.mcp.ground import HERE, Ground, ground
from tests.tools.mcp.offering import PaperAgents, listening

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]


@asynccontextmanager
async def served(agents: PaperAgents) -> AsyncGenerator[str]:
    web, url, task = await listening(agents)
    try:
        yield url
    finally:
        web.should_exit = True
        async with asyncio.timeout(30):
            await task


async def converse(here: Ground) -> None:
    status = await here.comes_to("ready")
    assert (status.title, status.instructions[:10]) == ("Teahouse", "The agents")
    (cards,) = await here.tool("list_agents")({}, HERE)
    assert cards == Text(text="- Lu Yu: knows tea\n- Quiet")
    ask = here.tool("ask_agent")
    said = await ask({"agent": "Lu Yu", "message": "茶?"}, HERE)
    assert said == (Text(text="You said: 茶?"), Text(text="(conversation c_new)"))
    said = await ask({"agent": "Lu Yu", "message": "So?", "conversation": "c_1"}, HERE)
    assert said[1] == Text(text="(conversation c_1)")
    with pytest.raises(ServerSaid, match="There is no agent Nobody"):
        await ask({"agent": "Nobody", "message": "Hello?"}, HERE)
    for wrong in ({}, {"agent": "Lu Yu", "message": " "}, {"agent": 1, "message": "a"}):
        with pytest.raises(ServerSaid, match="Both agent and message"):
            await ask(wrong, HERE)


async def test_agents_are_asked_over_http(tmp_path: Path) -> None:
    async with served(PaperAgents()) as url, ground(tmp_path) as here:
        await here.servers.apply({"fake": ServerSettings(url=url)})
        await converse(here)


async def test_agents_are_asked_over_stdio(tmp_path: Path) -> None:
    arguments = ("-m", "tests.tools.mcp.offering", "--stdio")
    settings = ServerSettings(command=sys.executable, args=arguments, cwd=str(ROOT))
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": settings})
        await converse(here)


async def test_a_caller_that_leaves_stops_the_run(tmp_path: Path) -> None:
    agents = PaperAgents()
    async with served(agents) as url, ground(tmp_path) as here:
        await here.servers.apply({"fake": ServerSettings(url=url, timeout_s=0.5)})
        await here.comes_to("ready")
        with pytest.raises(Exception, match=r"did not answer within 0\.5 seconds"):
            await here.tool("ask_agent")({"agent": "Lu Yu", "message": "wait"}, HERE)
        async with asyncio.timeout(30):
            await agents.stopped.wait()


async def test_a_server_on_the_network_that_is_away_is_tried_again(tmp_path: Path) -> None:
    agents = PaperAgents()
    async with served(agents) as url:
        pass
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": ServerSettings(url=url)})
        status = await here.comes_to("retrying")
        assert status.state.problem is not None
        assert status.state.problem.code == "mcp_start"


async def test_a_private_place_that_nobody_entered_is_not_reached(tmp_path: Path) -> None:
    """The server's own place is the owner's word; where it might send us on is not."""
    from teahouse.tools.mcp import remote

    async with (
        served(PaperAgents()) as url,
        served(PaperAgents()) as other,
        ground(tmp_path, egress=EgressRules) as here,
        remote.client(ServerSettings(url=url), here.house, None) as http,
    ):
        assert (await http.post(url, json={})).status_code < 500
        with pytest.raises(Exception, match="not on the public internet"):
            await http.post(other, json={})


async def test_pages_of_other_sites_are_kept_out() -> None:
    import httpx2

    async with served(PaperAgents()) as url, httpx2.AsyncClient(trust_env=False) as http:
        for name, value in (("Host", "evil.example"), ("Origin", "https://evil.example")):
            answer = await http.post(url, json={}, headers={name: value})
            assert answer.status_code in {403, 421}
