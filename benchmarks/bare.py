"""What Teahouse is held against: a bare Litestar with SQLAlchemy, which does nothing but fan out.

`python benchmarks/bare.py PORT`. A text that comes in over `/ws` goes to every open socket.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque

import sqlalchemy
import uvicorn
from litestar import Litestar, WebSocket, get, websocket
from litestar.exceptions import WebSocketDisconnect

ENGINE = sqlalchemy.create_engine("sqlite://")


class Writer:
    """A task lives only while something waits to be sent: the best of the ways that were tried."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.waiting: deque[str] = deque()
        self.task: asyncio.Task[None] | None = None

    def put(self, text: str) -> None:
        self.waiting.append(text)
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self.write())

    async def write(self) -> None:
        try:
            while self.waiting:
                await self.socket.send_text(self.waiting.popleft())
        finally:
            self.task = None


WRITERS: set[Writer] = set()


@get("/healthz")
async def healthz() -> str:
    return "ok"


@websocket("/ws")
async def ws(socket: WebSocket) -> None:
    await socket.accept()
    writer = Writer(socket)
    WRITERS.add(writer)
    try:
        while True:
            text = await socket.receive_text()
            for each in WRITERS:
                each.put(text)
    except WebSocketDisconnect:
        pass
    finally:
        WRITERS.discard(writer)


if __name__ == "__main__":
    uvicorn.run(
        Litestar([healthz, ws], openapi_config=None),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        access_log=False,
        log_level="warning",
    )
