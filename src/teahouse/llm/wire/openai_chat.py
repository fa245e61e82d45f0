"""The dialect that most endpoints speak: `POST /chat/completions`, streamed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

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
from teahouse.llm.wire.openai_chat_body import chat_body
from teahouse.llm.wire.openai_chat_stream import ChatStream

_AFTER_FINISH_S = 5  # how long counts and `[DONE]` may take once the reply is whole
_LONGEST_BODY = 16 << 20


class OpenAIChat:
    """One endpoint. `profile` tells a model's quirks by its name."""

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
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "User-Agent": "teahouse",
            **({"Authorization": f"Bearer {key}"} if key else {}),
            **headers,
        }
        self._profile, self._timeouts = profile, timeouts
        self._transport, self._files = transport, files

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        profile = self._profile(request.model)
        origin = f"{self.name}/{request.model}"
        body = await chat_body(request, profile, origin=origin, files=self._files)
        estimate = estimate_messages(request.messages)
        reply = ChatStream(self.name, request.model, profile, input_estimate=estimate)
        async with await self._transport.send(self._post(body)) as exchange:
            reader = _Reader(self.name, exchange, reply)
            while not reader.ended:
                failure = await reader.step()
                events = reply.take()
                if events:
                    yield events
                if failure is not None:
                    raise failure
            await exchange.drain()

    async def models(self) -> Sequence[ModelInfo]:
        call = Call(
            provider=self.name,
            url=f"{self._base_url}/models",
            headers=self._headers,
            timeouts=self._timeouts,
        )
        async with await self._transport.send(call) as exchange:
            body = await exchange.read_up_to(_LONGEST_BODY)
        try:
            told: Any = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Malformed(self.name, is_page(body) or str(error)) from error
        fields = as_object(told)
        rows = as_objects(fields.get("data") or fields.get("models") or told)
        return [_info(row) for row in rows]

    def _post(self, body: JsonObject) -> Call:
        try:
            data = msgspec.json.encode(body)
        except UnicodeEncodeError:  # half characters out of some tool or file
            data = msgspec.json.encode(mend(body))
        return Call(
            provider=self.name,
            url=f"{self._base_url}/chat/completions",
            headers={
                "Content-Type": "application/json",
                "Accept": "text/event-stream",
                **self._headers,
            },
            body=data,
            timeouts=self._timeouts,
        )


class _Reader:
    """Reads the answer into the reply, one step for each read."""

    def __init__(self, provider: str, exchange: Exchange, reply: ChatStream) -> None:
        self.ended = False
        self._provider, self._exchange, self._reply = provider, exchange, reply
        self._framing: SseParser | _WholeBody | None = None

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
            self._framing = self._framing_of(data)
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

    def _framing_of(self, data: bytes) -> SseParser | _WholeBody:
        title = is_page(data)
        if title is not None:
            raise Malformed(self._provider, title)
        streamed = self._exchange.media_type == "text/event-stream"
        whole = data.lstrip()[:1] in {b"{", b"["} and not streamed
        return _WholeBody() if whole else SseParser()


class _WholeBody:
    """An endpoint that answers in one piece although it was asked to stream."""

    def __init__(self) -> None:
        self._body = bytearray()

    def feed(self, data: bytes) -> list[SseEvent]:
        self._body += data
        if len(self._body) > _LONGEST_BODY:
            raise EventTooLong(_LONGEST_BODY)
        return []

    def end(self) -> list[SseEvent]:
        return [SseEvent("", bytes(self._body))]


def _info(row: JsonObject) -> ModelInfo:
    window = next(
        (
            row[key]
            for key in ("context_window", "context_length", "max_model_len", "max_context_length")
            if isinstance(row.get(key), int)
        ),
        None,
    )
    return ModelInfo(
        id=str(row.get("id") or row.get("name") or ""), context_window=window, vision=_vision(row)
    )


def _vision(row: JsonObject) -> bool | None:
    capable = as_object(row.get("capabilities")).get("vision")
    if isinstance(capable, bool):
        return capable
    kinds = as_object(row.get("architecture")).get("input_modalities")
    return "image" in cast("list[Any]", kinds) if isinstance(kinds, list) else None
