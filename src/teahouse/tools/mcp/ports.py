"""What MCP needs of the rest of the house."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from teahouse.core.clock import Clock
from teahouse.core.messages import Blob, JsonObject
from teahouse.llm.tool import ToolContext
from teahouse.tools.egress import EgressRules
from teahouse.tools.mcp.definition import Pinned

KEPT: Final = ("tokens", "client")  # of a login, in the vault under `mcp/SERVER/…`


class Pins(Protocol):
    """Remembers what was accepted of each server."""

    async def load(self, server: str, /) -> Pinned | None: ...
    async def save(self, server: str, pinned: Pinned, /) -> None: ...
    async def remove(self, server: str, /) -> None: ...


class Vault(Protocol):
    """Keeps what a login brought, sealed. `get` answers None for what it does not have, and
    `remove` does nothing."""

    async def get(self, name: str, /) -> str | None: ...
    async def put(self, name: str, value: str, /) -> None: ...
    async def remove(self, name: str, /) -> None: ...


class Keep(Protocol):
    """Stores the bytes that a tool returned, and tells under which name."""

    async def __call__(
        self, data: bytes, media_type: str, name: str, context: ToolContext, /
    ) -> Blob: ...


class Question(Struct, frozen=True, kw_only=True):
    """A server wants to know something from a person; `schema` is of the answer's fields."""

    server: str
    message: str
    schema: JsonObject


class Asks(Protocol):
    """Puts a question to a person; None: declined. Without one, servers may not ask at all."""

    async def __call__(self, question: Question, /) -> JsonObject | None: ...


class Progress(Protocol):
    """Hears how far a call has come; `total` and `message` where the server tells them."""

    def __call__(
        self, context: ToolContext, tool: str, done: float, total: float | None, message: str, /
    ) -> None: ...


class Limits(Struct, frozen=True, kw_only=True):
    """Sizes in bytes, times in seconds. `check_s`: how often a remote server is looked at."""

    message: int = 4 << 20
    tools: int = 256
    pages: int = 32
    calls: int = 16  # at once, of one server
    start_s: float = 30.0
    list_s: float = 30.0
    login_s: float = 900.0
    relist_s: float = 1.0  # between two lists at least
    check_s: float = 300.0
    first_retry_s: float = 0.5
    longest_retry_s: float = 60.0


class House(Struct, frozen=True, kw_only=True):
    """All that a server needs around it. `environment` gives children PATH, HOME and LANG and
    nothing else, `folder` is where they start, `callback` where a login sends its person back.
    `client_document`: where the web finds who we are, for logins that look there.
    """

    clock: Clock
    pins: Pins
    vault: Vault
    keep: Keep
    environment: Mapping[str, str]
    folder: Path
    egress: Callable[[], EgressRules] = EgressRules
    callback: str = "http://127.0.0.1:8788/mcp/callback"
    client_document: str | None = None
    asks: Asks | None = None
    progress: Progress | None = None
    limits: Limits = Limits()
