"""Settings while the house is open: shown with secrets masked, changed, undone, and told about."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec

from teahouse.chat.ports import Secrets
from teahouse.config.file import undo
from teahouse.config.home import FILE, LANGUAGE, system_language
from teahouse.config.keys import (
    NOT_SETTINGS,
    Key,
    Unknown,
    convert,
    dotted,
    is_leaf,
    is_secret,
    kind_of,
    named,
    parse,
    parse_many,
    takes_text,
    wrong,
)
from teahouse.config.load import Reading, kind_or_error, read, settings_file
from teahouse.config.tree import (
    ENVIRONMENT_ONLY,
    Config,
    McpServer,
    Provider,
    Secret,
    SecretRef,
    Telemetry,
)
from teahouse.core import i18n
from teahouse.core.errors import SettingsError
from teahouse.core.messages import JsonObject
from teahouse.llm.settings import ProviderSettings
from teahouse.tools.mcp.settings import ServerSettings

log = logging.getLogger(__name__)

MASK = "••••"
SHOWN = 4  # of a secret's end, when it is long enough that this tells little
SOURCE = "settings"

Listener: TypeAlias = Callable[["LiveSettings"], Awaitable[None]]


class LiveSettings:
    """One per open home; made by `open`. `config` and `providers` are those in force now."""

    def __init__(
        self, reading: Reading, environ: Mapping[str, str], secrets: Secrets, values: dict[str, str]
    ) -> None:
        self._reading, self._environ, self._secrets = reading, environ, secrets
        self._values = values  # of sealed secrets, by their names
        self._listeners: list[Listener] = []
        self._changing = asyncio.Lock()

    @classmethod
    async def open(
        cls, home: Path, environ: Mapping[str, str], secrets: Secrets, file: Path | None = None
    ) -> LiveSettings:
        """`file` where it is not the home's own."""
        reading = await asyncio.to_thread(_read, home, environ, file)
        return cls(reading, environ, secrets, await _values(reading.config, secrets))

    @property
    def config(self) -> Config:
        """As written; sealed secrets are in `providers`."""
        return self._reading.config

    @property
    def providers(self) -> dict[str, ProviderSettings]:
        """The endpoints as `llm` takes them, keys and headers opened."""
        return {name: self._opened(one) for name, one in self.config.providers.items()}

    @property
    def mcp_servers(self) -> dict[str, ServerSettings]:
        """The servers as `tools.mcp` takes them, secrets opened."""
        return {name: self._opened_server(one) for name, one in self.config.mcp.servers.items()}

    @property
    def telemetry_headers(self) -> dict[str, str]:
        """What goes with traces and metrics, opened."""
        return self._all_plain(self.config.telemetry.headers)

    @property
    def language(self) -> i18n.Language:
        environment = self._environ.get(LANGUAGE)
        return i18n.resolve(environment, self.config.language, system_language(self._environ))

    def on_change(self, listener: Listener) -> None:
        """Have `listener` called after each change."""
        self._listeners.append(listener)

    def public(self) -> JsonObject:
        """Those in force, secrets as `••••1234`; `locked` lists what the environment fixes."""
        tree = msgspec.structs.asdict(self.config)
        hidden = NOT_SETTINGS.union(name for name, *_ in ENVIRONMENT_ONLY)
        shown = {n: self._shown((n,), value) for n, value in tree.items() if n not in hidden}
        locked = sorted(dotted(key) for key in self._reading.locked if key[0] not in hidden)
        return {**shown, "locked": locked}

    async def patch(self, changes: JsonObject, /) -> JsonObject:
        """Take dotted or nested `changes`; None takes a setting back to its default.

        Text is read as on the command line where another type is meant. The file is read anew
        first, so that what a person wrote there meanwhile stays. Raises `SettingsError` for an
        unknown key, a wrong value or a locked key: then nothing has changed.
        """
        async with self._changing:
            leaves = dict(self._leaves((), changes))
            fresh = await self._fresh()
            _refuse_moved_keys(fresh.config, leaves)
            named_before = fresh.file.secrets()
            sealed: dict[str, str | None] = {}
            try:
                await self._seal(leaves, sealed)
                await asyncio.to_thread(_write, fresh, leaves)
            except BaseException:
                await self._unseal(sealed)
                raise
            await self._take(await self._fresh(), named_before)
        return self.public()

    async def undo(self) -> JsonObject:
        """Go back to the file before the last change. Sealed values keep their newest content."""
        async with self._changing:
            file = self._reading.file.path
            await asyncio.to_thread(undo, file)
            try:
                fresh = await self._fresh()
            except SettingsError:
                await asyncio.to_thread(undo, file)
                raise
            await self._take(fresh, fresh.file.secrets())
        return self.public()

    async def _fresh(self) -> Reading:
        path = self._reading.file.path
        own = path == self.config.home / FILE
        return await asyncio.to_thread(
            _read, self.config.home, self._environ, None if own else path
        )

    def _opened(self, provider: Provider) -> ProviderSettings:
        known = msgspec.structs.asdict(provider)
        known["api_key"] = self._plain(provider.api_key)
        known["headers"] = self._all_plain(provider.headers)
        keys = self._all_plain(provider.api_keys)
        known["api_keys"] = {name: value for name, value in keys.items() if value}
        return ProviderSettings(**known)

    def _opened_server(self, server: McpServer) -> ServerSettings:
        known = msgspec.structs.asdict(server)
        known["env"] = self._all_plain(server.env)
        known["headers"] = self._all_plain(server.headers)
        known["client_secret"] = self._plain(server.client_secret)
        known["cwd"] = str(Path(server.cwd).expanduser()) if server.cwd else None
        return ServerSettings(**known)

    def _all_plain(self, values: Mapping[str, Secret]) -> dict[str, str]:
        plain = {name: self._plain(value) for name, value in values.items()}
        return {name: value for name, value in plain.items() if value is not None}

    def _plain(self, value: str | SecretRef | None) -> str | None:
        return self._values.get(value.secret) if isinstance(value, SecretRef) else value

    def _shown(self, key: Key, value: Any) -> Any:
        if kind_of(key) is Any:  # whatever lies within is no setting of its own
            return value
        if isinstance(value, SecretRef | str) and is_secret(key):
            return mask(self._plain(value) or "")
        if isinstance(value, msgspec.Struct):
            value = msgspec.structs.asdict(value)
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {name: self._shown((*key, name), below) for name, below in items}
        return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value

    def _leaves(self, key: Key, changes: Any) -> list[tuple[Key, Any]]:
        """The changes as leaves, each checked; what is as masked as it was shown is no change."""
        found: list[tuple[Key, Any]] = []
        for name, value in changes.items():
            below = (*key, *_parts(key, name))
            kind = kind_or_error(below, SOURCE, dotted)
            self._allow(below, whole=value is None)
            if value is None:
                found.append((below, None))
            elif not is_leaf(kind):
                table = parse_many(below, value, SOURCE) if isinstance(value, str) else value
                if not isinstance(table, dict):
                    raise wrong(below, value, SOURCE)
                found += self._leaves(below, table)
            elif not (isinstance(value, str) and value.startswith(MASK) and is_secret(below)):
                found.append((below, _checked(below, value)))
        return found

    def _allow(self, key: Key, *, whole: bool) -> None:
        if key in ENVIRONMENT_ONLY:
            raise SettingsError(
                "setting_environment_only", key=dotted(key), variable="TEAHOUSE_OWNER_PASSWORD"
            )
        for fixed, variable in self._reading.locked.items():
            if key[: len(fixed)] == fixed or (whole and fixed[: len(key)] == key):
                raise SettingsError("setting_locked", key=dotted(key), variable=variable)

    async def _seal(self, leaves: dict[Key, Any], before: dict[str, str | None]) -> None:
        """Put secrets among `leaves` into the store and their names in their place; note `before`
        each what the store had."""
        for key, value in leaves.items():
            if isinstance(value, str) and is_secret(key):
                name = _secret_name(key)
                before[name] = await _opened(self._secrets, name)
                await self._secrets.put(name, value)
                leaves[key] = SecretRef(secret=name)

    async def _unseal(self, before: dict[str, str | None]) -> None:
        for name, value in before.items():
            if value is None:
                await self._secrets.remove(name)
            else:
                await self._secrets.put(name, value)

    async def _take(self, reading: Reading, sealed_before: frozenset[str]) -> None:
        before = self.config, self.providers, self.mcp_servers
        for name in sealed_before - reading.file.secrets():
            await self._secrets.remove(name)
        self._reading = reading
        self._values = await _values(reading.config, self._secrets)
        if before != (self.config, self.providers, self.mcp_servers):
            for listener in self._listeners:
                await listener(self)


