"""The outermost door: whom a browser thinks it talks to, which page sent it, and what it may load.

It stands around the whole application, so that no route, error or static file gets past it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from teahouse.core import errors
from teahouse.core.codec import encode
from teahouse.server.errors import failure, headers_of, reader_language, status_of

if TYPE_CHECKING:
    from teahouse.server.ports import House

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Headers: TypeAlias = Iterable[tuple[bytes, bytes]]

CSP = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'; object-src 'none'"
)
_HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PROXIED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")


class Gate:
    def __init__(self, app: Callable[[Any, Any, Any], Awaitable[None]], house: House) -> None:
        self.app = app
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = scope["headers"]
        try:
            host = host_of(headers, self._house.hosts)
            check_origin(scope, headers, host)
        except errors.TeahouseError as error:
            await self._refuse(error, scope, send)
            return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            if scope["method"] == "HEAD":  # the server below leaves out the body by itself
                scope = {**scope, "method": "GET"}
            await self.app(scope, receive, _with_headers(send))

    async def _refuse(self, error: errors.TeahouseError, scope: Scope, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": error.code})
            return
        accept = _one(scope["headers"], b"accept-language") or b""
        language = reader_language(accept.decode("latin-1"), self._house.language)
        headers = {"content-type": "application/json", **headers_of(error)}
        start = {
            "type": "http.response.start",
            "status": status_of(error),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        send = _with_headers(send)
        await send(start)
        await send({"type": "http.response.body", "body": encode(failure(error, language))})


def host_of(headers: Headers, names: Collection[str]) -> str:
    """The Host header, when it is a name of this house; raises `NotAllowed`.

    Addresses need no list: a page that had its name pointed at us still sends that name.
    """
    hosts = [value for name, value in headers if name == b"host"]
    host = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
    found = _HOST.fullmatch(host)
    if found is None:
        raise errors.Invalid("host_wrong", host=host)
    name = found[1].strip("[]").rstrip(".")
    if not (is_loopback(name) or _is_address(name) or name in names):
        raise errors.NotAllowed("host_unknown", host=name)
    return host


def check_origin(scope: Scope, headers: Headers, host: str) -> None:
    """Refuse what a page of another origin sends with our cookie.

    Browsers say where an unsafe request or a socket comes from, and no page can keep them from
    it; programs with a key or without a browser say nothing.
    """
    unsafe = scope["type"] == "websocket" or scope["method"] not in _SAFE
    if not unsafe or _one(headers, b"authorization") is not None:
        return
    origin, site = _one(headers, b"origin"), _one(headers, b"sec-fetch-site")
    if origin is not None:
        scheme, _, rest = origin.decode("latin-1").lower().partition("://")
        if scheme not in ("http", "https") or rest != host:
            raise errors.NotAllowed("origin_foreign", origin=origin.decode("latin-1"))
    if site not in (None, b"same-origin", b"none"):
        raise errors.NotAllowed("origin_foreign", origin=site.decode("latin-1"))


def from_this_machine(scope: Any) -> bool:
    """Whether peer and Host are loopback and no proxy stands between."""
    headers: Headers = scope["headers"]
    if any(name in _PROXIED for name, _ in headers):
        return False
    client = scope.get("client")
    host = (_one(headers, b"host") or b"").decode("latin-1").lower()
    found = _HOST.fullmatch(host)
    names = (client[0] if client else "", found[1].strip("[]") if found else "")
    return all(is_loopback(name) for name in names)


def is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _one(headers: Headers, name: bytes) -> bytes | None:
    return next((value for found, value in headers if found == name), None)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message["headers"])
            there = {name for name, _ in headers}
            headers += [header for header in _HEADERS if header[0] not in there]
            message["headers"] = headers
        await send(message)

    return sending
