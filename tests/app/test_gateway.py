"""The gateway in the whole house: any dialect in, a loopback endpoint behind, over real sockets."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from teahouse.testing.answers import json_answer
from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import Guest, fake, running

pytestmark = pytest.mark.anyio

SAID = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "tea"}]},
    "/v1/responses": {"input": "tea"},
    "/v1/messages": {"max_tokens": 99, "messages": [{"role": "user", "content": "tea"}]},
    "/ollama/api/chat": {"messages": [{"role": "user", "content": "tea"}]},
}
PHASES = ("[hang]", "[hang first]", "[hang mid]")


def body_of(path: str, model: str, text: str = "tea", *, stream: bool = False) -> dict[str, Any]:
    said = json.loads(json.dumps(SAID[path]).replace("tea", text))
    return {"model": model, "stream": stream, **said}


async def key(guest: Guest, *scopes: str, **limits: float) -> tuple[str, str]:
    """A new key and its id."""
    given = {"name": "test", "scopes": list(scopes), **limits}
    status, made = await guest.ask("POST", "/api/keys", given)
    assert status == 201, made
    return made["key"], made["id"]


class Client:
    """Speaks to the gateway with one key."""

    def __init__(self, guest: Guest, session: aiohttp.ClientSession, key: str) -> None:
        self.url, self.session = guest.opened.url, session
        self.headers = {"Authorization": f"Bearer {key}"}

    async def post(self, path: str, body: object) -> tuple[int, str, dict[str, str]]:
        async with self.session.post(self.url + path, json=body, headers=self.headers) as answer:
            told = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, await answer.text(), told

    async def get(self, path: str) -> Any:
        async with self.session.get(self.url + path, headers=self.headers) as answer:
            return await answer.json()


@pytest.mark.parametrize("path", SAID)
@pytest.mark.parametrize("stream", [False, True])
async def test_every_dialect_is_answered_whole_and_streamed(
    tmp_path: Path, path: str, stream: bool
) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        status, text, headers = await client.post(path, body_of(path, "fake/fake", stream=stream))

        assert status == 200, text
        assert "echo: te" in text
        assert headers["x-request-id"].startswith("q_")
        assert ("json" in headers["content-type"]) == (not stream or "ollama" in path)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_goes_closes_the_endpoint_in_every_phase(
    tmp_path: Path, phase: str, stream: bool
) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        path = "/v1/chat/completions"
        asking = asyncio.ensure_future(
            client.post(path, body_of(path, "fake/fake", phase, stream=stream))
        )
        asked = await endpoint.request(0)
        if phase == "[hang mid]":
            await endpoint.sent(asked, 2)
        asking.cancel()
        async with asyncio.timeout(10):
            await asked.closed.wait()


async def test_a_silent_model_is_covered_by_signs_of_life(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        path = "/v1/messages"
        async with session.post(
            guest.opened.url + path,
            json=body_of(path, "fake/fake", "[hang]", stream=True),
            headers={"x-api-key": guest.opened.key},
        ) as answer:
            async with asyncio.timeout(10):
                begun = await answer.content.readuntil(b"ping")
        assert answer.status == 200
        assert b"message_start" in begun


async def test_an_error_before_the_first_byte_has_its_status(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        path = "/v1/chat/completions"
        for model, text, expected, retry in (
            ("fake/fake", "[fail 401]", 502, "false"),
            ("fake/fake", "[fail 402]", 429, "false"),
            ("fake/fake", "[fail 400]", 400, "false"),
            ("none/none", "tea", 404, "false"),
            ("agent/Nobody", "tea", 404, "false"),
        ):
            status, said, headers = await client.post(path, body_of(path, model, text, stream=True))
            assert (status, headers["x-should-retry"]) == (expected, retry), said
            assert json.loads(said)["error"]["message"]


async def test_an_error_in_mid_stream_is_told_once_and_nothing_after_it(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        path = "/v1/chat/completions"
        status, said, _ = await client.post(path, body_of(path, "fake/fake", "[cut]", stream=True))
        last = said.strip().rsplit("data: ", 1)[-1]

        assert status == 200
        assert "echo: " in said
        assert json.loads(last)["error"]["reason"] == "provider_stream_cut"
        assert "[DONE]" not in said


async def test_an_agent_answers_as_a_model_and_its_tools_stay_its_own(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        agent = (await guest.get("/api/agents"))["items"][0]
        client = Client(guest, session, guest.opened.key)
        path = "/v1/chat/completions"
        name = f"agent/{agent['name']}"
        body = body_of(path, name, "[tool now]")
        status, said, _ = await client.post(path, body)
        reply = json.loads(said)

        assert status == 200, said
        assert reply["model"] == name
        assert "now: " in reply["choices"][0]["message"]["content"]
        assert not reply["choices"][0]["message"].get("tool_calls")
        assert endpoint.requests[0].body["messages"][0]["role"] == "system"
        status, said, _ = await client.post(
            path,
            body | {"tools": [{"type": "function", "function": {"name": "x", "parameters": {}}}]},
        )
        assert (status, json.loads(said)["error"]["reason"]) == (400, "agent_has_own_tools")


async def test_a_key_for_one_agent_does_nothing_else(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        first, second, *_ = (await guest.get("/api/agents"))["items"]
        secret, number = await key(guest, f"agent/{first['name']}")
        client = Client(guest, session, secret)
        path = "/v1/chat/completions"

        status, said, _ = await client.post(path, body_of(path, f"agent/{first['name']}"))
        assert status == 200, said
        for other in (f"agent/{second['name']}", "fake/fake"):
            status, _, _ = await client.post(path, body_of(path, other))
            assert status == 403
        for closed in ("/api/agents", "/api/settings", "/api/usage", "/api/keys", "/api/models"):
            async with session.get(client.url + closed, headers=client.headers) as answer:
                assert answer.status == 403, closed
        asked = len(endpoint.requests)

        owner = {"Authorization": f"Bearer {guest.opened.key}"}
        async with session.delete(f"{client.url}/api/keys/{number}", headers=owner) as answer:
            assert answer.status == 204
        status, _, _ = await client.post(path, body_of(path, f"agent/{first['name']}"))
        assert (status, len(endpoint.requests)) == (401, asked)


async def test_limits_of_a_key_are_told_with_when_to_come_back(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        secret, _ = await key(guest, "models", rate=1)
        client = Client(guest, session, secret)
        path = "/v1/messages"
        first, _, _ = await client.post(path, body_of(path, "fake/fake"))
        status, said, headers = await client.post(path, body_of(path, "fake/fake"))

        assert (first, status) == (200, 429)
        assert json.loads(said)["error"]["type"] == "rate_limit_error"
        assert int(headers["retry-after"]) > 0


async def test_nothing_is_reached_without_a_key_or_with_two(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, "th_wrong")
        path = "/v1/chat/completions"
        assert (await client.post(path, body_of(path, "fake/fake")))[0] == 401
        client.headers = {}
        assert (await client.post(path, body_of(path, "fake/fake")))[0] == 401
        client.headers = {"Authorization": f"Bearer {guest.opened.key}", "x-api-key": "th_other"}
        assert (await client.post(path, body_of(path, "fake/fake")))[0] == 401
        assert not endpoint.requests


async def test_models_and_agents_are_listed_in_the_words_of_who_asks(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        agent = (await guest.get("/api/agents"))["items"][0]["name"]
        client = Client(guest, session, guest.opened.key)
        listed = await client.get("/v1/models")
        assert {"fake/fake", f"agent/{agent}"} <= {one["id"] for one in listed["data"]}
        assert (await client.get("/v1/models/fake/fake"))["id"] == "fake/fake"
        assert (await client.get("/v1/models/fake/none"))["error"]["code"] == "model_not_found"

        secret, _ = await key(guest, f"agent/{agent}")
        narrow = Client(guest, session, secret)
        narrow.headers["anthropic-version"] = "2023-06-01"
        assert [one["id"] for one in (await narrow.get("/v1/models"))["data"]] == [f"agent/{agent}"]
        tags = await client.get("/ollama/api/tags")
        assert "fake/fake" in [one["model"] for one in tags["models"]]


async def test_the_smallest_interface_streams_tokens_and_the_end(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        body = {"messages": [{"role": "user", "content": "茶"}]}
        status, said, headers = await client.post("/chat", body)
        events = [json.loads(line[6:]) for line in said.splitlines() if line.startswith("data: ")]

        assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert "".join(one["content"] for one in events if one["type"] == "token") == "echo: 茶"
        assert events[-1]["type"] == "done"


async def test_embeddings_go_to_the_endpoint_and_come_back(tmp_path: Path) -> None:
    rows = [{"index": place, "embedding": [1.0, 0.5]} for place in range(2)]
    given = json_answer({"data": rows, "usage": {"prompt_tokens": 3, "total_tokens": 3}})
    async with (
        Endpoint([given]) as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        body = {"model": "fake/fake", "input": ["tea", "茶"]}
        status, said, _ = await client.post("/v1/embeddings", body)

        assert status == 200, said
        assert [row["index"] for row in json.loads(said)["data"]] == [0, 1]
        status, said, _ = await client.post("/v1/embeddings", {"model": "agent/x", "input": "tea"})
        assert status in (400, 404), said
