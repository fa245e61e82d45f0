"""The only door from here to models' endpoints: HTTP over aiohttp, with clocks and clear errors.

aiohttp, because a streamed reply costs a fifth of what it costs with other clients; no vendor's
SDK, because they retry on their own and hide the bytes. Nothing is followed (redirects), nothing
is taken from the environment (proxies), and no answer is cut without an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING

from msgspec import Struct, field

from teahouse.core.clock import Clock, SystemClock
from teahouse.llm.errors import Malformed, Phase, StreamCut, TimedOut, Unreachable
from teahouse.llm.refusal import is_page, refusal_of
from teahouse.llm.settings import Timeouts

if TYPE_CHECKING:
    import aiohttp

_BUFFER = 1 << 18
_LONGEST_ERROR = 1 << 16
_DRAIN_BYTES, _DRAIN_S = 1 << 16, 0.05
_KEEP_ALIVE_S = 30
_AT_ONCE_S = 1.0  # whoever is cut later was being worked for


class Call(Struct, frozen=True, kw_only=True):
    """One HTTP request. `provider` names the endpoint in errors; a body makes it a POST."""

    provider: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    timeouts: Timeouts = Timeouts()


class Transport:
    """One per application; keeps one pool of connections. Close it when all calls have ended."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(self, call: Call) -> Exchange:
        """Send `call` and wait for the head of the answer. Close the exchange afterwards.

        Raises the `ProviderError` that fits a status other than 200, a web page, or silence. When
        cancelled it closes the socket.
        """
        import ssl

        import aiohttp

        begun = asyncio.get_running_loop().time()
        first = _Deadline.first(begun, call.timeouts)
        clock = asyncio.timeout_at(first.at)
        try:
            async with clock:
                response = await self._request(call)
        except aiohttp.ConnectionTimeoutError as error:
            raise TimedOut(call.provider, "connect", call.timeouts.connect_s) from error
        except TimeoutError as error:
            raise TimedOut(call.provider, first.phase, first.seconds) from error
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL, ssl.SSLError) as error:
            raise Unreachable(call.provider, _plain(error)) from error
        except (aiohttp.ClientError, ConnectionError, ValueError) as error:
            raise _broken(call.provider, error) from error
        exchange = Exchange(call, response, begun)
        try:
            await self._check(call, exchange)
        except BaseException:
            exchange.close()
            raise
        return exchange

    async def _request(self, call: Call) -> aiohttp.ClientResponse:
        """Ask anew where a kept connection turns out to be closed on the other side: it shows at
        once, before the head of an answer. Each try takes one such out of the pool."""
        import aiohttp

        time = asyncio.get_running_loop().time
        timeout = aiohttp.ClientTimeout(total=None, connect=call.timeouts.connect_s)
        while True:
            way, begun = _Way(), time()
            try:
                return await self._open().request(
                    "GET" if call.body is None else "POST",
                    call.url,
                    data=call.body,
                    headers={"Accept-Encoding": "identity", **call.headers},
                    allow_redirects=False,
                    timeout=timeout,
                    trace_request_ctx=way,
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not way.kept or time() - begun > _AT_ONCE_S:
                    raise

    async def _check(self, call: Call, exchange: Exchange) -> None:
        if exchange.status == 200:
            if exchange.media_type in {"text/html", "application/xhtml+xml"}:
                body = await exchange.read_up_to(_LONGEST_ERROR)
                raise Malformed(call.provider, is_page(body) or "HTML")
            return
        body = await exchange.read_up_to(_LONGEST_ERROR)
        now = self._clock.now()
        raise refusal_of(call.provider, exchange.status, exchange.headers, body, now)

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            self._loop = loop
            trace = aiohttp.TraceConfig()
            trace.on_connection_reuseconn.append(_note_way)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                read_bufsize=_BUFFER,
                trust_env=False,
                trace_configs=[trace],
            )
        return self._session


class _Way(Struct):
    """How a request goes: whether on a connection that has served before."""

    kept: bool = False


