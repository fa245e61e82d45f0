"""Opens a house to the web, and leaves word in the home of where it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from teahouse.app.house import House, open_house
from teahouse.cli.client import RUN_FILE
from teahouse.core.codec import encode
from teahouse.core.disk import replace_file
from teahouse.server.gate import is_loopback
from teahouse.server.serving import address_of, bind
from teahouse.server.serving import serve as serve_web
from teahouse.store.home import usable

if TYPE_CHECKING:
    from teahouse.server.metrics import Metrics


class Open(Struct, frozen=True, kw_only=True):
    """Where a running house is. `key` speaks for the owner while it runs; `setup` is the address
    at which its owner's password is to be set, if that is still to be done."""

    url: str
    key: str
    setup: str | None = None


async def serve(
    home: Path,
    environ: Mapping[str, str],
    *,
    host: str | None = None,
    port: int | None = None,
    ready: Callable[[Open], None] = lambda _: None,
    stop: asyncio.Event | None = None,
    take_up: bool = True,
    file: Path | None = None,
    alone: bool = False,
) -> None:
    """Serve the home until `stop` is set. `host` and `port` win over the settings; without
    `take_up` runs that were cut by the last stop wait until somebody says something. `file` holds
    the settings where that is not the home's own; `alone` is the gateway without page and agents.

    Raises `HomeInUse`, `SettingsError`, or `Conflict` when the port is taken.
    """
    async with open_house(home, environ, take_up=take_up, file=file, alone=alone) as house:
        server = house.settings.config.server
        sock = bind(host or server.host, server.port if port is None else port)
        key = house.accounts.lend_key()
        setup = None
        if not alone and not await house.accounts.is_set_up():
            local = is_loopback(sock.getsockname()[0])
            setup = address_of(sock) + ("" if local else f"/#setup={house.setup_token}")
        opened = Open(url=address_of(sock), key=key, setup=setup)
        with _word(home / RUN_FILE, opened):
            await serve_web(
                house,
                sock,
                stop or asyncio.Event(),
                ready=lambda _: ready(opened),
                page=not alone,
                metrics=_counted(house),
            )


def _counted(house: House) -> Metrics:
    """What is called from now on, for monitors."""
    from teahouse.server.metrics import Metrics  # only a server needs the library

    metrics = Metrics(house.version, house.run_counts)
    house.takers.add(metrics)
    return metrics


@contextmanager
def _word(path: Path, opened: Open) -> Generator[None]:
    """The file by which the command line finds us: readable to the owner alone."""
    with usable(path.parents[1]):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        replace_file(path, encode({"url": opened.url, "key": opened.key, "pid": os.getpid()}))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
