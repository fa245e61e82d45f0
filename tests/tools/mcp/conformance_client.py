"""Our client as the official conformance suite drives it: `python -m … URL`, the case in variables.

It connects, logs in as a person would who says yes, and calls every tool once.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import JsonObject
from teahouse.tools.egress import EgressRules
from teahouse.tools.mcp.login import Returned
from teahouse.tools.mcp.ports import Limits, Question
from teahouse.tools.mcp.settings import ServerSettings
from tests.tools.mcp.ground import HERE, Ground, ground

MOST_FAILURES = 3
DOCUMENT = "https://conformance-test.local/client-metadata.json"
# the login stands on another port, of the system's choice
RULES = EgressRules(allow=tuple(f"localhost:{port}" for port in range(32_768, 61_000)))
VALUES: dict[str, object] = {"number": 5, "integer": 5, "string": "tea", "boolean": True}


async def defaults(question: Question) -> JsonObject:
    """A person who takes what is proposed."""
    properties: dict[str, Any] = question.schema.get("properties", {})
    return {name: one["default"] for name, one in properties.items() if "default" in one}


async def visit(here: Ground, url: str) -> None:
    """The person's browser: the page sends it straight back."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        answer = await browser.get(url, follow_redirects=False)
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    issuer = query.get("iss", [None])[0]
    found = Returned(state=query["state"][0], code=query["code"][0], issuer=issuer)
    assert here.servers.finish_login(found)


async def log_in(here: Ground, seen: set[str]) -> None:
    url = here.status().state.login_url
    if url is not None and url not in seen:
        seen.add(url)
        await visit(here, url)


async def use(here: Ground) -> None:
    for tool in here.servers.tools():
        properties: dict[str, Any] = tool.spec.parameters.get("properties", {})
        given = {name: VALUES.get(one.get("type"), "tea") for name, one in properties.items()}
        try:
            await tool(given, HERE)
        except ToolFailed as error:
            print(f"{tool.spec.name}: {error}", file=sys.stderr)


async def main(url: str) -> int:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    settings = ServerSettings(
        url=url,
        client_id=context.get("client_id"),
        client_secret=context.get("client_secret"),
        timeout_s=20.0,
    )
    limits = Limits(first_retry_s=0.2)
    folder = Path(tempfile.mkdtemp())
    async with ground(
        folder,
        limits=limits,
        asks=defaults,
        callback="http://127.0.0.1:8788/mcp/callback",
        client_document=DOCUMENT,
        egress=lambda: RULES,
    ) as here:
        await here.servers.apply({"fake": settings})
        seen: set[str] = set()
        async with asyncio.TaskGroup() as group:
            using: asyncio.Task[None] | None = None
            while using is None or not using.done():
                state = here.status().state
                if state.failures >= MOST_FAILURES:
                    print(state.problem, file=sys.stderr)
                    return 1
                await log_in(here, seen)
                if using is None and here.status().state.phase == "ready":
                    using = group.create_task(use(here))
                await asyncio.sleep(0.02)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
