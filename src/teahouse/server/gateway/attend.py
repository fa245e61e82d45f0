"""Work for a client that may go at any moment, and that wants signs of life while it waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from teahouse.server.gate import Receive
from teahouse.server.gateway.incoming import Gone

FIRST_BEAT_S = 1.0
BEAT_EVERY_S = 5.0  # the shortest time that proxies in use let a connection be silent is 10

Beat = Callable[[], Awaitable[None]]


async def attend(
    receive: Receive, work: Coroutine[Any, Any, None], beat: Beat | None = None
) -> None:
    """Do `work`, and cut it at once when the client closes: then raises `Gone`. `beat` is called
    after the first second and then every few."""
    try:
        async with asyncio.TaskGroup() as group:
            doing = group.create_task(work)
            watching = group.create_task(_watch(receive, doing, beat))
            doing.add_done_callback(lambda _: watching.cancel())
    except ExceptionGroup as errors:  # the caller is to be told of the error itself
        raise errors.exceptions[0] from None
    if doing.cancelled():
        raise Gone


async def _watch(receive: Receive, doing: asyncio.Task[None], beat: Beat | None) -> None:
    """The body has been read before: all that can still come is the end of the connection."""
    wait = FIRST_BEAT_S if beat else None
    while True:
        try:
            async with asyncio.timeout(wait):
                message = await receive()
        except TimeoutError:
            assert beat is not None
            await beat()
            wait = BEAT_EVERY_S
        else:
            if message["type"] == "http.disconnect":
                doing.cancel()
                return
