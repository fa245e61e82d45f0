"""Requests to the gateway that no good client sends: each has an answer that says what is wrong."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from teahouse.testing.endpoint import Endpoint
from tests.app.test_gateway import Client, body_of, key
from tests.app.test_serve import Guest, fake, running

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"


@pytest.fixture
async def guest(tmp_path: Path) -> AsyncIterator[Guest]:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        yield guest


@pytest.fixture
async def client(guest: Guest) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(guest, session, guest.opened.key)


async def test_a_wrong_method_is_told_with_the_right_one(client: Client) -> None:
    for method, path, right in (
        ("GET", CHAT, "POST"),
        ("PUT", "/ollama/api/chat", "POST"),
        ("POST", "/v1/models", "GET"),
        ("POST", "/metrics", "GET"),
    ):
        url = client.url + path
        async with client.session.request(method, url, headers=client.headers) as answer:
            assert (answer.status, answer.headers["Allow"]) == (405, right), path


async def test_a_packed_body_is_refused_by_its_name(client: Client) -> None:
    packed = gzip.compress(json.dumps(body_of(CHAT, "fake/fake")).encode())
    headers = client.headers | {"Content-Encoding": "gzip"}
    async with client.session.post(client.url + CHAT, data=packed, headers=headers) as answer:
        assert answer.status == 415
        assert "gzip" in (await answer.json())["error"]["message"]


async def test_a_body_that_is_too_large_is_told_the_limit_that_holds_here(client: Client) -> None:
    async with client.session.post(
        client.url + CHAT, data=io.BytesIO(bytes((32 << 20) + 1)), headers=client.headers
    ) as answer:
        assert answer.status == 413
        assert "32 MB" in (await answer.json())["error"]["message"]


@pytest.mark.parametrize("header", ["Authorization: Bearer ", "X-Api-Key: "])
async def test_two_keys_in_one_header_s_place_are_two_keys(guest: Guest, header: str) -> None:
    other, _ = await key(guest, "models")
    keys = "".join(f"{header}{one}\r\n" for one in (other, guest.opened.key))
    host, _, port = guest.opened.url.removeprefix("http://").partition(":")
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\n{keys}\r\n".encode())
        status = await reader.readline()
        writer.close()
        await writer.wait_closed()

    assert b" 401 " in status


async def test_no_agent_answers_for_a_model_that_nobody_named(tmp_path: Path) -> None:
    async with Endpoint() as endpoint:
        default = {"TEAHOUSE_DEFAULT_MODEL": "agent/Maid"}
        async with (
            running(tmp_path, **fake(endpoint) | default) as guest,
            aiohttp.ClientSession() as session,
        ):
            agent = {"name": "Maid", "soul": "", "model": "fake/fake"}
            assert (await guest.ask("POST", "/api/agents", agent))[0] == 201
            models, _ = await key(guest, "models")
            body = body_of(CHAT, "", "tea")
            status, said, _ = await Client(guest, session, models).post(CHAT, body)

    assert (status, json.loads(said)["error"]["code"]) == (404, "model_not_found")


async def test_a_model_that_is_not_there_is_told_the_providers_alone(tmp_path: Path) -> None:
    async with Endpoint() as endpoint:
        alias = {"TEAHOUSE_ALIASES": '{"fast": {"fake/fake": 1}}'}
        async with running(tmp_path, **fake(endpoint) | alias) as guest:
            status, said = await guest.ask("GET", "/v1/models/none")

    assert status == 404
    assert "here: agent, fake" in said["error"]["message"]
    assert "aliases" not in said["error"]["message"]
