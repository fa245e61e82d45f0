"""A server that behaves: its tools, its results, what is accepted of it, and changed settings."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from msgspec import structs

from teahouse.core.errors import NotFound
from teahouse.core.messages import Blob, Text
from teahouse.llm.tool import ToolContext
from teahouse.tools.mcp.errors import McpFailed
from tests.tools.mcp.ground import HERE, MemoryBlobs, MemoryPins, fake, ground

pytestmark = pytest.mark.anyio


async def test_a_tool_is_called_by_the_name_that_models_see(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("plain")})
        await here.comes_to("ready")
        (tool,) = here.servers.tools()
        assert tool.spec.name == "mcp__fake__echo"
        assert tool.spec.description == "Say it again."
        assert tool.spec.parameters["properties"] == {"text": {"type": "string"}}
        assert tool.is_foreign
        assert not tool.repeatable
        assert await tool({"text": "茶"}, HERE) == (Text(text="茶"),)


async def test_of_the_environment_a_child_gets_what_is_given_and_little_else(
    tmp_path: Path,
) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("environment", env={"TEA": "green"})})
        await here.comes_to("ready")
        (said,) = await here.tool()({}, HERE)
        assert isinstance(said, Text)
        assert set(json.loads(said.text)) <= {"PATH", "HOME", "TEA", "LC_CTYPE"}
        assert json.loads(said.text)["TEA"] == "green"


async def test_bytes_become_blobs_and_words_stay_words(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("blob")})
        await here.comes_to("ready")
        assert await here.tool()({}, HERE) == (
            Blob(file="f_0", media_type="image/png", name="image.png", size=5),
            Text(text="[audio/wav: not base64]"),
            Text(text="inside"),
            Blob(file="f_1", media_type="application/octet-stream", name="b.bin", size=2),
            Text(text="c: file:///c"),
        )
        assert isinstance(here.house.keep, MemoryBlobs)
        assert here.house.keep.kept == {"f_0": b"hello", "f_1": b"\x00\x01"}


async def test_structured_content_is_told_where_no_words_are(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("structured")})
        await here.comes_to("ready")
        assert await here.tool()({}, HERE) == (Text(text='{"tea":"green"}'),)


async def test_progress_is_heard_with_whose_call_it_is(tmp_path: Path) -> None:
    heard: list[tuple[object, ...]] = []

    def progress(*told: object) -> None:
        heard.append(told)

    async with ground(tmp_path, progress=progress) as here:
        await here.servers.apply({"fake": fake("progress")})
        await here.comes_to("ready")
        await here.tool()({}, HERE)
    assert heard == [
        (HERE, "mcp__fake__echo", 1.0, 2.0, "so"),
        (HERE, "mcp__fake__echo", 2.0, 2.0, "so"),
    ]


async def test_a_call_that_nobody_waits_for_any_more_is_cancelled_at_the_server(
    tmp_path: Path,
) -> None:
    log = tmp_path / "starts.log"

    def told() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        return [json.loads(line)["method"] for line in lines]

    async with ground(tmp_path) as here:
        settings = fake("log", tmp_path / "starts")
        await here.servers.apply({"fake": settings})
        await here.comes_to("ready")
        hanging = structs.replace(settings, args=(*settings.args, "hang"))
        await here.servers.apply({"fake": hanging})
        await here.comes_to("ready")
        tool = here.tool()
        async with asyncio.timeout(60):
            call = asyncio.create_task(tool({}, ToolContext()))
            while "tools/call" not in told():
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            while "notifications/cancelled" not in told():
                await asyncio.sleep(0.01)


async def test_only_what_changed_is_started_anew(tmp_path: Path) -> None:
    one, other = fake("plain", tmp_path / "one"), fake("plain", tmp_path / "other")
    async with ground(tmp_path) as here:
        await here.servers.apply({"one": one, "other": other})
        await here.comes_to("ready", "one")
        await here.comes_to("ready", "other")
        slower = structs.replace(other, timeout_s=7.0)
        await here.servers.apply({"one": one, "other": slower, "third": fake("plain")})
        await here.comes_to("ready", "other")
        await here.comes_to("ready", "third")
        assert (tmp_path / "one").read_text() == "1"
        assert (tmp_path / "other").read_text() == "2"
        await here.servers.apply({"one": one})
        assert [status.server for status in here.servers.statuses()] == ["one"]
        with pytest.raises(NotFound):
            here.servers.restart("other")


async def test_a_server_that_is_switched_off_is_shown_and_not_started(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("plain", tmp_path / "starts", enabled=False)})
        assert here.status().state.phase == "off"
        assert not (tmp_path / "starts").exists()
        await here.servers.apply({"fake": fake("plain", tmp_path / "starts")})
        await here.comes_to("ready")


async def test_a_tool_that_came_later_waits_to_be_accepted(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("grows")})
        await here.until(lambda: len(here.status().tools) == 2)
        standings = {one.tool: one.standing for one in here.status().tools}
        assert standings == {"echo": "accepted", "new": "new"}
        assert [tool.definition.tool for tool in here.servers.tools()] == ["echo"]
        digest = next(one.digest for one in here.status().tools if one.tool == "new")
        await here.servers.accept("fake", {"new": "of something else"})
        assert len(here.servers.tools()) == 1
        await here.servers.accept("fake", {"new": digest})
        assert await here.tool("new")({"text": "tea"}, HERE) == (Text(text="tea"),)


async def test_a_tool_that_changed_over_a_restart_is_refused_even_to_a_run_that_holds_it(
    tmp_path: Path,
) -> None:
    pins = MemoryPins()
    settings = fake("changes-at-restart", tmp_path / "starts")
    async with ground(tmp_path, pins=pins) as here:
        await here.servers.apply({"fake": settings})
        await here.comes_to("ready")
        held = here.tool()
        assert await held({"text": "tea"}, HERE) == (Text(text="tea"),)
    async with ground(tmp_path, pins=pins) as here:
        await here.servers.apply({"fake": settings})
        status = await here.comes_to("ready")
        assert [one.standing for one in status.tools] == ["changed"]
        assert here.servers.tools() == ()
        link, _ = here.servers._links["fake"]
        with pytest.raises(McpFailed) as raised:
            await link.call(held.definition, {}, HERE)
        assert raised.value.code == "mcp_changed"
        await here.servers.accept("fake", {"echo": status.tools[0].digest})
        assert here.tool().spec.description == "Say it, and send it."


async def test_a_server_that_left_the_settings_is_a_stranger_when_it_comes_back(
    tmp_path: Path,
) -> None:
    pins = MemoryPins()
    async with ground(tmp_path, pins=pins) as here:
        await here.house.vault.put("mcp/fake/tokens", "sealed")
        await here.servers.apply({"fake": fake("plain")})
        await here.comes_to("ready")
        assert set(pins.kept) == {"fake"}
        await here.servers.apply({})
        assert pins.kept == {}
        assert await here.house.vault.get("mcp/fake/tokens") is None


async def test_a_call_while_it_is_away_says_why(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("crash-in-call", tmp_path / "starts")})
        await here.comes_to("ready")
        tool = here.tool()
        with pytest.raises(McpFailed):
            await tool({}, HERE)
        await here.servers.apply({"fake": fake("crash-at-start")})
        await here.comes_to("retrying")
        link, _ = here.servers._links["fake"]
        with pytest.raises(McpFailed) as raised:
            await link.call(tool.definition, {}, HERE)
        assert raised.value.code == "mcp_not_ready"
        assert "no such kettle" in raised.value.text


async def test_a_server_without_tools_is_no_trouble(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("no-tools")})
        status = await here.comes_to("ready")
        assert status.tools == ()
        assert await here.servers.resources("fake") == ()
        assert await here.servers.prompts("fake") == ()
