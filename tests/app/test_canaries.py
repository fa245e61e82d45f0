"""Secrets and words are planted all over a house, which is then driven through what goes wrong;
none of them may turn up in a log, a trace, a figure, an error, an export or a file."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from msgspec import Struct, field
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from teahouse.core.messages import ToolCall
from teahouse.llm.tool import ToolContext
from teahouse.llm.tool_run import run_tool
from teahouse.llm.wall import Wall
from teahouse.store.engine import StandardDriver, make_engine
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.house import House
from tests.app.collector import Collected, collecting

pytestmark = pytest.mark.anyio

SECRETS = {
    "the key of a provider": "sk-/+Qm7vXw2RkTpZ9aLd4",
    "a further key of a provider": "sk-/+Bn5hJc8YtEuW3sGf6",
    "a header of a provider": "Token Kd2xPq9MzVr7NwLb4",
    "a password in an address": "Hs6jFy3CtGe8XaUo5",
    "a key in the query of an address": "Rw4mTk7DqBz2LvJp9",
    "a key of a draft": "sk-Vy8nEg5ShCx3KrWf6",
    "the password of the owner": "correct Zt3pMj9UbXd6QaHv2",
    "a password that is wrong": "wrong Lc7wGk4YrNs8TfEo5",
    "a key that is none": "th_Xh5vJq2BmPz9DtRy6",
    "a header for the collector": "Bearer Gu8sFw3KaVn7CbMj4",
}
SPOKEN = "Oolong-Pd6rTx9HqLw2 and jasmine"  # what people say
WORKING = ("one", "two", "three")  # the addresses of the others hold a secret and are refused
DIALECTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": SPOKEN}]},
    "/v1/responses": {"input": SPOKEN},
    "/v1/messages": {"max_tokens": 9, "messages": [{"role": "user", "content": SPOKEN}]},
    "/ollama/api/chat": {"messages": [{"role": "user", "content": SPOKEN}]},
    "/chat": {"messages": [{"role": "user", "content": SPOKEN}]},
    "/v1/embeddings": {"input": SPOKEN},
    "/v1/audio/speech": {"input": SPOKEN, "voice": "x"},
    "/v1/images/generations": {"prompt": SPOKEN},
}
FAULTS = (
    "401",
    "402",
    "403",
    "400",
    "404",
    "429",
    "500",
    "redirect",
    "stream",
    "cut",
    "html",
    "echo",
)


def middle(secret: str) -> str:
    """The part that no form of quoting changes; enough to know a secret by when it was cut."""
    return max(secret.replace("-", " ").replace("/", " ").replace("+", " ").split(), key=len)[-14:]


def forms(secret: str) -> Iterator[bytes]:
    core = middle(secret).encode()
    yield core
    yield core.hex().encode()
    for shift in range(3):  # base64 of whatever it stands in
        encoded = base64.b64encode(b"\0" * shift + core)
        yield encoded[4 if shift else 0 : len(encoded) // 4 * 4 - 4]


class Searched(Struct, kw_only=True):
    """Looks for what was planted; `found` says what was where."""

    secrets: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    found: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def plant(self, name: str, secret: str) -> None:
        self.secrets[name] = list(forms(secret))

    def look(self, where: str, data: bytes, *, but: str = "") -> None:
        for name, needles in self.secrets.items():
            for needle in needles:
                at = data.find(needle)
                if at >= 0 and name != but:
                    around = data[max(0, at - 160) : at + 60].decode("utf-8", "replace")
                    self.found.append((name, where, around))


@asynccontextmanager
async def blabbing() -> AsyncIterator[str]:
    """An endpoint that repeats in its errors all that it was sent; the model's name says which."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.text()
        heard = " | ".join(f"{name}: {value}" for name, value in request.headers.items())
        sent = request.headers.get("authorization", "") or request.headers.get("x-secret", "")
        said = f"Incorrect key {sent}, {quote(sent)}, {request.rel_url} {heard}"
        fault = next((one for one in FAULTS if f"blab-{one}" in body), "401")
        error = {"error": {"message": said, "code": "x"}}
        if fault == "echo":  # as who refuses a word says which
            refused = body[max(body.find(SPOKEN), 0) :]
            return web.json_response({"error": {"message": f"Refused: {refused}"}}, status=400)
        if fault == "redirect":
            return web.Response(status=302, headers={"Location": f"http://127.0.0.1:9/?{said}"})
        if fault == "html":
            return web.Response(text=f"<html><title>{said}</title>", content_type="text/html")
        if fault in {"stream", "cut"}:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            if fault == "stream":
                await response.write(f"data: {json.dumps(error)}\n\n".encode())
            else:
                await response.write(f"data: {{{said}\n\n".encode())
            return response
        return web.json_response(error, status=int(fault))

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"127.0.0.1:{runner.addresses[0][1]}"
    finally:
        async with asyncio.timeout(10):
            await runner.cleanup()


