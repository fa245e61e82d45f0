"""Listens: binds the address, runs the application inside the loop that is there, and stops it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import socket
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import uvicorn

from teahouse.core.errors import Conflict, Invalid
from teahouse.server.app import Application
from teahouse.server.heads import LimitedHttp
from teahouse.server.readers import Readers
from teahouse.server.socket import MAX_FRAME

if TYPE_CHECKING:
    from teahouse.server.metrics import Metrics
    from teahouse.server.ports import House

BACKLOG = 2048
PING_EVERY_S = 20.0
GRACE_S = 5
TUNE_AFTER_S = 1.0  # the first readers come first
KEEP_ALIVE_S = 75  # longer than clients keep idle connections: who closes first loses no request


def bind(host: str, port: int) -> socket.socket:
    """Take the address; raises `Conflict` when another program has it. Port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's delay, 40 ms an answer, only for sockets that say they are TCP
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise Conflict("port_taken", host=host, port=port) from error
        raise Invalid("address_unusable", host=host, port=port, detail=error.strerror) from error
    except OverflowError as error:
        sock.close()
        raise Invalid("address_unusable", host=host, port=port, detail=error) from error
    sock.setblocking(False)
    return sock


def address_of(sock: socket.socket) -> str:
    """Where a person on this machine opens it."""
    name, port = sock.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(str(name), str(name))  # noqa: S104  compared
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(
    house: House,
    sock: socket.socket,
    stop: asyncio.Event,
    *,
    ready: Callable[[str], None] = lambda _: None,
    tune_gc: bool = True,
    page: bool = True,
    metrics: Metrics | None = None,
) -> None:
    """Serve until `stop` is set, then say goodbye to every reader within a bounded time.

    `ready` is called with the address once requests are answered. Signals are the caller's. Without
    `page` there are no routes of conversations and agents either, without `metrics`
    there is nothing for monitors.
    """
    app = Application(house, page=page, metrics=metrics)
    server = _Server(
        app.readers,
        uvicorn.Config(
            app,
            http=LimitedHttp,
            ws="websockets-sansio",
            ws_per_message_deflate=False,
            ws_max_size=MAX_FRAME,
            ws_ping_interval=PING_EVERY_S,
            ws_ping_timeout=PING_EVERY_S,
            lifespan="on",
            backlog=BACKLOG,
            proxy_headers=False,  # a header is no address
            server_header=False,
            access_log=False,
            log_config=None,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=GRACE_S,
        ),
    )
    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(server.serve(sockets=[sock]))
            await server.listening.wait()
            if not running.done():
                ready(address_of(sock))
                if tune_gc:
                    asyncio.get_running_loop().call_later(TUNE_AFTER_S, _tune_gc)
            stopping = group.create_task(stop.wait())
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            server.should_exit = True
    finally:
        sock.close()


class _Server(uvicorn.Server):
    def __init__(self, readers: Readers, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._readers = readers
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield  # the application that we are a part of has them

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().serve(sockets)
        except asyncio.CancelledError:
            if self.started:
                await self.shutdown(sockets)
            raise

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._readers.end_all()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.listening.set()


def _tune_gc() -> None:
    """What was built at start stays for good: not looking at it cuts the longest pauses to a third
    (measured at 2,000 sockets)."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
