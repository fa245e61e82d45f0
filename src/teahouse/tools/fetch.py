"""Fetches over HTTP through the door of `egress`: each hop on a connection to what was checked.

Nothing is taken from the environment (proxies), no cookie is kept, and size, time and unpacking
are bounded.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field, structs

from teahouse.tools.egress import Egress, EgressRefused, Hop, shown
from teahouse.tools.inflate import Inflater

if TYPE_CHECKING:
    import ssl

    from aiohttp import ClientResponse
    from aiohttp.abc import AbstractResolver

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CROSSES_ORIGINS: Final = frozenset({"accept", "accept-language", "user-agent"})
_OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive"}
    | {"proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)


class Outgoing(Struct, frozen=True, kw_only=True):
    """A request of a tool. `most_bytes` bounds the answer's body, packed and unpacked."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    most_bytes: int = 5 << 20
    most_seconds: float = 30.0


class Fetched(Struct, frozen=True, kw_only=True):
    """An answer, whole. `url` is where it came from in the end."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


async def fetch(egress: Egress, request: Outgoing, *, tls: ssl.SSLContext | None = None) -> Fetched:
    """Raises `EgressRefused`. Any status is an answer."""
    errand = _Errand(request, tls)
    clock = asyncio.timeout(request.most_seconds)
    try:
        async with clock:
            return await egress.walk(request.url, errand.visit)
    except TimeoutError as error:
        url, seconds = shown(request.url), f"{request.most_seconds:g}"
        if clock.expired():
            raise EgressRefused("egress_timeout", url=url, seconds=seconds) from error
        raise EgressRefused("egress_failed", url=url, detail=_plain(error)) from error


class _Errand:
    """One request on its way over the hops; what it carries shrinks when it leaves an origin."""

    def __init__(self, request: Outgoing, tls: ssl.SSLContext | None) -> None:
        unfit = {name.lower() for name in request.headers} & _OURS
        if unfit:
            raise EgressRefused("egress_header", header=", ".join(sorted(unfit)))
        self._request, self._tls = request, tls
        self._origin: tuple[str, str, int] | None = None

    async def visit(self, hop: Hop) -> Fetched | str:
        import aiohttp

        if self._origin not in {None, hop.to.origin}:
            self._leave(hop)
        self._origin = hop.to.origin
        try:
            async with self._asked(hop) as response:
                location = response.headers.get("Location")
                if response.status in _REDIRECTS and location is not None:
                    self._turn(response.status)
                    return location.encode(errors="surrogateescape").decode(errors="replace")
                return Fetched(
                    url=hop.to.url,
                    status=response.status,
                    headers=dict(response.headers),
                    body=await self._body(response),
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise EgressRefused(
                "egress_failed", url=shown(hop.to.url), detail=_plain(error)
            ) from error

    @asynccontextmanager
    async def _asked(self, hop: Hop) -> AsyncGenerator[ClientResponse]:
        import aiohttp
        from yarl import URL

        connector = aiohttp.TCPConnector(
            resolver=_pinned(hop), use_dns_cache=False, force_close=True, ssl=self._tls or True
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
                trust_env=False,
            ) as session,
            session.request(
                self._request.method,
                URL(hop.to.url, encoded=True),
                headers={**self._request.headers, "Accept-Encoding": "gzip, deflate"},
                data=self._request.body,
                allow_redirects=False,
            ) as response,
        ):
            yield response

    async def _body(self, response: ClientResponse) -> bytes:
        """Raises `ValueError` for what cannot be unpacked."""
        most = self._request.most_bytes
        inflater = Inflater(response.headers.get("Content-Encoding", ""), most + 1)
        packed = 0
        body = bytearray()
        async for piece in response.content.iter_any():
            packed += len(piece)
            body += inflater.feed(piece)
            if packed > most or len(body) > most:
                raise EgressRefused("egress_too_large", limit_kb=most // 1024)
        inflater.end()
        return bytes(body)

    def _leave(self, hop: Hop) -> None:
        """Another origin gets nothing that may be a secret: neither headers nor a body."""
        if self._request.body is not None:
            raise EgressRefused("egress_redirect_body", place=hop.to.place)
        kept = {
            name: value
            for name, value in self._request.headers.items()
            if name.lower() in _CROSSES_ORIGINS
        }
        self._request = structs.replace(self._request, headers=kept)

    def _turn(self, status: int) -> None:
        """After a redirect a form's answer is fetched, as browsers do."""
        method = self._request.method
        if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
            kept = {
                name: value
                for name, value in self._request.headers.items()
                if not name.lower().startswith("content-")
            }
            self._request = structs.replace(self._request, method="GET", body=None, headers=kept)


def _pinned(hop: Hop) -> AbstractResolver:
    """A resolver that knows one name, and of it what was checked."""
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Pinned(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            if (host, port) != (hop.to.host, hop.to.port):
                raise OSError(f"{host}:{port} was not checked")
            return [
                ResolveResult(
                    hostname=host,
                    host=str(address),
                    port=port,
                    family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                    proto=0,
                    flags=socket.AI_NUMERICHOST,
                )
                for address in hop.addresses
            ]

        async def close(self) -> None:
            pass

    return Pinned()


def _plain(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or error
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
