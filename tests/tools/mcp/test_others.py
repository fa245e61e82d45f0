"""Servers that nobody here wrote, and the official conformance suite for clients and servers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from teahouse.core.messages import Blob, Text
from teahouse.tools.mcp.errors import ServerSaid
from teahouse.tools.mcp.settings import ServerSettings
from tests.tools.mcp.ground import HERE, ground
from tests.tools.mcp.offering import PaperAgents, listening

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
NODE = str(ROOT / ".venv/bin/node")
MODULES = ROOT / ".venv/mcp-js/node_modules/@modelcontextprotocol"
PYTHON = ROOT / ".venv/mcp/bin"
SUITE = str(MODULES / "conformance/dist/index.js")
LONGEST_S = 90


def javascript(name: str, *arguments: str) -> ServerSettings:
    return ServerSettings(command=NODE, args=(str(MODULES / name / "dist/index.js"), *arguments))


def python(name: str, *arguments: str) -> ServerSettings:
    program = name.replace("-", "_")
    return ServerSettings(command=str(PYTHON / "python"), args=("-m", program, *arguments))


async def test_server_everything_shows_its_tools_resources_and_prompts(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": javascript("server-everything")})
        await here.comes_to("ready")
        assert await here.tool("echo")({"message": "茶"}, HERE) == (Text(text="Echo: 茶"),)
        (said,) = await here.tool("get-sum")({"a": 2, "b": 3}, HERE)
        assert said == Text(text="The sum of 2 and 3 is 5.")
        picture = (await here.tool("get-tiny-image")({}, HERE))[1]
        assert isinstance(picture, Blob)
        assert picture.media_type == "image/png"
        (environment,) = await here.tool("get-env")({}, HERE)
        assert isinstance(environment, Text)
        assert set(json.loads(environment.text)) <= {"PATH", "HOME", "LC_CTYPE"}
        resources = await here.servers.resources("fake")
        document = next(one for one in resources if not one.is_template)
        (text,) = await here.servers.read("fake", document.uri, HERE)
        assert isinstance(text, Text)
        assert text.text
        assert any(one.is_template for one in resources)
        prompts = {one.name: one for one in await here.servers.prompts("fake")}
        assert [one.name for one in prompts["args-prompt"].arguments if one.required] == ["city"]
        (message,) = await here.servers.prompt("fake", "args-prompt", {"city": "杭州"}, HERE)
        assert "杭州" in str(message.content)


async def test_server_filesystem_reads_and_writes_where_it_may(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": javascript("server-filesystem", str(folder))})
        await here.comes_to("ready")
        path = str(folder / "tea.txt")
        await here.tool("write_file")({"path": path, "content": "绿茶"}, HERE)
        assert (folder / "tea.txt").read_text() == "绿茶"
        assert await here.tool("read_text_file")({"path": path}, HERE) == (Text(text="绿茶"),)
        with pytest.raises(ServerSaid, match="Access denied"):
            await here.tool("read_text_file")({"path": "/etc/passwd"}, HERE)


async def test_mcp_server_time_knows_the_time(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": python("mcp-server-time")})
        await here.comes_to("ready")
        asked = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Hong_Kong"}
        (said,) = await here.tool("convert_time")(asked, HERE)
        assert isinstance(said, Text)
        assert "T20:00:00+08:00" in said.text


async def test_mcp_server_fetch_fetches_a_page(tmp_path: Path) -> None:
    async def page(_: web.Request) -> web.Response:
        text = "<html><body><h1>Tea</h1><p>Water of 80 degrees.</p></body></html>"
        return web.Response(text=text, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", page)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        async with ground(tmp_path) as here:
            settings = python("mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips")
            await here.servers.apply({"fake": settings})
            await here.comes_to("ready")
            (said,) = await here.tool("fetch")({"url": f"http://{host}:{port}/", "raw": True}, HERE)
        assert isinstance(said, Text)
        assert "Water of 80 degrees." in said.text
    finally:
        await runner.cleanup()


async def judged(folder: Path, *arguments: str) -> str:
    """What the suite says; it must say that all is well."""
    process = await asyncio.create_subprocess_exec(
        *(NODE, SUITE, *arguments, "-o", str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with asyncio.timeout(LONGEST_S):
        said, _ = await process.communicate()
    text = said.decode(errors="replace")
    assert process.returncode == 0, text
    return text


CLIENT = (
    *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"),
    *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3"),
    *("auth/basic-cimd", "auth/pre-registration", "auth/resource-mismatch"),
    *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported"),
    *("auth/scope-omitted-when-undefined", "auth/scope-step-up", "auth/scope-retry-limit"),
    *("auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post"),
    *("auth/token-endpoint-auth-none", "auth/2025-03-26-oauth-endpoint-fallback"),
    *("auth/offline-access-scope", "auth/offline-access-not-supported"),
)
"""All that the suite has for clients, but these. `auth/2025-03-26-oauth-metadata-backcompat`: the
login gives an issuer that is not its own, which the SDK refuses as RFC 8414 asks.
`auth/client-credentials-*` and `auth/cross-app-access-*`: extensions for programs without a person.
"""

SERVER = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""The others want tools, prompts and resources of the suite's own invention."""


@pytest.mark.parametrize("scenario", CLIENT)
async def test_our_client_passes_the_official_suite(tmp_path: Path, scenario: str) -> None:
    command = f"{sys.executable} -m tests.tools.mcp.conformance_client"
    said = await judged(tmp_path, "client", "--command", command, "--scenario", scenario)
    assert "OVERALL: PASSED" in said


@pytest.mark.parametrize("scenario", SERVER)
async def test_our_server_passes_the_official_suite(tmp_path: Path, scenario: str) -> None:
    server, url, task = await listening(PaperAgents())
    try:
        assert urlsplit(url).port
        said = await judged(tmp_path, "server", "--url", url, "--scenario", scenario)
        assert ", 0 failed" in said
    finally:
        server.should_exit = True
        async with asyncio.timeout(30):
            await task
