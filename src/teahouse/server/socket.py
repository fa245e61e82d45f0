"""The socket: a page's subscriptions to conversations, and what it may ask without a request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, assert_never

import msgspec
from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketException

from teahouse.core import errors
from teahouse.core.bus import Frame, Subscription
from teahouse.core.codec import encode
from teahouse.core.events import RunFailed
from teahouse.core.messages import ConversationId, Person
from teahouse.core.tasks import Supervisor
from teahouse.server.credentials import Credential
from teahouse.server.errors import known_error, reader_language
from teahouse.server.frames import (
    Inbound,
    Ping,
    Pong,
    Refused,
    Stop,
    Subscribe,
    Typing,
    Unsubscribe,
)
from teahouse.server.pending import Pending
from teahouse.server.ports import House
from teahouse.server.readers import ENDED, TOO_SLOW, Readers

log = logging.getLogger(__name__)

MAX_FRAME = 64 << 10
MAX_SUBSCRIPTIONS = 256
CLOSE_S = 5.0

_inbound = msgspec.json.Decoder(Inbound)


@websocket("/ws")
async def ws(socket: WebSocket[Any, Any, Any]) -> None:
    state = socket.app.state
    reader = Reader(socket, state.house, state.readers, state.supervisor)
    await socket.accept()
    await reader.serve()


class Reader:
    """One open socket. A writer task lives only while something waits to be sent."""

    def __init__(
        self,
        socket: WebSocket[Any, Any, Any],
        house: House,
        readers: Readers,
        supervisor: Supervisor,
    ) -> None:
        self._socket, self._house = socket, house
        self._readers, self._supervisor = readers, supervisor
        self._person: Person = socket.scope["user"].person
        self._credential: Credential = socket.scope["auth"]
        self._accept_language = socket.headers.get("accept-language")
        self._pending = Pending()
        self._subscriptions: dict[ConversationId, Subscription] = {}
        self._writing = self._closed = False
        self._deadline = asyncio.timeout(None)

    async def serve(self) -> None:
        """Hear the reader out until it goes, or was sent away and has had time to take it in."""
        try:
            async with self._deadline:
                await self._serve()
        except TimeoutError:
            log.debug("A reader did not take its close")
        finally:
            self._forget()

    async def _serve(self) -> None:
        leave = self._readers.enter(self._credential, self._person, self.end)
        try:
            while True:
                message: Any = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                if not self._closed:
                    await self._hear(message.get("text"))
        finally:
            leave()

    def push(self, frames: Sequence[Frame], *, owed: bool = False) -> None:
        """Take frames from the bus; never waits."""
        if self._closed:
            return
        if not self._pending.add(frames, owed=owed):
            self.end(TOO_SLOW)
        elif not self._writing and self._pending:
            self._writing = True
            self._supervisor.start("socket writer", self._write())

    def end(self, code: int) -> None:
        """Close with `code`; nothing more is sent from now on."""
        if not self._closed:
            self._forget()
            self._deadline.reschedule(asyncio.get_running_loop().time() + CLOSE_S)
            self._supervisor.start("socket close", self._close(code))

    def _forget(self) -> None:
        self._closed = True
        self._pending.clear()
        for subscription in self._subscriptions.values():
            subscription.close()
        self._subscriptions.clear()

    async def _write(self) -> None:
        send = self._socket.send
        try:
            while self._pending and not self._closed:
                frame = self._pending.take()
                await send({"type": "websocket.send", "text": frame.data.decode(), "bytes": None})
        except (OSError, RuntimeError, WebSocketException):
            self._forget()  # the peer is gone; `serve` learns of it by itself
        finally:
            self._writing = False

    async def _close(self, code: int) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._socket.close(code)
        except (OSError, RuntimeError, WebSocketException, TimeoutError):
            log.debug("A socket went before it was closed with %s", code)

    def _say(self, value: Any) -> None:
        self.push([Frame(0, encode(value), droppable=False, run=None)])

    async def _hear(self, text: str | None) -> None:
        person = await self._readers.now(self._credential, self._person)
        if person is None:
            self.end(ENDED)
            return
        ref = None
        try:
            frame = _read(text)
            ref = frame.ref
            await self._obey(person, frame)
        except Exception as error:  # the top of a frame: nobody above could answer it
            known = known_error(error)
            language = reader_language(self._accept_language, self._house.language)
            ref = ref or _ref_of(text)
            self._say(Refused(event=RunFailed(problem=known.problem(language), ref=ref)))

    async def _obey(self, person: Person, frame: Inbound) -> None:
        chat = self._house.chat
        match frame:
            case Subscribe():
                await self._subscribe(person, frame)
            case Unsubscribe():
                subscription = self._subscriptions.pop(frame.conversation, None)
                if subscription is not None:
                    subscription.close()
            case Ping():
                self._say(Pong(ref=frame.ref))
            case Typing():
                await chat.conversation(person, frame.conversation)
            case Stop():
                await chat.stop(person, frame.run)
            case _:
                assert_never(frame)

    async def _subscribe(self, person: Person, frame: Subscribe) -> None:
        old = self._subscriptions.pop(frame.conversation, None)
        if old is not None:
            old.close()
        if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise errors.Invalid("too_many_subscriptions", limit=MAX_SUBSCRIPTIONS)
        tap = _Tap(self)
        subscription, backlog = await self._house.chat.subscribe(
            person, frame.conversation, tap.push, after=frame.after
        )
        if self._closed:
            subscription.close()
            return
        self._subscriptions[frame.conversation] = subscription
        tap.open(backlog)


class _Tap:
    """Holds back what happens while the backlog is still being read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._held: Pending | None = Pending()

    def push(self, frames: Sequence[Frame]) -> None:
        if self._held is None:
            self._reader.push(frames)
        elif not self._held.add(frames):
            self._reader.end(TOO_SLOW)

    def open(self, backlog: Sequence[Frame]) -> None:
        held, self._held = self._held, None
        self._reader.push(backlog, owed=True)
        while held:
            self._reader.push([held.take()])


def _read(text: str | None) -> Inbound:
    if text is None:
        raise errors.Invalid("frame_not_text")
    try:
        return _inbound.decode(text)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise errors.Invalid("frame_unknown", detail=error) from error


class _Ref(msgspec.Struct):
    ref: str | None = None


def _ref_of(text: str | None) -> str | None:
    """The `ref` of a frame that could not be read otherwise."""
    try:
        return msgspec.json.decode(text or "", type=_Ref).ref
    except (msgspec.MsgspecError, RecursionError):
        return None