class Driver:
    """Uses the house as people and programs do; looks through every answer that is an error."""

    def __init__(self, house: House, searched: Searched) -> None:
        self.house, self.searched = house, searched
        self.key = self.cookie = ""
        self.calls = 0

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """Answers what comes, whatever it is."""
        sent = headers or {"Authorization": f"Bearer {self.key}"}
        async with self.house.session.request(
            method, self.house.url + path, json=body, headers=sent, allow_redirects=False
        ) as answer:
            data = await answer.read()
            told = repr(dict(answer.headers)).encode()
        self.calls += 1
        if not (path == "/api/keys" and method == "POST") and path != "/api/login":
            self.searched.look(f"the answer of {method} {path}", data + told, but="what was said")
        with_json = data[:1] in (b"{", b"[")
        return answer, (json.loads(data) if with_json and b"\n{" not in data else data)

    async def enter(self) -> None:
        wrong = SECRETS["a password that is wrong"]
        await self.call("POST", "/api/login", {"password": wrong}, Origin=self.house.url)
        right = {"password": SECRETS["the password of the owner"]}
        answer, _ = await self.call("POST", "/api/login", right, Origin=self.house.url)
        self.cookie = answer.cookies["teahouse_session"].value
        headers = {"Cookie": f"teahouse_session={self.cookie}", "Origin": self.house.url}
        self.house.session.cookie_jar.clear()
        _, made = await self.call("POST", "/api/keys", {"name": "canary"}, **headers)
        self.key = made["key"]
        await self.call("GET", "/api/me", **headers)
        self.searched.plant("a key of a person", self.key)
        self.searched.plant("the cookie of a session", self.cookie)

    async def set_up(self, address: str) -> None:
        url = f"http://{address}/v1"
        password, query = (
            SECRETS["a password in an address"],
            SECRETS["a key in the query of an address"],
        )
        providers = {
            "one": {"base_url": url, "api_key": SECRETS["the key of a provider"]},
            "two": {
                "base_url": url,
                "api_keys": {"more": SECRETS["a further key of a provider"]},
            },
            "three": {
                "base_url": url,
                "wire": "anthropic",
                "headers": {"x-secret": SECRETS["a header of a provider"]},
            },
            "four": {"base_url": f"http://me:{password}@{address}/v1"},
            "five": {"base_url": f"{url}?key={query}"},
            "six": {"base_url": f"htp://me:{password}@{address}/v1?key={query}"},
        }
        for name, one in providers.items():
            answer, _ = await self.call("PATCH", "/api/settings", {"providers": {name: one}})
            assert (answer.status == 200) == (name in WORKING)
            await self.call("GET", "/api/settings")
        sealed = {"telemetry.headers.authorization": SECRETS["a header for the collector"]}
        answer, _ = await self.call("PATCH", "/api/settings", sealed)
        assert answer.status == 200
        unsafe = {"telemetry.otlp_endpoint": f"http://me:{password}@{address}?key={query}"}
        answer, _ = await self.call("PATCH", "/api/settings", unsafe)
        assert answer.status == 400
        moved = {"providers": {"one": {"base_url": "http://127.0.0.1:9/v1"}}}
        answer, _ = await self.call("PATCH", "/api/settings", moved)
        assert answer.status == 400

    async def try_providers(self, address: str) -> None:
        for name in (*WORKING, "four"):
            await self.call("POST", "/api/models/test", {"model": f"{name}/blab-401"})
        draft = {"name": "new", "api_key": SECRETS["a key of a draft"]}
        for more in (
            {"base_url": f"http://{address}/v1"},
            {"base_url": "http://127.0.0.1:9/v1"},
            {"base_url": "nothing"},
            {"base_url": f"http://{address}/v1", "wire": "anthropic"},
        ):
            await self.call("POST", "/api/models/test", {"provider": {**draft, **more}})
        await self.call("GET", "/api/models")
        await self.call("POST", "/api/models/check", {"a": "one/blab-400", "b": "two/blab-400"})

    async def ask_everything(self) -> None:
        for path, body in DIALECTS.items():
            for name in WORKING:
                for fault in FAULTS if path == "/v1/chat/completions" else ("401", "stream"):
                    stream = {"stream": fault == "stream"}
                    asked = {**body, "model": f"{name}/blab-{fault}", **stream}
                    await self.call("POST", path, asked)
            await self.call("POST", path, {**body, "model": "fake/fake"})
            wrong = {"Authorization": f"Bearer {SECRETS['a key that is none']}"}
            await self.call("POST", path, {**body, "model": "fake/fake"}, **wrong)
            await self.call("POST", path, {"model": "fake/fake", "messages": [SPOKEN]})

    async def say(self, body: dict[str, Any]) -> tuple[str, str]:
        """Say something and wait for the answer; returns the conversation and the run."""
        answer, said = await self.call("POST", "/api/messages", body)
        assert answer.status == 202, said
        run = said["runs"][0]["id"]
        async with asyncio.timeout(30):
            while (await self.call("GET", f"/api/runs/{run}"))[1]["post"] is None:
                await asyncio.sleep(0.02)
        return said["post"]["conversation"], run

    async def talk_until_it_would_get_a_title(self) -> None:
        """From a model that refuses, and repeats what it was asked."""
        _, agents = await self.call("GET", "/api/agents")
        agent = agents["items"][1]["id"]
        answer, _ = await self.call("PATCH", f"/api/agents/{agent}", {"model": "one/blab-echo"})
        assert answer.status == 200
        where = {"agent": agent}
        for _ in range(3):
            conversation, _ = await self.say({"text": SPOKEN, "model": "fake/fake", **where})
            where = {"conversation": conversation}

    async def talk(self) -> None:
        _, agents = await self.call("GET", "/api/agents")
        agent = agents["items"][0]["id"]
        for model in (None, "one/blab-401", "two/blab-500", "three/blab-400", "one/blab-echo"):
            body: dict[str, Any] = {"text": f"{SPOKEN} [tool now {{}}]", "agent": agent}
            if model is not None:
                body["model"] = model
            conversation, run = await self.say(body)
            for path in ("export", "export?format=json", "export?format=markdown"):
                await self.call("GET", f"/api/conversations/{conversation}/{path}")
            await self.call("GET", f"/api/runs/{run}/steps")
        await self.call("GET", "/api/usage?by=model")
        await self.call("GET", "/api/keys")
        await self.call("GET", "/metrics")
        wrong = {"Authorization": f"Bearer {SECRETS['a key that is none']}"}
        await self.call("GET", "/api/agents", **wrong)
        await self.call("GET", "/metrics", **wrong)


