"""An HTTP client of our own server: REST, and following a run over server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from teahouse.core.codec import decode_event
from teahouse.core.errors import TeahouseError
from teahouse.core.events import Event, StreamEnd, Unknown
from teahouse.llm.sse import SseParser

if TYPE_CHECKING:
    import aiohttp

RUN_FILE = Path("run") / "server.json"
KNOCK_S = 2.0  # how long a server may take to say that it is there
COME_BACK_S = 30.0  # how long a server may be away in the middle of an answer
LOOK_AGAIN_S = 0.25
SILENCE_S = 60.0  # four heartbeats
CALL_S = 120.0
READ = 64 << 10


class Server(NamedTuple):
    url: str
    key: str


class Refused(Exception):
    """The server said no, in the reader's own words."""

    def __init__(self, status: int, code: str, message: str, hint: str | None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint = status, code, message, hint


class ServerGone(TeahouseError):
    pass


class _Frame(msgspec.Struct):
    seq: int
    event: msgspec.Raw


class Client:
    """Speaks for the owner. `home` is where to look again when the server goes away."""

    def __init__(self, server: Server, language: str, home: Path | None = None) -> None:
        self._server, self._language, self._home = server, language, home

    async def __aenter__(self) -> Client:
        import aiohttp

        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=CALL_S), headers={"Accept-Language": self._language}
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def key(self) -> str:
        return self._server.key

    async def get(self, path: str, **query: str | int | None) -> Any:
        return await self.call("GET", path, query=query)

    async def post(self, path: str, body: object = None) -> Any:
        return await self.call("POST", path, body)

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: dict[str, str | int | None] | None = None,
    ) -> Any:
        """Return the JSON that the server answers; raises `Refused` and `ServerGone`."""
        data = await self.raw(method, path, body, query)
        return json.loads(data) if data else None

    async def raw(
        self,
        method: str,
        path: str,
        body: object = None,
        query: dict[str, str | int | None] | None = None,
    ) -> bytes:
        import aiohttp

        given = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            async with self._session.request(
                method, self.url + path, json=body, params=given, headers=self._authorization
            ) as answer:
                data = await answer.read()
                if answer.status >= 400:
                    raise _refusal(answer.status, data)
                return data
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServerGone("server_gone", url=self.url, detail=error) from error

    async def items(self, path: str, **query: str | int | None) -> list[Any]:
        """All items of a list, page by page."""
        found: list[Any] = []
        while True:
            page = await self.get(path, **query)
            found += page["items"]
            if not page.get("next"):
                return found
            query["before"] = page["next"]

    async def follow(self, run: str) -> AsyncGenerator[Event | Unknown, None]:
        """Yield a run's events until its `stream_end`, also over a restart of the server."""
        after: int | None = None
        while True:
            with suppress(ServerGone):
                async for seq, event in self._events(run, after):
                    after = seq
                    yield event
                    if isinstance(event, StreamEnd):
                        return
            await self._find_again()

    async def _events(
        self, run: str, after: int | None
    ) -> AsyncGenerator[tuple[int, Event | Unknown], None]:
        import aiohttp

        query = {} if after is None else {"after": str(after)}
        timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_S)
        path = f"{self.url}/api/runs/{run}/events"
        try:
            async with self._session.get(
                path, params=query, headers=self._authorization, timeout=timeout
            ) as answer:
                if answer.status >= 400:
                    raise _refusal(answer.status, await answer.read())
                async for event in _parsed(answer.content):
                    yield event
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServerGone("server_gone", url=self.url, detail=error) from error

    async def _find_again(self) -> None:
        if self._home is None:
            raise ServerGone("server_gone", url=self.url, detail="")
        found = await find_again(self._home, COME_BACK_S)
        if found is None:
            raise ServerGone("server_gone", url=self.url, detail="")
        self._server = found

    @property
    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._server.key}"}


async def _parsed(content: aiohttp.StreamReader) -> AsyncGenerator[tuple[int, Any], None]:
    parser = SseParser()
    while data := await content.read(READ):
        for found in parser.feed(data):
            frame = msgspec.json.decode(found.data, type=_Frame)
            yield frame.seq, decode_event(bytes(frame.event))


def _refusal(status: int, data: bytes) -> Refused:
    try:
        error = cast("dict[str, Any]", json.loads(data)["error"])
        return Refused(status, error["code"], error["message"], error.get("hint"))
    except (ValueError, KeyError, TypeError):
        return Refused(status, "internal", f"HTTP {status}", None)


async def running(home: Path) -> Server | None:
    """The server that has this home, if one answers."""
    import aiohttp

    try:
        known = json.loads((home / RUN_FILE).read_text(encoding="utf-8"))
        found = Server(str(known["url"]), str(known["key"]))
        timeout = aiohttp.ClientTimeout(total=KNOCK_S)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"{found.url}/healthz") as answer,
        ):
            return found if answer.status == 200 else None
    except (OSError, ValueError, KeyError, TypeError, aiohttp.ClientError, TimeoutError):
        return None


async def find_again(home: Path, seconds: float) -> Server | None:
    """Look for the server that is about to have this home, for so long."""
    tries = max(1, round(seconds / LOOK_AGAIN_S))
    for _ in range(tries):
        await asyncio.sleep(LOOK_AGAIN_S)
        if (found := await running(home)) is not None:
            return found
    return None
