"""`teahouse`: hands the commands their house, and answers `--help` before anything is loaded."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from teahouse.config import home as place

if TYPE_CHECKING:
    import asyncio

    from teahouse.cli.ports import Address, LocalModel, Ready, Wanted
    from teahouse.config.tree import Config
    from teahouse.core.i18n import Language

STOP_S = 15.0


class Machine:
    """The commands' `Host`: this computer, its environment and the homes on it."""

    def home(self, flag: Path | None, /) -> Path:
        return place.home_folder(flag, place.environment())

    def language(self, home: Path, /) -> Language:
        return place.language(home, place.environment())

    def surroundings(self) -> place.Surroundings:
        return place.surroundings(place.environment())

    def settings_file(self, home: Path, /) -> Path:
        return home / place.FILE

    def undo_settings(self, home: Path, /) -> None:
        from teahouse.config.file import undo

        undo(home / place.FILE)

    def address(self, home: Path, /) -> Address:
        from teahouse.cli.ports import Address

        server = _config(home).server
        return Address(server.host, server.port)

    def local_model(self, home: Path, /) -> LocalModel:
        from teahouse.cli.ports import LocalModel

        local = _config(home).local_model
        return LocalModel(local.enabled, local.name, Path(local.folder).expanduser())

    def check_store(self, home: Path, /) -> str | None:
        from teahouse.store.examine import examine
        from teahouse.store.home import DATABASE

        return examine(home / DATABASE)

    def page_is_built(self) -> bool:
        from teahouse.server.routes.page import ROOT

        return (ROOT / "index.html").is_file()

    async def run_server(
        self,
        home: Path,
        wanted: Wanted,
        ready: Ready,
        stop: asyncio.Event,
        /,
        *,
        file: Path | None = None,
        alone: bool = False,
    ) -> None:
        gc.disable()  # what is built until the server listens stays; it enables it again then
        from teahouse.app.logs import log_to_console
        from teahouse.app.serve import serve

        log_to_console(_config(home, file).log)
        await serve(
            home,
            place.environment(),
            host=wanted.host,
            port=wanted.port,
            ready=ready,
            stop=stop,
            file=file,
            alone=alone,
        )

    @asynccontextmanager
    async def open_local(self, home: Path, /) -> AsyncGenerator[tuple[str, str]]:
        import asyncio

        from teahouse.app.logs import log_to_console
        from teahouse.app.serve import Open, serve
        from teahouse.config.tree import Log
        from teahouse.core.tasks import Supervisor

        log_to_console(Log(level="error", json=_config(home).log.json))
        stop = asyncio.Event()
        opened: asyncio.Future[Open] = asyncio.get_running_loop().create_future()

        async def work() -> None:
            try:
                await serve(
                    home,
                    # for one command the model is loaded only if the command talks
                    {**place.environment(), "TEAHOUSE_LOCAL_MODEL__START": "lazy"},
                    host="127.0.0.1",
                    port=0,
                    ready=opened.set_result,
                    stop=stop,
                    take_up=False,
                )
            except Exception as error:  # carried over to the command that waits
                if opened.done():
                    raise
                opened.set_exception(error)

        async with Supervisor() as tasks:
            server = tasks.start("server", work())
            found = await opened
            try:
                yield found.url, found.key
            finally:
                stop.set()
                await asyncio.wait({server}, timeout=STOP_S)


def _config(home: Path, file: Path | None = None) -> Config:
    from teahouse.config.load import load

    return load(home, place.environment(), file)


def _home_flag(arguments: Sequence[str]) -> Path | None:
    """`--home` wherever it stands: the language of all words may lie in that home."""
    for number, argument in enumerate(arguments):
        if argument.startswith("--home="):
            return Path(argument.removeprefix("--home="))
        if argument == "--home" and number + 1 < len(arguments):
            return Path(arguments[number + 1])
    return None


def _hold_standard_streams() -> None:
    """Open those that were closed, as cron or a daemon may leave them: else the next socket gets
    their number, and what is printed goes to whoever is at its other end."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def main() -> None:
    _hold_standard_streams()
    machine, arguments = Machine(), sys.argv[1:]
    language = machine.language(machine.home(_home_flag(arguments)))
    if arguments in (["--help"], ["-h"]):
        from teahouse.cli.overview import overview

        sys.stdout.write(overview(language))
        return
    from teahouse.cli.main import run

    sys.exit(run(machine, arguments, language))


if __name__ == "__main__":
    main()