def ledger_rows(home: Path) -> bytes:
    with closing(sqlite3.connect(home / "teahouse.db")) as database:
        rows = database.execute("SELECT * FROM provider_call").fetchall()
    assert rows
    return repr(rows).encode()


def look_at_files(searched: Searched, home: Path) -> None:
    for path in home.rglob("*"):
        if path.is_file():
            name = str(path.relative_to(home))
            kept = "what was said" if name.startswith(("teahouse.db", "files/")) else ""
            kept = "the key that seals" if name == "secret.key" else kept
            searched.look(f"the file {name}", path.read_bytes(), but=kept)


def look_at_traces(searched: Searched, found: Collected) -> None:
    names = {span.name.split(" ")[0] for span in found.spans}
    assert {"chat", "invoke_agent", "execute_tool"} <= names
    assert found.metrics
    for data in found.raw:
        searched.look("what went to the collector", data)


def test_what_was_planted_is_found_in_every_form() -> None:
    for secret in SECRETS.values():
        for told in (
            secret.encode(),
            quote(secret, safe="").encode(),
            json.dumps({"key": secret}).encode(),
            secret.encode().hex().encode(),
            base64.b64encode(secret.encode()),
            base64.b64encode(b"me:" + secret.encode() + b":x"),
            base64.b64encode(b"you:" + secret.encode()),
        ):
            searched = Searched()
            searched.plant("it", secret)
            searched.look("here", b"before " + told + b" after")
            assert searched.found, told


