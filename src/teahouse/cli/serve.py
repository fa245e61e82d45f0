"""`teahouse` and `teahouse serve`: open the house, and the browser when there is one to see it."""

from __future__ import annotations

import asyncio
import os
import signal
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from teahouse.cli.call import run, terminal_of
from teahouse.cli.options import Home, Json, ListenHost, ListenPort
from teahouse.cli.ports import Opened
from teahouse.cli.terminal import Terminal

Open = Annotated[bool, typer.Option("--open", help="cli.option.open")]


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

    async def work() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(kind, stop.set)
        await terminal.host.run_server(home, host, port, ready, stop)

    run(work())


def _show(terminal: Terminal, url: str) -> None:
    if terminal.surroundings.display:  # a browser may take seconds to come up: not on our loop
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()