async def _note_way(_: object, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx.kept = True


class Exchange:
    """An answer being read. An async context manager: leaving it closes the socket at once,
    unless the answer has been read to its end, and then the connection may serve again."""

    def __init__(self, call: Call, response: aiohttp.ClientResponse, begun: float) -> None:
        self._call, self._response, self._begun = call, response, begun
        self._time = asyncio.get_running_loop().time
        self._heard = self._said = False
        self._broken: BaseException | None = None
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self.media_type: str = response.content_type

    async def __aenter__(self) -> Exchange:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._response.close()  # harmless when the connection has gone back to the pool

    def heard(self) -> None:
        """The first event has come: from now on silence is measured between reads."""
        self._heard = True

    def said(self) -> None:
        """Something of the reply has come. What comes before that is only a receipt, and the
        silence after it may last as long as if nothing had come."""
        self._said = True

    async def read(self, at_most_s: float | None = None) -> bytes:
        """Return what the network brought next, empty at the end. Raises `ProviderError`.

        `at_most_s` shortens the wait where little is still to come.
        """
        import aiohttp

        if self._broken is not None:
            raise _broken(self._call.provider, self._broken) from self._broken
        deadline = self._deadline(at_most_s)
        clock = asyncio.timeout_at(deadline.at)
        try:
            async with clock:
                return await self._response.content.readany()
        except TimeoutError as error:
            if not clock.expired():
                raise
            raise TimedOut(self._call.provider, deadline.phase, deadline.seconds) from error
        except (aiohttp.ClientError, ConnectionError, RuntimeError) as error:
            self._broken = error
            rest = self._rest()
            if not rest:
                raise _broken(self._call.provider, error) from error
            return rest

    async def read_up_to(self, limit: int) -> bytes:
        """Return the start of the body, at most about `limit` bytes."""
        body = b""
        while len(body) < limit and (data := await self.read()):
            body += data
        return body

    async def drain(self) -> None:
        """After the last event: take what little may follow, so that the connection can go back."""
        import aiohttp

        if self._broken is not None:
            return
        left = _DRAIN_BYTES
        try:
            async with asyncio.timeout(_DRAIN_S):
                while left > 0 and (data := await self._response.content.readany()):
                    left -= len(data)
        except (TimeoutError, aiohttp.ClientError, ConnectionError):
            pass  # then it is closed instead

    def _deadline(self, at_most_s: float | None) -> _Deadline:
        timeouts = self._call.timeouts
        first = _Deadline.first(self._begun, timeouts)
        if not self._heard:
            return first
        silence = timeouts.idle_s if at_most_s is None else min(at_most_s, timeouts.idle_s)
        idle = _Deadline(self._time() + silence, "idle", silence)
        if at_most_s is None and not self._said and idle.at < first.at:
            return first
        return idle.or_total(self._begun, timeouts)

    def _rest(self) -> bytes:
        """What had arrived before the connection broke.

        aiohttp lets the error overtake the bytes that came before it; a reader who was promised
        the part that is there must get those first.
        """
        content = self._response.content
        content.set_exception(None)  # pyright: ignore[reportArgumentType]
        return content.read_nowait()


class _Deadline(Struct, frozen=True):
    at: float
    phase: Phase
    seconds: float

    @classmethod
    def first(cls, begun: float, timeouts: Timeouts) -> _Deadline:
        first = cls(begun + timeouts.first_event_s, "first_event", timeouts.first_event_s)
        return first.or_total(begun, timeouts)

    def or_total(self, begun: float, timeouts: Timeouts) -> _Deadline:
        total = timeouts.total_s
        if total is None or begun + total > self.at:
            return self
        return _Deadline(begun + total, "total", total)


def _broken(provider: str, error: BaseException) -> StreamCut | Malformed | Unreachable:
    import aiohttp

    match error:
        case aiohttp.InvalidURL() | ValueError():
            return Unreachable(provider, _plain(error))
        case aiohttp.ClientResponseError():
            return Malformed(provider, _plain(error))
        case aiohttp.ClientPayloadError():
            return StreamCut(provider)  # the library's words are about its own encodings
        case _:
            return StreamCut(provider, _plain(error))


def _plain(error: BaseException) -> str:
    """The system's own words, without the library's wrapping where there are any."""
    inner = getattr(error, "os_error", None) or error
    return getattr(inner, "strerror", None) or str(inner)
