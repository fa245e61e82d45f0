"""A model endpoint on loopback that speaks the OpenAI chat dialect, by script and with faults.

Scripted answers are given in any dialect; the default script knows this one alone.

In a test:   `async with Endpoint() as endpoint: … endpoint.base_url …`
By hand:     `python -m teahouse.testing.endpoint --port 9100 [--script FILE]`
             It prints its base URL. Any key will do; `GET /v1/models` lists `fake`.

Answers come from the script, one for each request, and after that from the default script, which
echoes and obeys commands in the user's text: see the table in `teahouse.testing.answers`.
A script file is a JSON array whose items are `{"text": …}`, `{"pieces": [...], "delay_ms": …}`,
`{"tools": [[id, name, arguments], …]}`, `{"status": 429, "message": …, "retry_after": "1"}`.

Each request is recorded with what was sent of its answer and whether the client closed first:
`endpoint.requests`, or over HTTP `GET /requests`. A gate is released with `endpoint.release(GATE)`,
or `POST /release/GATE`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, field

from teahouse.testing.answers import (
    Answer,
    DefaultScript,
    Hold,
    Step,
    error_answer,
    json_answer,
    text_answer,
    tool_answer,
)

Script: TypeAlias = Callable[[dict[str, Any]], Answer]
_QUESTIONS = (
    *("/chat/completions", "/responses", "/messages", "/api/chat", "/api/show"),
    "GenerateContent",
    *("/embeddings", "/api/embed", "EmbedContents", "/images/generations"),
    *("/audio/speech", "/audio/transcriptions"),
)
_TLS = b"\x16"
_MODELS = {"object": "list", "data": [{"id": "fake", "object": "model"}]}


class Recorded(Struct, kw_only=True):
    """One request. `sent` counts body writes; `closed` is set when the client closed too early."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    sent: int = 0
    finished: bool = False
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    progress: asyncio.Event = field(default_factory=asyncio.Event)


