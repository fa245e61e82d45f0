"""One request to the gateway: who asks, for what, and how it is answered."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Coroutine, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from teahouse.chat.scopes import may_use_model
from teahouse.core.clock import SystemClock
from teahouse.core.errors import Invalid, NotAllowed
from teahouse.core.events import ReplyDone, StreamEvent
from teahouse.llm.errors import NoSuchModel
from teahouse.llm.usage import Caller
from teahouse.server.errors import known_error
from teahouse.server.gateway.attend import attend
from teahouse.server.gateway.dialect import Asked, Dialect, EmbedAsked
from teahouse.server.gateway.incoming import Gone
from teahouse.server.gateway.outgoing import Telling
from teahouse.server.gateway.refusals import refusal_for

if TYPE_CHECKING:
    from teahouse.chat.ports import Identity
    from teahouse.llm.embedding import Embedded
    from teahouse.server.gateway.incoming import Incoming
    from teahouse.server.gateway.kept_responses import KeptResponses
    from teahouse.server.gateway.outgoing import Outgoing
    from teahouse.server.ports import House, ModelEntry

_clock = SystemClock()
_STARTED = _clock.now()
T = TypeVar("T")


class Visit:
    def __init__(
        self,
        house: House,
        identity: Identity,
        incoming: Incoming,
        outgoing: Outgoing,
        *,
        request: str,
        kept: KeptResponses,
    ) -> None:
        self.house, self.identity = house, identity
        self.incoming, self.outgoing = incoming, outgoing
        self._request, key = request, identity.key
        self.shelf = kept.shelf(key.id if key else identity.person.id)

    async def talk(self, dialect: Dialect) -> None:
        """Ask a model or an agent and tell the reply, streamed or whole."""
        asked = dialect.read(await self.incoming.body())
        self.allow(asked.model)
        stream = self._stream(asked)
        voice = dialect.voice(asked, asked.model or "default")
        if not asked.stream:
            events = await self.attended(_all(stream))
            await self.outgoing.whole(voice.whole(events))
            return
        telling = Telling(self.outgoing, voice, dialect.stream_type)
        try:
            await attend(self.incoming.receive, telling.tell(stream), telling.beat)
        except Gone:
            raise
        except Exception as error:  # the status is out: the stream itself has to tell it
            if not self.outgoing.begun:
                raise
            headers, language = self.incoming.headers, self.house.language
            await telling.fail(refusal_for(known_error(error), headers, language))

    async def embed(self, asked: EmbedAsked) -> Embedded:
        self.allow(asked.model)
        work = self.house.inference.embed(asked.model, asked.request, self.caller())
        return await self.attended(work)

    def _stream(self, asked: Asked) -> AsyncGenerator[Sequence[StreamEvent], None]:
        if asked.loads:
            return _nothing()
        if not asked.request.messages:
            raise Invalid("nothing_asked")
        caller = self.caller(asked.conversation)
        return self.house.inference.stream(asked.model, asked.request, caller)

    def allow(self, model: str | None) -> None:
        """Raises `NotAllowed` for what the key's scopes do not name."""
        key = self.identity.key
        if key is not None and not may_use_model(key.scopes, model or ""):
            raise NotAllowed("key_scope_model", model=model or "-", scopes=", ".join(key.scopes))

    def caller(self, conversation: str | None = None) -> Caller:
        """`conversation` is the client's own word: it is only used to tell calls apart, within
        what one key asks."""
        key = self.identity.key
        return Caller(
            person=self.identity.person.id,
            key=key and key.id,
            allowance=key and key.budget,
            conversation=conversation and _apart(f"{key and key.id} {conversation}"),
            run=self._request,
            purpose="gateway",
        )

    async def models(self) -> Sequence[ModelEntry]:
        """Those that the key reaches."""
        found = await self.attended(self.house.inference.models(self.identity.person))
        key = self.identity.key
        return [one for one in found if key is None or may_use_model(key.scopes, one.id)]

    async def model(self, name: str) -> ModelEntry:
        """Raises `NoSuchModel` also for one that the key does not reach."""
        found = await self.models()
        for entry in found:
            if entry.id == name:
                return entry
        there = {entry.provider for entry in found if "/" in entry.id}  # an alias has none
        raise NoSuchModel(name, ", ".join(sorted(there)))

    def now(self) -> datetime:
        return _clock.now()

    def started(self) -> datetime:
        """The start of this process: the one time that stays the same for all who ask."""
        return _STARTED

    async def attended(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` while the client is there."""
        found: list[T] = []

        async def doing() -> None:
            found.append(await work)

        await attend(self.incoming.receive, doing())
        return found[0]


async def _nothing() -> AsyncGenerator[Sequence[StreamEvent], None]:
    yield [ReplyDone(reason="stop")]


async def _all(stream: AsyncGenerator[Sequence[StreamEvent], None]) -> list[StreamEvent]:
    return [event async for batch in stream for event in batch]


def _apart(words: str) -> str:
    return "g_" + hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:24]
