"""Work that is worth nothing once the one who asked for it has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from litestar.exceptions import ClientException

from teahouse.server.body import Request

T = TypeVar("T")


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, and cut it at once when the connection of `request` closes."""
    try:
        async with asyncio.TaskGroup() as group:
            doing = group.create_task(work)
            watching = group.create_task(_gone(request))
            await asyncio.wait({doing, watching}, return_when=asyncio.FIRST_COMPLETED)
            watching.cancel()
            doing.cancel()  # nothing where it is done
    except ExceptionGroup as errors:  # the caller is to be told of the error itself
        raise errors.exceptions[0] from None
    if doing.cancelled():
        raise ClientException("the client has gone", status_code=499)
    return doing.result()


async def _gone(request: Request) -> None:
    """Returns when the connection is closed; the body has been read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
