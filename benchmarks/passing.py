"""What a gateway costs at the least: bytes go through uvicorn and aiohttp, unread.

`python benchmarks/passing.py UPSTREAM` prints its address. No key, no ledger, no other dialect.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import aiohttp
import uvicorn


class Passing:
    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        body = (await receive())["body"]
        headers = {"content-type": "application/json"}
        async with self._session.post(self._upstream, data=body, headers=headers) as answer:
            told = [(b"content-type", answer.content_type.encode())]
            if answer.content_length is not None:
                told.append((b"content-length", str(answer.content_length).encode()))
            await send({"type": "http.response.start", "status": answer.status, "headers": told})
            while piece := await answer.content.readany():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


if __name__ == "__main__":
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        Passing(sys.argv[1]), loop="uvloop", http="httptools", lifespan="off", access_log=False,
        log_level="warning",
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[sock])