def mask(secret: str) -> str:
    return MASK + (secret[-SHOWN:] if len(secret) >= 3 * SHOWN else "")


def _refuse_moved_keys(config: Config, leaves: dict[Key, Any]) -> None:
    """A kept key must not follow its provider to another address: whoever may change the address
    could read the key there. It is entered anew, or taken away, in the same change."""
    for name, provider in config.providers.items():
        at = ("providers", name)
        if at in leaves:
            continue
        base_url = leaves.get((*at, "base_url"), provider.base_url)
        vendor = leaves.get((*at, "vendor"), provider.vendor)
        if same_address(provider.base_url, base_url) and vendor == provider.vendor:
            continue
        kept = [(*at, "api_key")] if provider.api_key is not None else []
        kept += [(*at, "api_keys", key) for key in provider.api_keys]
        kept += [
            (*at, "headers", header)
            for header, value in provider.headers.items()
            if isinstance(value, SecretRef)
        ]
        if any(key not in leaves and key[:-1] not in leaves for key in kept):
            raise SettingsError("setting_key_for_new_address", provider=name)
    _refuse_moved_headers(config.telemetry, leaves)
    for name, server in config.mcp.servers.items():
        _refuse_moved_server(name, server, leaves)


def _refuse_moved_headers(telemetry: Telemetry, leaves: dict[Key, Any]) -> None:
    """As for the keys of providers."""
    endpoint = leaves.get(("telemetry", "otlp_endpoint"), telemetry.otlp_endpoint)
    if endpoint is None or same_address(telemetry.otlp_endpoint, endpoint):
        return
    at = ("telemetry", "headers")
    kept = [name for name, value in telemetry.headers.items() if isinstance(value, SecretRef)]
    if at not in leaves and any((*at, name) not in leaves for name in kept):
        raise SettingsError("setting_key_for_new_address", provider="telemetry")


