"""Clients of a gateway, in a process of their own: each asks again as soon as it has its answer.

`python benchmarks/load.py URL KEY MODEL stream|json CLIENTS REQUESTS` prints what they saw:
`load` calls it so. Each client has one connection, and only reads bytes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

_END = b"0\r\n\r\n"


@dataclass(frozen=True)
class Seen:
    """Times in seconds, in the order in which the answers came; a first byte is one of the body."""

    seconds: float
    firsts: list[float]
    wholes: list[float]

    @property
    def rate(self) -> float:
        return len(self.wholes) / self.seconds


async def load(url: str, key: str, model: str, *, stream: bool, clients: int, count: int) -> Seen:
    """Raises `RuntimeError` when an answer is not what it should be."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, url, key, model, "stream" if stream else "json"),
        *(str(clients), str(count)),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{model} at {url} is not answered")
    return Seen(**json.loads(told))


class Client(asyncio.Protocol):
    def __init__(self) -> None:
        self._answer: asyncio.Future[float] | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("closed"))

    def ask(self, request: bytes) -> asyncio.Future[float]:
        """The time at which the first byte of the body came, once all of it has."""
        self._answer = asyncio.get_running_loop().create_future()
        self._head, self._got, self._tail, self._first = b"", 0, b"", 0.0
        self._transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        if not self._got:
            head, end, data = (self._head + data).partition(b"\r\n\r\n")
            self._head = head.lower() if end else head
            if not data:
                self._head += end
                return
            self._first = time.perf_counter()
        self._got += len(data)
        self._tail = (self._tail + data)[-64:]
        _, told, length = self._head.partition(b"content-length:")
        whole = self._got >= int(length.split()[0]) if told else self._tail.endswith(_END)
        if whole and self._answer is not None:
            if b" 200 " in self._head[:16] and (told or b"[done]" in self._tail.lower()):
                self._answer.set_result(self._first)
            else:
                self._answer.set_exception(RuntimeError((self._head + self._tail).decode()))


async def main(arguments: list[str]) -> Seen:
    url, key, model, kind, clients, count = arguments
    place = urlsplit(url)
    asked = {"model": model, "messages": [{"role": "user", "content": "Hello, how are you today?"}]}
    if kind == "stream":
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
    body = json.dumps(asked).encode()
    head = (
        f"POST {place.path} HTTP/1.1\r\nhost: {place.netloc}\r\nauthorization: Bearer {key}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    left = iter(range(int(count)))
    seen = Seen(0, [], [])

    async def asking() -> None:
        loop = asyncio.get_running_loop()
        transport, client = await loop.create_connection(Client, place.hostname, place.port)
        for _ in left:
            started = time.perf_counter()
            async with asyncio.timeout(60):
                first = await client.ask(head.encode() + body)
            seen.firsts.append(first - started)
            seen.wholes.append(time.perf_counter() - started)
        transport.close()

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(int(clients)):
            group.create_task(asking())
    return Seen(time.perf_counter() - started, seen.firsts, seen.wholes)


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        done = runner.run(main(sys.argv[1:]))
    print(json.dumps(asdict(done)))