@pytest.mark.slow
async def test_no_secret_and_no_word_gets_out_of_a_house(tmp_path: Path) -> None:
    searched = Searched()
    for name, secret in SECRETS.items():
        searched.plant(name, secret)
    searched.plant("what was said", SPOKEN.split(" ", maxsplit=1)[0])
    async with collecting() as found, Endpoint() as endpoint, blabbing() as address:
        settings = {
            "TEAHOUSE_OWNER_PASSWORD": SECRETS["the password of the owner"],
            "TEAHOUSE_LOG__LEVEL": "debug",
            "TEAHOUSE_LOG__JSON": "true",
            "TEAHOUSE_TELEMETRY__OTLP_ENDPOINT": found.url,
        }
        async with House(tmp_path, endpoint.base_url, settings=settings) as house:
            await house.start()
            searched.secrets["the key that seals"] = [
                form
                for key in [(house.home / "secret.key").read_bytes()]
                for form in (key, key.hex().encode(), base64.b64encode(key)[:-2])
            ]
            driver = Driver(house, searched)
            await driver.enter()
            await driver.set_up(address)
            await driver.try_providers(address)
            await driver.ask_everything()
            await driver.talk()
            await driver.talk_until_it_would_get_a_title()
            await house.stop()
            await house.start()  # the header for the collector counts from now on
            await driver.talk()
            await house.stop()
            log = house.log.read_bytes()
            assert log.count(b'"call":') > 50
            assert b"No title for" in log
            searched.look("the log", log)
            searched.look("the ledger", ledger_rows(house.home))
            look_at_files(searched, house.home)
        look_at_traces(searched, found)
        sealed = SECRETS["a header for the collector"]
        assert sealed in {headers.get("authorization", "") for headers in found.headers}

    assert driver.calls > 150
    assert searched.found == []


async def test_a_tool_that_breaks_leaves_no_word_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(arguments: Any, context: Any, /) -> Any:
        raise ValueError(f"cannot read {arguments['text']!r}")

    call = ToolCall(id="c1", name="broken", arguments={"text": SPOKEN})
    with caplog.at_level("DEBUG"):
        result = await run_tool(broken, call, ToolContext(), wall=Wall(10))

    assert result.is_error
    assert "ValueError" in caplog.text
    assert "test_canaries" in caplog.text
    assert middle(SPOKEN) not in caplog.text


def test_an_error_of_the_database_holds_nothing_that_was_to_be_written(tmp_path: Path) -> None:
    engine = make_engine(tmp_path / "test.db", StandardDriver(), read_only=False)
    with engine.connect() as connection, pytest.raises(OperationalError) as caught:
        connection.execute(text("INSERT INTO nothing VALUES (:said)"), {"said": SPOKEN})

    assert "INSERT INTO nothing" in str(caught.value)
    assert middle(SPOKEN) not in str(caught.value)
