"""`teahouse mcp`: another program asks the agents of a house over standard input and output."""

from __future__ import annotations

from pathlib import Path

import pytest

from teahouse.core.messages import Text
from teahouse.tools.mcp.errors import ServerSaid
from teahouse.tools.mcp.settings import ServerSettings
from tests.cli.conftest import Teahouse
from tests.tools.mcp.ground import HERE, ground

pytestmark = pytest.mark.anyio


async def test_an_editor_asks_an_agent_and_goes_on_in_the_conversation(
    house: Teahouse, tmp_path: Path
) -> None:
    command, *arguments = house.command("mcp")
    settings = ServerSettings(
        command=command, args=tuple(arguments), env=house.environment, timeout_s=90.0
    )
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": settings})
        await here.comes_to("ready")
        (cards,) = await here.tool("list_agents")({}, HERE)
        assert isinstance(cards, Text)
        assert cards.text.startswith("- ")
        name = cards.text.removeprefix("- ").split(":")[0]
        ask = here.tool("ask_agent")
        said, where = await ask({"agent": name, "message": "Hello"}, HERE)
        assert isinstance(said, Text)
        assert said.text
        assert isinstance(where, Text)
        conversation = where.text.removeprefix("(conversation ").removesuffix(")")
        again = await ask({"agent": name, "message": "And?", "conversation": conversation}, HERE)
        assert again[1] == where
        with pytest.raises(ServerSaid, match="There is no agent called Nobody"):
            await ask({"agent": "Nobody", "message": "Hello"}, HERE)
