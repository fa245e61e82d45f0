"""What it takes to reach one MCP server, and the forms in which other products write it down."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct, field

from teahouse.core.errors import SettingsError

Seconds = Annotated[float, Meta(gt=0, le=86_400)]


class ServerSettings(Struct, frozen=True, kw_only=True):
    """Secrets opened. A `command` is run as a child, a `url` is spoken to over streamable HTTP.

    `timeout_s` bounds one call. `client_id` and `client_secret` are for servers whose login knows
    its clients beforehand; others register us by themselves.
    """

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    client_id: str | None = None
    client_secret: str | None = None
    enabled: bool = True
    timeout_s: float = 120.0

    def __repr__(self) -> str:  # settings end up in logs, secrets must not
        return f"ServerSettings(command={self.command!r}, url={self.url!r})"

    @property
    def place(self) -> str:
        """What is trusted when a server is set up: a hash of what is run or spoken to."""
        told = msgspec.json.encode([self.command, self.args, self.cwd, self.url])
        return hashlib.sha256(told).hexdigest()


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TABLES = ("mcpServers", "servers", "mcp")
_URLS = ("url", "serverUrl", "httpUrl")
_LONGEST = 1 << 20


def read_pasted(text: str) -> dict[str, ServerSettings]:
    """The servers of a JSON text as the makers of servers print it: `{"mcpServers": {NAME: …}}`, or
    only what lies within. Raises `SettingsError`."""
    try:
        found: Any = msgspec.json.decode(text) if len(text) <= _LONGEST else None
    except (msgspec.DecodeError, RecursionError) as error:
        raise SettingsError("mcp_pasted", detail=error) from error
    table = _table(found)
    for key in _TABLES:
        table = _table(table.get(key, table))
    return {_name(name): _server(name, _table(one)) for name, one in table.items()}


def _table(found: object) -> dict[str, Any]:
    if not isinstance(found, dict) or not found:
        raise SettingsError("mcp_pasted", detail="{…}")
    return cast("dict[str, Any]", found)


def _name(name: str) -> str:
    fit = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")[:64]
    if not _NAME.fullmatch(fit):
        raise SettingsError("mcp_pasted", detail=name[:64])
    return fit


def _server(name: str, found: dict[str, Any]) -> ServerSettings:
    if str(found.get("type", found.get("transport", ""))).lower() == "sse":
        raise SettingsError("mcp_pasted_sse", server=name)
    taken = {
        key: found[key] for key in ("command", "args", "env", "cwd", "headers") if key in found
    }
    url = next((found[key] for key in _URLS if key in found), None)
    enabled = found.get("enabled", found.get("disabled") is not True)
    if isinstance(taken.get("env"), dict):
        taken["env"] = {key: _text(value) for key, value in taken["env"].items()}
    try:
        read = msgspec.convert({**taken, "url": url, "enabled": enabled}, ServerSettings)
    except msgspec.ValidationError as error:
        raise SettingsError("mcp_pasted", detail=f"{name}: {error}") from error
    check(name, read)
    return read


def _text(value: object) -> object:
    """Numbers and truths are written bare by many, and mean their text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def check(name: str, server: ServerSettings) -> None:
    """Raises `SettingsError` where it is not clear how to reach the server."""
    if bool(server.command) == bool(server.url):
        raise SettingsError("mcp_settings", server=name)
