"""Listening and going away."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path

import aiohttp
import pytest

from teahouse.core.errors import Conflict, Invalid
from teahouse.server import body, heads
from teahouse.server.serving import address_of, bind, serve
from tests.chat.conftest import Actor, open_house
from tests.server.conftest import PASSWORD, House, Socket, Web, open_new, open_web
from tests.server.test_sse import Halting

pytestmark = pytest.mark.anyio


def test_a_port_that_is_taken_is_named() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Conflict) as refused:
            bind("127.0.0.1", port)

    assert refused.value.code == "port_taken"
    assert str(port) in str(refused.value)


@pytest.mark.parametrize(("host", "port"), [("203.0.113.1", 8788), ("127.0.0.1", 70_000)])
def test_an_address_that_cannot_be_had_is_named(host: str, port: int) -> None:
    with pytest.raises(Invalid) as refused:
        bind(host, port)

    assert refused.value.code == "address_unusable"


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")]
)
def test_the_address_is_one_that_a_browser_can_open(host: str, shown: str) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with bind(host, 0) as sock:
        assert address_of(sock) == f"http://{shown}:{sock.getsockname()[1]}"


async def test_readers_do_not_hold_up_the_end(tmp_path: Path) -> None:
    actor = Actor()
    actor.act = halting = Halting()
    loop = asyncio.get_running_loop()
    async with open_house(tmp_path / "home", actor) as services:
        async with open_web(House(services)) as web:
            received = await web.talk(web.owner)
            cookie = await web.cookie(web.owner)
            raw = await web.client.ws_connect(web.address + "/ws", headers=cookie)
            await Socket(raw).send(type="subscribe", conversation=received.post.conversation)
            await Socket(raw).until("stream_chunk")
            path = f"{web.address}/api/runs/{received.runs[0].id}/events"
            stream = await web.client.get(path, headers=cookie)
            await stream.content.readany()
            idle = await asyncio.open_connection(*web.address.removeprefix("http://").split(":"))
            began = loop.time()
        took = loop.time() - began
        code = raw.close_code or await Socket(raw).closed()
        await raw.close()
        stream.close()
        idle[1].close()
        halting.go_on.set()

    assert code in (1012, 1006)
    assert took < 4


async def test_a_server_that_is_cancelled_ends_as_orderly(tmp_path: Path) -> None:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with open_house(tmp_path / "home", Actor()) as services, asyncio.timeout(10):
        web = House(services)
        serving = asyncio.create_task(
            serve(web, bind("127.0.0.1", 0), asyncio.Event(), ready=ready.set_result, tune_gc=False)  # type: ignore[arg-type]
        )
        cookie = f"teahouse_session={await web.accounts.session_for(services.owner)}"
        async with aiohttp.ClientSession() as client:
            headers = {"cookie": cookie}
            async with client.ws_connect(f"{await ready}/ws", headers=headers) as raw:
                serving.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await serving

                assert await Socket(raw).closed() in (1012, 1006)


async def test_a_new_house_is_set_up_once_with_its_first_agents(tmp_path: Path) -> None:
    async with open_new(tmp_path / "home") as services, open_web(House(services)) as web:
        before = await web.call("GET", "/api/status")
        weak = await web.call("POST", "/api/setup", {"password": "short"})
        body = {"password": PASSWORD, "name": "陆羽", "language": "zh-CN"}
        made = await web.call("POST", "/api/setup", body)
        cookie = {"cookie": made.headers["set-cookie"].partition(";")[0]}
        agents = await web.call("GET", "/api/agents", headers=cookie)
        after = await web.call("GET", "/api/status", headers=cookie)
        again = await web.call("POST", "/api/setup", body)

    assert before.json["set_up"] is False
    assert weak.status == 400
    assert (made.status, made.json["name"], made.json["role"]) == (200, "陆羽", "owner")
    assert len(agents.json["items"]) == 3
    assert (after.json["set_up"], after.json["logged_in"]) == (True, True)
    assert after.json["language"] == "zh-CN"
    assert again.code == "already_set_up"


async def test_an_address_is_free_again_after_the_end(tmp_path: Path) -> None:
    async with open_house(tmp_path / "home", Actor()) as services:
        async with open_web(House(services)) as web:
            port = int(web.address.rpartition(":")[2])
        with bind("127.0.0.1", port) as sock:
            assert address_of(sock) == web.address
        async with aiohttp.ClientSession() as client:
            with pytest.raises(aiohttp.ClientConnectionError):
                await client.get(web.address)


async def test_a_head_that_does_not_end_is_waited_for_no_longer(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "HEAD_S", 0.1)
    for begun in (b"", b"GET / HTTP/1.1\r\nHost: a"):
        reader, writer = await connect(web)
        writer.write(begun)
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()


async def test_a_head_without_measure_is_refused(web: Web) -> None:
    reader, writer = await connect(web)
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: ")
    answer = b""
    with contextlib.suppress(ConnectionError):
        for _ in range(64):
            writer.write(b"x" * 65_536)
            await writer.drain()
    with contextlib.suppress(ConnectionError):
        answer = await reader.read(12)
    writer.close()

    assert answer in (b"HTTP/1.1 431", b"")


async def test_the_next_request_of_a_connection_has_its_own_time(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "HEAD_S", 0.5)
    reader, writer = await connect(web)
    host = web.address.removeprefix("http://").encode()
    async with asyncio.timeout(20):
        for _ in range(3):
            writer.write(b"GET /healthz HTTP/1.1\r\n")
            await asyncio.sleep(0)
            writer.write(b"Host: " + host + b"\r\n\r\n")
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET /healthz HTTP/1.1\r\n")
        assert await reader.read() == b""
    writer.close()


async def test_an_upload_that_stands_still_is_given_up(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "READ_S", 0.1)
    cookie = await web.cookie(web.owner)
    reader, writer = await connect(web)
    head = {"Host": web.address.removeprefix("http://"), "Content-Length": "5000", **cookie}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    writer.write(f"POST /api/files?name=x HTTP/1.1\r\n{lines}\r\nabc".encode())
    async with asyncio.timeout(10):
        answer = await reader.readuntil(b"\r\n")
    writer.close()

    assert answer.startswith(b"HTTP/1.1 408")


async def connect(web: Web) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(*web.address.removeprefix("http://").split(":"))