class Endpoint:
    """An async context manager. `answers` are used up in order, then `script` decides by the body;
    `ask`, where it is given, decides instead of both by the whole request, in any dialect."""

    def __init__(
        self,
        answers: Iterable[Answer] = (),
        *,
        script: Script | None = None,
        ask: Callable[[Recorded], Answer] | None = None,
        models: Answer | None = None,
        port: int = 0,
    ) -> None:
        self.answers = deque(answers)
        self.script: Script = script or DefaultScript()
        self.ask = ask
        self.models = models or json_answer(_MODELS)
        self.requests: list[Recorded] = []
        self.open_connections = 0
        self.accepted = 0
        self._gates: dict[str, asyncio.Event] = {}
        self._arrived = asyncio.Condition()
        self._connections: set[_Connection] = set()
        self._port = port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def release(self, gate: str) -> None:
        self._gate(gate).set()

    async def request(self, number: int, timeout_s: float = 10) -> Recorded:
        """Wait for the request of this number, the first being 0."""
        async with asyncio.timeout(timeout_s), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) > number)
        return self.requests[number]

    async def sent(self, recorded: Recorded, writes: int, timeout_s: float = 10) -> None:
        """Wait until so many body writes were made."""
        async with asyncio.timeout(timeout_s):
            while recorded.sent < writes:
                recorded.progress.clear()
                await recorded.progress.wait()

    async def __aenter__(self) -> Endpoint:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(self), host="127.0.0.1", port=self._port, backlog=1024
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        tasks = [connection.abort() for connection in list(self._connections)]
        waiting = [task for task in tasks if task is not None]
        if waiting:
            await asyncio.wait(waiting, timeout=5)

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())

    async def serve(self, connection: _Connection) -> None:
        """Answer the requests of one connection until either side closes it."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                recorded = await _read_request(connection.reader)
                if not await connection.guard(recorded, self._answer(recorded, connection)):
                    return

    async def _answer(self, recorded: Recorded, connection: _Connection) -> bool:
        """Answer one request; returns whether the connection may serve another."""
        answer = await self._find(recorded)
        writer = connection.writer
        for step in answer.before:
            if step in {"cut", "reset"}:
                recorded.finished = True
                _end(writer, hard=step == "reset")
                return False
            await self._wait(step)
        if answer.framing != "raw":
            writer.write(_head(answer))
        for step in answer.steps:
            if isinstance(step, bytes):
                writer.write(_framed(answer, step))
                await writer.drain()
                recorded.sent += 1
                recorded.progress.set()
            elif step in {"cut", "reset"}:
                recorded.finished = True
                _end(writer, hard=step == "reset")
                return False
            else:
                await self._wait(step)
        if answer.framing == "chunked":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        recorded.finished = True
        return answer.framing == "chunked"

    async def _wait(self, step: Step) -> None:
        match step:
            case Hold():
                await self._gate(step.gate).wait()
            case "hang":
                await asyncio.Event().wait()
            case float() | int():
                await asyncio.sleep(step)
            case _:
                raise ValueError(step)

    async def _find(self, recorded: Recorded) -> Answer:
        path = recorded.path.partition("?")[0]
        if path == "/requests":
            return json_answer([_told(r) for r in self.requests])
        if path.startswith("/release/"):
            self.release(path.removeprefix("/release/"))
            return json_answer({})
        async with self._arrived:
            self.requests.append(recorded)
            self._arrived.notify_all()
        if path.endswith(("/models", "/api/tags")):
            return self.models
        return (self.ask or self._by_script)(recorded)

    def _by_script(self, recorded: Recorded) -> Answer:
        path = recorded.path.partition("?")[0]
        if self.answers and path.endswith(_QUESTIONS):
            return self.answers.popleft()
        if not path.endswith("/chat/completions"):
            return error_answer(404, f"no such path: {path}")
        return self.script(recorded.body)

    def opened(self, connection: _Connection) -> None:
        self._connections.add(connection)
        self.open_connections += 1
        self.accepted += 1

    def lost(self, connection: _Connection) -> None:
        self._connections.discard(connection)
        self.open_connections -= 1


class _Connection(asyncio.StreamReaderProtocol):
    """Tells at once when the client closes, also while nobody reads or writes."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.reader = asyncio.StreamReader(limit=1 << 26)
        super().__init__(self.reader, self._connected)
        self._endpoint = endpoint
        self._gone = False
        self._answering: asyncio.Task[Any] | None = None
        self._task: asyncio.Task[Any] | None = None

    async def _connected(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._task = asyncio.current_task()
        self._endpoint.opened(self)
        try:
            await self._endpoint.serve(self)
        finally:
            self._endpoint.lost(self)
            writer.close()

    async def guard(self, recorded: Recorded, answering: Any) -> bool:
        """Await `answering`, but give up as soon as the client has gone."""
        self._answering = asyncio.current_task()
        try:
            if self._gone:
                answering.close()
                raise asyncio.CancelledError
            return await answering
        except (asyncio.CancelledError, ConnectionError):
            if not recorded.finished:
                recorded.closed.set()
            return False
        finally:
            self._answering = None

    def abort(self) -> asyncio.Task[Any] | None:
        self.writer.transport.abort()
        return self._task

    def eof_received(self) -> bool:
        self._left()
        super().eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._left()
        super().connection_lost(exc)

    def _left(self) -> None:
        self._gone = True
        if self._answering is not None:
            self._answering.cancel()


async def _read_request(reader: asyncio.StreamReader) -> Recorded:
    first = await reader.readexactly(1)
    if first == _TLS:
        raise ConnectionResetError("somebody speaks TLS to a plain port")
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    try:
        body = json.loads(data or b"{}")
    except ValueError:
        body = {"not_json": data.decode("utf-8", "replace")}
    return Recorded(method=method, path=path, headers=headers, body=body)


def _head(answer: Answer) -> bytes:
    ending = "Transfer-Encoding: chunked" if answer.framing == "chunked" else "Connection: close"
    lines = [f"HTTP/1.1 {answer.status} Scripted", ending]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _framed(answer: Answer, data: bytes) -> bytes:
    return data if answer.framing != "chunked" else b"%x\r\n%b\r\n" % (len(data), data)


def _end(writer: asyncio.StreamWriter, *, hard: bool) -> None:
    if hard:  # linger of zero seconds: the kernel sends RST instead of FIN
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    else:
        writer.close()


def _told(recorded: Recorded) -> dict[str, Any]:
    return {
        "method": recorded.method,
        "path": recorded.path,
        "body": recorded.body,
        "sent": recorded.sent,
        "finished": recorded.finished,
        "closed_by_client": recorded.closed.is_set(),
    }


def read_script(path: Path) -> list[Answer]:
    """Read a script file; its form is in the module's docstring."""
    items: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [_scripted(item) for item in items]


def _scripted(item: dict[str, Any]) -> Answer:
    if "status" in item:
        wait = item.get("retry_after")
        return error_answer(item["status"], item.get("message", ""), retry_after=wait)
    if "tools" in item:
        return tool_answer([tuple(call) for call in item["tools"]], text=item.get("text", ""))
    pieces = item.get("pieces") or [item.get("text", "")]
    delay = (item["delay_ms"] / 1000,) if "delay_ms" in item else ()
    return text_answer(pieces, thinking=item.get("thinking", ""), between=delay)


async def _run(port: int, answers: list[Answer]) -> None:
    async with Endpoint(answers, port=port) as endpoint:
        print(endpoint.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted model endpoint on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="JSON array of answers")
    options = parser.parse_args()
    answers = read_script(options.script) if options.script else []
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(options.port, answers))


if __name__ == "__main__":
    main()
