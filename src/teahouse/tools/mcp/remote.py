"""The HTTP client that the SDK is given: it connects to what `egress` has checked, and bounds what
comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, Final, cast

import httpcore2
import httpx2
from msgspec import structs

from teahouse.core.errors import TeahouseError
from teahouse.tools.egress import Egress, EgressRules
from teahouse.tools.mcp.pace import Pace
from teahouse.tools.mcp.ports import House
from teahouse.tools.mcp.settings import ServerSettings
from teahouse.tools.web_address import read_url

_TIMES: Final = httpx2.Timeout(30.0, read=None)  # every call has a deadline of its own
_CONNECTIONS: Final = 32
_BYTES: Final = 4 << 20  # within a quarter of a second


def client(settings: ServerSettings, house: House, auth: httpx2.Auth | None) -> httpx2.AsyncClient:
    """For one server; its login, if it has one, goes through the same door."""
    assert settings.url is not None
    egress = Egress(_also(house.egress, settings.url))
    return httpx2.AsyncClient(
        headers=dict(settings.headers),
        auth=auth,
        timeout=_TIMES,
        follow_redirects=False,
        trust_env=False,
        transport=_Transport(egress, house.limits.message),
    )


def _also(rules: Callable[[], EgressRules], url: str) -> Callable[[], EgressRules]:
    """The owner's rules, and the place of the server itself: whoever may enter a server may enter a
    command, which reaches everything."""
    own: Collection[str] = ()
    with suppress(ValueError):
        own = (read_url(url).place,)

    def asked() -> EgressRules:
        found = rules()
        return structs.replace(found, allow=(*found.allow, *own))

    return asked


class _Door(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that were checked, not to a name that may lead elsewhere by now."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the interface has it so
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        place = f"[{host}]" if ":" in host else host
        try:
            hop = await self._egress.admit(f"http://{place}:{port}/")
        except TeahouseError as error:
            raise httpcore2.ConnectError(str(error)) from error
        failure: Exception = httpcore2.ConnectError(place)
        for address in hop.addresses:
            try:
                return await self._inner.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Transport(httpx2.AsyncHTTPTransport):
    def __init__(self, egress: Egress, most: int) -> None:
        super().__init__(trust_env=False)
        self._most = most
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_CONNECTIONS,
            keepalive_expiry=30.0,
            network_backend=_Door(egress),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        stream: Any = response.stream
        endless = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _Bounded(stream, None if endless else self._most)
        return response


class _Bounded(httpx2.AsyncByteStream):
    """Of an endless stream the SDK bounds each event; here its speed is bounded."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int | None) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pace, left = Pace(_BYTES), self._most
        async for chunk in self._stream:
            if left is not None:
                left -= len(chunk)
                if left < 0:
                    raise httpx2.StreamError(f"more than {self._most} bytes")
            # small events cost more than their bytes
            await pace.take(max(len(chunk), 4096 * chunk.count(b"\ndata:")))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
