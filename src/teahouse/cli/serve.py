"""`teahouse` and `teahouse serve`: open the house, and the browser when there is one to see it."""

from __future__ import annotations

import asyncio
import os
import signal
import webbrowser
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from teahouse.cli.call import run, terminal_of
from teahouse.cli.options import Home, Json, ListenHost, ListenPort
from teahouse.cli.ports import Opened, Wanted
from teahouse.cli.terminal import Terminal

Open = Annotated[bool, typer.Option("--open", help="cli.option.open")]
SettingsFile = Annotated[
    Path | None, typer.Option("--config", help="cli.option.config", metavar="FILE")
]


def serve(
    ctx: typer.Context,
    *,
    host: ListenHost = None,
    port: ListenPort = None,
    home: Home = None,
    open_browser: Open = False,
    as_json: Json = False,
) -> None:
    terminal = terminal_of(ctx)
    start(terminal, terminal.host.home(home), host, port, browser=open_browser, as_json=as_json)


def gateway(
    ctx: typer.Context,
    *,
    config: SettingsFile = None,
    host: ListenHost = None,
    port: ListenPort = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """The model layer alone, for programs: no page, no agents."""
    terminal = terminal_of(ctx)

    def ready(opened: Opened) -> None:
        if as_json:
            terminal.give({"url": opened.url, "pid": os.getpid()})
        else:
            terminal.say(terminal.t("cli.gateway.ready", url=f"{opened.url}/v1"))
            terminal.say(terminal.t("cli.gateway.key"))
            terminal.say(terminal.t("cli.serve.leave"))

    async def work(stop: asyncio.Event) -> None:
        file = config and config.expanduser().absolute()
        place = terminal.host.home(home)
        wanted = Wanted(host, port)
        await terminal.host.run_server(place, wanted, ready, stop, file=file, alone=True)

    _until_told(work)


def open_house(
    terminal: Terminal,
    home: Path,
    host: str | None,
    port: int | None,
    *,
    browser: bool,
    as_json: bool,
) -> None:
    """`teahouse` alone: a house that is open already is only shown."""
    from teahouse.cli.client import running

    found = run(running(home))
    if found is None:
        start(terminal, home, host, port, browser=browser, as_json=as_json)
        return
    if as_json:
        terminal.give({"url": found.url})
    else:
        terminal.say(terminal.t("cli.serve.already", url=found.url))
    if browser:
        _show(terminal, found.url)


def start(
    terminal: Terminal,
    home: Path,
    host: str | None,
    port: int | None,
    *,
    browser: bool,
    as_json: bool,
) -> None:
    def ready(opened: Opened) -> None:
        address = opened.setup or opened.url
        if as_json:
            terminal.give({"url": opened.url, "setup": opened.setup, "pid": os.getpid()})
        else:
            terminal.say(terminal.t("cli.serve.ready", url=opened.url))
            if opened.setup:
                terminal.say(terminal.t("cli.serve.setup", url=opened.setup))
            terminal.say(terminal.t("cli.serve.leave"))
        if browser:
            _show(terminal, address)

    _until_told(lambda stop: terminal.host.run_server(home, Wanted(host, port), ready, stop))


def _until_told(work: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Serve until a signal comes."""

    async def serving() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(kind, stop.set)
        await work(stop)

    run(serving())


def _show(terminal: Terminal, url: str) -> None:
    if terminal.surroundings.display:  # a browser may take seconds to come up: not on our loop
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()
