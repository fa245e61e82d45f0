"""What commands need of the house around them; `__main__` hands it in."""

from __future__ import annotations

from asyncio import Event
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from teahouse.core.i18n import Language


class Opened(Protocol):
    """A server that answers. `setup` is where its owner's password is still to be set."""

    @property
    def url(self) -> str: ...
    @property
    def setup(self) -> str | None: ...


Ready: TypeAlias = Callable[[Opened], None]


class Surroundings(Protocol):
    @property
    def color(self) -> bool: ...
    @property
    def display(self) -> bool:
        """Whether a browser could show itself."""
        ...

    @property
    def editor(self) -> str | None: ...


class Address(NamedTuple):
    host: str
    port: int


class Wanted(NamedTuple):
    """The address that was asked for on the command line; None is left to the settings."""

    host: str | None
    port: int | None


class LocalModel(NamedTuple):
    """The embedded model as the settings have it, and the folder of its file."""

    enabled: bool
    name: str
    folder: Path


class Host(Protocol):
    """Imports nothing heavy until it is asked to do something."""

    def home(self, flag: Path | None, /) -> Path: ...

    def language(self, home: Path, /) -> Language: ...

    def surroundings(self) -> Surroundings: ...

    def settings_file(self, home: Path, /) -> Path: ...

    def undo_settings(self, home: Path, /) -> None:
        """Swap the settings file with the version before. Raises `SettingsError`."""
        ...

    def address(self, home: Path, /) -> Address:
        """Where the server would listen. Raises `SettingsError`, as do those below."""
        ...

    async def run_server(
        self,
        home: Path,
        wanted: Wanted,
        ready: Ready,
        stop: Event,
        /,
        *,
        file: Path | None = None,
        alone: bool = False,
    ) -> None:
        """Serve until `stop`. `file` holds the settings where that is not the home's own; `alone`
        is the gateway without page and agents. Raises `HomeInUse`, and `Conflict` when the port is
        taken."""
        ...

    def open_local(self, home: Path, /) -> AbstractAsyncContextManager[tuple[str, str]]:
        """A server of our own on a free port, for the length of the block: its address and key."""
        ...

    def local_model(self, home: Path, /) -> LocalModel: ...

    def check_store(self, home: Path, /) -> str | None:
        """What is wrong with the store; None when it is whole."""
        ...

    def page_is_built(self) -> bool: ...