def _refuse_moved_server(name: str, server: McpServer, leaves: dict[Key, Any]) -> None:
    """As for the keys of providers. A command needs no such care: it may read the whole home."""
    at = ("mcp", "servers", name)
    url = leaves.get((*at, "url"), server.url)
    if at in leaves or url is None or same_address(server.url, url):
        return
    kept = [
        (*at, "headers", header)
        for header, value in server.headers.items()
        if isinstance(value, SecretRef)
    ]
    kept += [(*at, "client_secret")] if server.client_secret is not None else []
    if any(key not in leaves and key[:-1] not in leaves for key in kept):
        raise SettingsError("setting_key_for_new_address", provider=name)


def same_address(one: str | None, other: str | None) -> bool:
    """Whether two base URLs lead to the same server."""
    return urlsplit(one or "")[:2] == urlsplit(other or "")[:2]


def _parts(key: Key, name: str) -> Key:
    """Where `name` leads below `key`; names of models and of headers may have dots, and quotes
    around them, as in the file."""
    parts = tuple(name.split("."))
    for depth in range(len(parts)):
        try:
            each = named(kind_of((*key, *parts[:depth])))
        except Unknown:
            break
        if each is not None and is_leaf(each):
            last = ".".join(parts[depth:])
            quoted = len(last) > 2 and last[0] == last[-1] and last[0] in "\"'"
            return (*parts[:depth], last[1:-1] if quoted else last)
    return parts


def _checked(key: Key, value: Any) -> Any:
    if isinstance(value, str) and not takes_text(kind_of(key)):
        return parse(key, value, SOURCE)
    return convert(key, value, SOURCE)


def _secret_name(key: Key) -> str:
    """`provider/NAME`; for a header `provider/NAME/HEADER`; for a further key
    `provider/NAME/api_keys/KEY`; for a header of telemetry `telemetry/HEADER`; for an MCP server
    `mcp/NAME/env/VARIABLE` and the like."""
    if key[0] == "mcp":
        return "/".join(("mcp", *key[2:]))
    if key[0] == "telemetry":
        return f"telemetry/{key[-1]}"
    return "/".join(("provider", key[1], *(key[2:] if key[2] == "api_keys" else key[3:])))


def _read(home: Path, environ: Mapping[str, str], file: Path | None) -> Reading:
    return read(settings_file(home, file), home, environ)


def _write(reading: Reading, leaves: dict[Key, Any]) -> None:
    plain = {key: msgspec.to_builtins(value) for key, value in leaves.items()}
    text = reading.file.edited(plain)
    if text != reading.file.text and plain:
        reading.file.write(text)


async def _values(config: Config, secrets: Secrets) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in _secrets(config):
        if isinstance(value, SecretRef):
            opened = await _opened(secrets, value.secret)
            if opened is not None:
                found[value.secret] = opened
    return found


def _secrets(config: Config) -> Iterator[Secret | None]:
    for provider in config.providers.values():
        yield from (provider.api_key, *provider.headers.values(), *provider.api_keys.values())
    yield from config.telemetry.headers.values()
    for server in config.mcp.servers.values():
        yield from (server.client_secret, *server.env.values(), *server.headers.values())


async def _opened(secrets: Secrets, name: str) -> str | None:
    """The value, or None where it cannot be opened, as after the home's key was lost: only a house
    that is open lets its owner enter the value again."""
    try:
        return await secrets.get(name)
    except SettingsError as error:
        log.warning("%s", error)
        return None
