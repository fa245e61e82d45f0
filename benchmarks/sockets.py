"""Sockets: how soon a sender sees its own message, and how soon the last of many sees a word."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.processes import BARE, first_200
from benchmarks.rows import Row, median, quantile
from teahouse.testing.answers import Answer, Hold, chunk, text_answer
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.house import House, free_port

ECHOES, ROUNDS, READERS = 400, 60, 200
WAIT_S = 30.0


class Socket(asyncio.Protocol):
    """A WebSocket client that does as little as it can, so that the server is what is measured."""

    def __init__(self, port: int, headers: dict[str, str], heard: Callable[[bytes], None]) -> None:
        self._port, self._headers, self._heard = port, headers, heard
        self._buffer = b""
        self._upgraded = False
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        fields = {
            "Host": f"127.0.0.1:{self._port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Version": "13",
            **self._headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        transport.write(f"GET /ws HTTP/1.1\r\n{head}\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._upgraded:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            if b" 101 " not in head[:20]:
                self.open.set_exception(ConnectionError(head[:100]))
                return
            self._upgraded, self._buffer = True, rest
            self.open.set_result(None)
        while (frame := self._next()) is not None:
            self._heard(frame)

    def _next(self) -> bytes | None:
        if len(self._buffer) < 2:
            return None
        size, start = self._buffer[1] & 127, 2
        if size >= 126:
            wide = 2 if size == 126 else 8
            start += wide
            size = int.from_bytes(self._buffer[2:start], "big")
        if len(self._buffer) < start + size:
            return None
        kind, frame = self._buffer[0] & 15, self._buffer[start : start + size]
        self._buffer = self._buffer[start + size :]
        if kind == 9:
            self.transport.write(bytes((0x8A, 0x80 | size)) + bytes(4) + frame)
        return frame if kind in (1, 2) else b""

    def send(self, text: bytes) -> None:
        size = len(text)
        head = bytes((0x81, 0x80 | size)) if size < 126 else b"\x81\xfe" + size.to_bytes(2, "big")
        self.transport.write(head + bytes(4) + text)


async def connect(
    port: int, count: int, headers: dict[str, str], heard: Callable[[bytes], None]
) -> list[Socket]:
    loop = asyncio.get_running_loop()
    sockets: list[Socket] = []
    async with asyncio.timeout(WAIT_S):
        for _ in range(count):
            _, made = await loop.create_connection(
                lambda: Socket(port, headers, heard), "127.0.0.1", port
            )
            await made.open
            sockets.append(made)
    return sockets


class Ear:
    """Waits until a marker has been heard a number of times."""

    def __init__(self) -> None:
        self._marker, self._missing = b"\0", 0
        self._all: asyncio.Future[float] | None = None

    def listen(self, marker: bytes, times: int) -> None:
        self._marker, self._missing = marker, times
        self._all = asyncio.get_running_loop().create_future()

    def __call__(self, frame: bytes) -> None:
        if self._marker in frame:
            self._missing -= 1
            if not self._missing and self._all is not None:
                self._all.set_result(time.perf_counter())

    async def heard(self) -> float:
        assert self._all is not None
        async with asyncio.timeout(WAIT_S):
            return await self._all


class HeldWords:
    """A model that says one word after another, each when its gate is released."""

    def __call__(self, body: dict[str, Any]) -> Answer:
        text = str(body["messages"][-1]["content"])
        if "[words]" not in text:
            return text_answer(["ok"])
        words = [step for n in range(ROUNDS) for step in (Hold(f"g{n}"), word(n))]
        return Answer(steps=(chunk({"role": "assistant", "content": ""}), *words, *END))


def word(number: int) -> bytes:
    return chunk({"content": f"word{number:04}" + "x" * 40})


END = text_answer(["."]).steps[1:]


async def socket_rows(folder: Path) -> list[Row]:
    async with Endpoint(script=HeldWords()) as model, House(folder, model.base_url) as house:
        await house.start()
        await house.log_in()
        agent = (await house.api("GET", "/api/agents"))["items"][0]["id"]
        echoes = await echo(house, agent)
        ours, size = await fan_out(house, agent, model)
        bare = await bare_fan_out(size)
    detail = f"{median(ours) * 1000:.1f} ms against {median(bare) * 1000:.1f} ms, {ROUNDS} rounds"
    return [
        Row("send → own echo over WebSocket, p50", median(echoes) * 1000, "ms", 4),
        Row("send → own echo over WebSocket, p99", quantile(echoes, 0.99) * 1000, "ms", 15),
        Row(
            f"a word to the last of {READERS} sockets, against a bare Litestar",
            median(ours) / median(bare),
            "×",
            1.3,
            detail=detail,
        ),
    ]


async def echo(house: House, agent: str) -> list[float]:
    """From the request until the sender's own socket shows the post, stored and fsynced."""
    ear, seconds = Ear(), list[float]()
    opened = await house.api("POST", "/api/conversations", {"agent": agent})
    (socket,) = await connect(house.port, 1, house.headers, ear)
    await follow([socket], ear, opened["id"])
    for n in range(ECHOES):
        client_id = f"echo-{n}-"
        ear.listen(client_id.encode(), 1)
        started = time.perf_counter()
        body = {"conversation": opened["id"], "text": "hello", "client_id": client_id}
        sent = asyncio.ensure_future(house.api("POST", "/api/messages", body))
        seconds.append(await ear.heard() - started)
        run = (await sent)["runs"][0]["id"]
        while (await house.api("GET", f"/api/runs/{run}"))["status"] in ("queued", "running"):
            await asyncio.sleep(0.005)
    socket.transport.close()
    return seconds[ECHOES // 10 :]


async def follow(sockets: Sequence[Socket], ear: Ear, conversation: str) -> None:
    ear.listen(b'"resync"', len(sockets))
    for socket in sockets:
        socket.send(json.dumps({"type": "subscribe", "conversation": conversation}).encode())
    await ear.heard()


async def fan_out(house: House, agent: str, model: Endpoint) -> tuple[list[float], int]:
    """From the model's word until the last reader has it; also the size of such a frame."""
    ear, sizes, seconds = Ear(), set[int](), list[float]()

    def heard(frame: bytes) -> None:
        if b'"delta"' in frame:
            sizes.add(len(frame))
        ear(frame)

    opened = await house.api("POST", "/api/conversations", {"agent": agent})
    sockets = await connect(house.port, READERS, house.headers, heard)
    await follow(sockets, ear, opened["id"])
    ear.listen(b'"stream_start"', READERS)
    body = {"conversation": opened["id"], "text": "[words]"}
    await house.api("POST", "/api/messages", body)
    await ear.heard()
    await asyncio.sleep(0.5)
    for n in range(ROUNDS):
        ear.listen(f'"delta":"word{n:04}'.encode(), READERS)
        started = time.perf_counter()
        model.release(f"g{n}")
        seconds.append(await ear.heard() - started)
        await asyncio.sleep(0.01)
    for socket in sockets:
        socket.transport.abort()
    return seconds, max(sizes)


async def bare_fan_out(size: int) -> list[float]:
    port, ear, seconds = free_port(), Ear(), list[float]()
    process = subprocess.Popen([*BARE, str(port)])
    try:
        await first_200(port)
        sockets = await connect(port, READERS, {}, ear)
        for n in range(ROUNDS):
            marker = f"word{n:04}".encode()
            ear.listen(marker, READERS)
            started = time.perf_counter()
            sockets[n % READERS].send(marker.ljust(size, b"x"))
            seconds.append(await ear.heard() - started)
            await asyncio.sleep(0.01)
        for socket in sockets:
            socket.transport.abort()
    finally:
        process.terminate()
        process.wait(10)
    return seconds
