"""What the dialects share of asking over HTTP: the request, reading the answer, model lists.

A dialect says what to send where and who understands the answer; from there on all go one way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from teahouse.core.errors import ProviderError
from teahouse.core.events import StreamEvent
from teahouse.core.messages import JsonObject
from teahouse.llm.errors import Malformed, StreamCut, TimedOut
from teahouse.llm.media import BlobReader
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.refusal import is_page
from teahouse.llm.settings import Timeouts
from teahouse.llm.sse import EventTooLong, SseEvent, SseParser
from teahouse.llm.surrogates import mend
from teahouse.llm.tokens import estimate_messages
from teahouse.llm.transport import Call, Exchange, Transport
from teahouse.llm.wire.fields import as_object, as_objects
from teahouse.llm.wire.reply import Reply

_AFTER_FINISH_S = 5  # how long counts and a last event may take once the reply is whole
_LONGEST_BODY = 16 << 20
_LONGEST_WHOLE = 256 << 20


class Framing(Protocol):
    """Cuts what the network brings into events."""

    def feed(self, data: bytes, /) -> list[SseEvent]: ...
    def end(self) -> list[SseEvent]: ...


class Asked(Struct, frozen=True):
    """A request in a dialect's form; `path` goes behind the base URL."""

    path: str
    body: JsonObject
    reply: Reply


class HttpWire(ABC):
    """One endpoint. `profile` tells a model's quirks by its name."""

    models_path = "/models"
    accept = "text/event-stream"

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        key: str | None,
        headers: Mapping[str, str],
        profile: Callable[[str], Profile],
        timeouts: Timeouts,
        transport: Transport,
        files: BlobReader | None = None,
    ) -> None:
        self.name = name
        self._base_url = self._base(base_url.rstrip("/"))
        self._headers = {"User-Agent": "teahouse", **self._identity(key), **headers}
        self._profile, self._timeouts = profile, timeouts
        self._transport, self._files = transport, files

    @abstractmethod
    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        """Put the request into the dialect's form."""

    @abstractmethod
    def _info(self, row: JsonObject) -> ModelInfo | None:
        """Read one row of the list of models; None for one that cannot talk."""

    def _base(self, base_url: str) -> str:
        """`base_url` as the paths go behind it, whichever way its owner wrote it."""
        return base_url

    def _identity(self, key: str | None) -> dict[str, str]:
        """The headers that say who asks."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _framing(self, exchange: Exchange, data: bytes) -> Framing:
        """Chosen by the first bytes: some answer in one piece although asked to stream."""
        streamed = exchange.media_type == "text/event-stream"
        whole = data.lstrip()[:1] in {b"{", b"["} and not streamed
        return WholeBody() if whole else SseParser()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        estimate = estimate_messages(request.messages)
        asked = await self._ask(request, self._profile(request.model), estimate)
        reply = asked.reply
        async with await self._transport.send(self._post(asked)) as exchange:
            reader = _Reader(self.name, exchange, reply, self._framing)
            while not reader.ended:
                failure = await reader.step()
                events = reply.take()
                if events:
                    exchange.said()
                    yield events
                if failure is not None:
                    raise failure
            await exchange.drain()

    def continues(self, model: str) -> bool:
        """Whether a reply of `model` that was cut may be gone on with: `llm.resume`."""
        return self._profile(model).continues != "no"

    async def models(self) -> Sequence[ModelInfo]:
        told = await self._fetch(self._call(self.models_path))
        fields = as_object(told)
        rows = as_objects(fields.get("data") or fields.get("models") or told)
        return [info for row in rows if (info := self._info(row)) is not None]

    async def _fetch(self, call: Call) -> Any:
        async with await self._transport.send(call) as exchange:
            body = await exchange.read_up_to(_LONGEST_BODY)
        return self._decoded(body)

    async def _whole(self, call: Call) -> tuple[bytes, str]:
        """An answer in one piece, which may hold pictures or many vectors, and its media type."""
        async with await self._transport.send(call) as exchange:
            body = bytearray()
            while data := await exchange.read():
                exchange.heard()
                exchange.said()
                body += data
                if len(body) > _LONGEST_WHOLE:
                    raise Malformed(self.name, f"> {_LONGEST_WHOLE} bytes")
            return bytes(body), exchange.media_type

    def _decoded(self, body: bytes) -> Any:
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(self.name, is_page(body) or str(error)) from error

    def _post(self, asked: Asked) -> Call:
        return self._call(asked.path, asked.body)

    def _call(self, path: str, body: JsonObject | None = None) -> Call:
        sent = {"Content-Type": "application/json", "Accept": self.accept} if body else {}
        return Call(
            provider=self.name,
            url=f"{self._base_url}{path}",
            headers={**sent, **self._headers},
            body=_encoded(body) if body else None,
            timeouts=self._timeouts,
        )


def _encoded(body: JsonObject) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half characters out of some tool or file
        return msgspec.json.encode(mend(body))


class _Reader:
    """Reads the answer into the reply, one step for each read."""

    def __init__(
        self,
        provider: str,
        exchange: Exchange,
        reply: Reply,
        choose: Callable[[Exchange, bytes], Framing],
    ) -> None:
        self.ended = False
        self._provider, self._exchange, self._reply = provider, exchange, reply
        self._choose = choose
        self._framing: Framing | None = None

    async def step(self) -> ProviderError | None:
        """Read once. An error is returned, not raised, so that what came before it gets out."""
        try:
            await self._read()
        except EventTooLong as error:
            failure: ProviderError = Malformed(self._provider, str(error))
        except (StreamCut, TimedOut) as error:
            if self._reply.finished and not self.ended:  # only counts are lost
                self._end()
                return None
            failure = error
        except ProviderError as error:
            failure = error
        else:
            return None
        self._reply.keep()
        return failure

    async def _read(self) -> None:
        wait = _AFTER_FINISH_S if self._reply.finished else None
        data = await self._exchange.read(wait)
        if self._framing is None and (data.strip() or not data):
            title = is_page(data)
            if title is not None:
                raise Malformed(self._provider, title)
            self._framing = self._choose(self._exchange, data)
        if self._framing is None:
            return
        for event in self._framing.feed(data) if data else self._framing.end():
            self._exchange.heard()
            self._reply.feed(event, last=not data)
            if self._reply.done:
                break
        if self._reply.done or not data:
            self._end()

    def _end(self) -> None:
        self.ended = True
        self._reply.end()


class WholeBody:
    """The framing of an answer in one piece."""

    def __init__(self) -> None:
        self._body = bytearray()

    def feed(self, data: bytes) -> list[SseEvent]:
        self._body += data
        if len(self._body) > _LONGEST_BODY:
            raise EventTooLong(_LONGEST_BODY)
        return []

    def end(self) -> list[SseEvent]:
        return [SseEvent("", bytes(self._body))]
