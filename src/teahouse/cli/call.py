"""How a command runs: its terminal, its client, and one event loop for its length."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from teahouse.cli.terminal import Terminal
from teahouse.core.errors import HomeInUse

if TYPE_CHECKING:
    from teahouse.cli.client import Client, Server

T = TypeVar("T")

STARTING_S = 3.0  # a server that has just taken the home needs this long to say where it is


def terminal_of(ctx: typer.Context) -> Terminal:
    found = ctx.find_root().obj
    assert isinstance(found, Terminal)
    return found


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work on the loop that is also the server's fastest."""
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def ask(
    ctx: typer.Context, home: Path | None, work: Callable[[Terminal, Client], Awaitable[T]]
) -> T:
    """Do `work` with a client of the home's server."""
    terminal = terminal_of(ctx)

    async def connected() -> T:
        async with connection(terminal, terminal.host.home(home)) as client:
            return await work(terminal, client)

    return run(connected())


@asynccontextmanager
async def connection(terminal: Terminal, home: Path) -> AsyncGenerator[Client]:
    """A client of the server that has the home, else of one of our own for as long as it lasts.

    Raises `HomeInUse` when another process has the home and does not answer.
    """
    from teahouse.cli.client import Client, Server, running

    found = await running(home)
    if found is None:
        try:
            async with terminal.host.open_local(home) as (url, key):
                async with Client(Server(url, key), terminal.language) as client:
                    yield client
                return
        except HomeInUse:
            found = await _starting(home)
            if found is None:
                raise
    async with Client(found, terminal.language, home) as client:
        yield client


async def _starting(home: Path) -> Server | None:
    from teahouse.cli.client import find_again

    return await find_again(home, STARTING_S)
