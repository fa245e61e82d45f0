"""`teahouse gateway --config FILE`: the model layer by itself, and each of its routes closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from teahouse.app.serve import Open, serve
from teahouse.core.errors import SettingsError
from teahouse.server.gateway.routes import ROUTES
from teahouse.testing.endpoint import Endpoint
from tests.app.test_gateway import Client, body_of, key
from tests.app.test_serve import Guest

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).resolve().parents[2] / "docs" / "gateway.md"
CHAT = "/v1/chat/completions"


@asynccontextmanager
async def alone(folder: Path, settings: str) -> AsyncIterator[Client]:
    file = folder / "gateway.toml"
    file.write_text(f"local_model.enabled = false\n{settings}", encoding="utf-8")
    ready: asyncio.Future[Open] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        group.create_task(
            serve(
                folder / "home",
                {},
                port=0,
                ready=ready.set_result,
                stop=stop,
                file=file,
                alone=True,
            )
        )
        try:
            opened = await ready
            yield Client(Guest(opened, session), session, opened.key)
        finally:
            stop.set()


def provider(endpoint: Endpoint) -> str:
    return f'[providers.fake]\nwire = "openai_chat"\nbase_url = "{endpoint.base_url}"\n'


async def test_it_answers_with_the_settings_of_a_file(tmp_path: Path) -> None:
    async with Endpoint() as endpoint:
        aliases = '[aliases.gpt-4o]\n"fake/fake" = 1\n'
        async with alone(tmp_path, provider(endpoint) + aliases) as client:
            status, said, _ = await client.post(CHAT, body_of(CHAT, "gpt-4o"))

    assert (status, "echo: tea" in said) == (200, True), said
    assert not (tmp_path / "home" / "config.toml").exists()


async def test_it_has_neither_page_nor_agents(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, alone(tmp_path, provider(endpoint)) as client:
        for path in ("/", "/api/agents", "/api/conversations", "/api/messages", "/ws"):
            async with client.session.get(client.url + path, headers=client.headers) as answer:
                assert answer.status == 404, path
        models = [one["id"] for one in (await client.get("/v1/models"))["data"]]
        status, _, _ = await client.post(CHAT, body_of(CHAT, "agent/Host"))

        assert models == ["fake/fake"]
        assert status == 404
        assert (await client.get("/healthz"))["status"] == "ok"


async def test_keys_are_made_over_its_own_interface(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, alone(tmp_path, provider(endpoint)) as client:
        guest = Guest(Open(url=client.url, key=client.headers["Authorization"][7:]), client.session)
        secret, _ = await key(guest, "fake/*")
        narrow = Client(guest, client.session, secret)
        assert (await narrow.post(CHAT, body_of(CHAT, "fake/fake")))[0] == 200
        assert (await narrow.post(CHAT, body_of(CHAT, "other/fake")))[0] == 403


async def test_a_file_that_is_not_there_keeps_it_shut(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        await serve(tmp_path / "home", {}, file=tmp_path / "none.toml", alone=True)
    assert caught.value.code == "settings_file_missing"


async def test_each_route_is_closed_without_a_key_and_to_a_key_for_other_things(
    tmp_path: Path,
) -> None:
    assert len(ROUTES) > 15
    async with Endpoint() as endpoint, alone(tmp_path, provider(endpoint)) as client:
        guest = Guest(Open(url=client.url, key=client.headers["Authorization"][7:]), client.session)
        secret, _ = await key(guest, "api")
        body = b'{"model": "fake/fake", "max_tokens": 1, "input": "x", "prompt": "x"}'
        for path, route in ROUTES.items():
            url = client.url + path
            async with client.session.request(route.method, url, data=body) as answer:
                assert answer.status == 401, path
                assert "key" in str(await answer.json()).lower()
            headers = {"Authorization": f"Bearer {secret}"}
            async with client.session.request(
                route.method, url, data=body, headers=headers
            ) as answer:
                told = await answer.text()
                assert answer.status in (400, 403, 404) or "fake/fake" not in told, path
        assert all(one.method == "GET" for one in endpoint.requests)  # lists of models


def test_each_route_is_in_the_guide() -> None:
    guide = DOCS.read_text(encoding="utf-8")
    assert not [path for path in ROUTES if f"`{path}`" not in guide]
