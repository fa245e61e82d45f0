from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from litestar.exceptions import ClientException

from teahouse.core.errors import NotFound
from teahouse.server.body import Request
from teahouse.server.presence import while_there

pytestmark = pytest.mark.anyio


class Connection:
    """Stays open until it is closed."""

    def __init__(self) -> None:
        self._closed = asyncio.Event()

    def close(self) -> None:
        self._closed.set()

    async def receive(self) -> dict[str, Any]:
        await self._closed.wait()
        return {"type": "http.disconnect"}


def request(connection: Connection) -> Request:
    return cast("Request", connection)


async def test_work_that_is_done_is_answered() -> None:
    async def work() -> str:
        return "done"

    assert await while_there(request(Connection()), work()) == "done"


async def test_an_error_of_the_work_comes_as_itself() -> None:
    async def work() -> None:
        raise NotFound("no_such_run", id="r_1")

    with pytest.raises(NotFound):
        await while_there(request(Connection()), work())


async def test_work_is_cut_when_nobody_is_there_any_more() -> None:
    connection, cut = Connection(), asyncio.Event()

    async def work() -> None:
        connection.close()
        try:
            await asyncio.Event().wait()
        finally:
            cut.set()

    with pytest.raises(ClientException):
        await while_there(request(connection), work())
    assert cut.is_set()
