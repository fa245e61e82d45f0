"""The answers of the gateway: one piece with its status, or a stream that has begun or not."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from teahouse.core.errors import TeahouseError
from teahouse.core.events import StreamEvent
from teahouse.server.gate import Send
from teahouse.server.gateway.attend import BEAT_EVERY_S
from teahouse.server.gateway.dialect import Refusal, Voice

JSON = "application/json"


class Outgoing:
    """`begun` once the status is out: from then on an error can only be told in the stream."""

    def __init__(self, send: Send, request: str) -> None:
        self.begun = False
        self._send = send
        self._headers = {
            "cache-control": "no-store",
            "x-request-id": request,
            "request-id": request,
        }

    async def whole(
        self,
        body: bytes,
        media_type: str = JSON,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        await self.start(media_type, status, {"content-length": str(len(body)), **(headers or {})})
        await self.send(body, more=False)

    async def refuse(self, body: bytes, refusal: Refusal, error: TeahouseError) -> None:
        headers = {"x-should-retry": "true" if retryable(error) else "false"}
        wait = getattr(error, "retry_after_s", None)
        if wait is not None:
            headers["retry-after"] = str(math.ceil(wait))
        if "allow" in error.values:
            headers["allow"] = str(error.values["allow"])
        if refusal.status == 401:
            headers["www-authenticate"] = "Bearer"
        await self.whole(body, status=refusal.status, headers=headers)

    async def start(
        self, media_type: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        self.begun = True
        told = {"content-type": media_type, **self._headers, **(headers or {})}
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in told.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def send(self, body: bytes, *, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


class Telling:
    """A stream on its way: whatever comes first, an event or a sign of life, sets its status."""

    def __init__(self, outgoing: Outgoing, voice: Voice, media_type: str) -> None:
        self._outgoing, self._voice, self._media_type = outgoing, voice, media_type
        self._time = asyncio.get_running_loop().time
        self._said_at = self._time()
        self._saying = asyncio.Lock()
        self._began = False

    async def tell(self, stream: AsyncGenerator[Sequence[StreamEvent], None]) -> None:
        async with aclosing(stream) as batches:
            async for batch in batches:
                said = self._begin() + self._voice.tell(batch)
                if said or not self._outgoing.begun:
                    await self._say(said)
        await self._outgoing.send(b"", more=False)

    async def beat(self) -> None:
        """Nothing while something else is being said, or has been of late."""
        quiet = self._time() - self._said_at >= BEAT_EVERY_S - 0.1
        if not self._saying.locked() and (quiet or not self._outgoing.begun):
            await self._say(self._begin() + self._voice.beat())

    async def fail(self, refusal: Refusal) -> None:
        await self._outgoing.send(self._voice.fail(refusal), more=False)

    def _begin(self) -> bytes:
        """First of all that the voice says: some count their events, or list what came."""
        begun, self._began = self._began, True
        return b"" if begun else self._voice.begin()

    async def _say(self, said: bytes) -> None:
        async with self._saying:
            if not self._outgoing.begun:
                await self._outgoing.start(self._media_type, headers={"x-accel-buffering": "no"})
            if said:
                await self._outgoing.send(said)
            self._said_at = self._time()


def retryable(error: TeahouseError) -> bool:
    """Whether the same request may do better later."""
    told = getattr(error, "retryable", False)
    return bool(told) or getattr(error, "retry_after_s", None) is not None
