"""Every model and agent by name, for the programs that the gateway lets in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial

from teahouse.agent.directory import Directory
from teahouse.agent.participant import Participants, Step, Turn
from teahouse.app.models import HouseModels
from teahouse.chat.scopes import AGENT
from teahouse.core.errors import Invalid, NotFound
from teahouse.core.events import (
    PartDelta,
    PartDone,
    Reason,
    ReplyDone,
    RunEvent,
    StreamEvent,
)
from teahouse.core.ids import new_id
from teahouse.core.messages import Ending, Person, Text, Thinking
from teahouse.core.tasks import Push, pulled
from teahouse.llm.client import Client
from teahouse.llm.embedding import Embedded, EmbedRequest
from teahouse.llm.errors import NoModelChosen
from teahouse.llm.pictures import Painted, PictureRequest
from teahouse.llm.provider import ModelRequest
from teahouse.llm.speech import Sound, SpeechRequest, Transcribed, TranscriptionRequest
from teahouse.llm.usage import Caller
from teahouse.server.ports import ModelEntry

Batch = Sequence[StreamEvent]

_REASONS: dict[Ending, Reason] = {
    "length": "length",
    "limit": "length",
    "filtered": "content_filter",
}


class HouseInference:
    """`participants` is None where there are only models; `default` names the one for whoever
    names none."""

    def __init__(
        self,
        client: Client,
        models: HouseModels,
        directory: Directory,
        participants: Participants | None,
        default: Callable[[], str | None],
    ) -> None:
        self._client, self._models = client, models
        self._directory, self._participants = directory, participants
        self._default = default

    def stream(
        self, model: str | None, request: ModelRequest, caller: Caller, /
    ) -> AsyncGenerator[Batch, None]:
        name = self._named(model)
        if model and name.startswith(AGENT):  # what a key may do was judged by what it named
            work = partial(self._take_turn, name.removeprefix(AGENT), request, caller)
            return pulled(work)
        return self._client.stream(name, request, caller=caller)

    async def embed(self, model: str, request: EmbedRequest, caller: Caller, /) -> Embedded:
        return await self._client.embed(model, request, caller=caller)

    def speak(
        self, model: str, request: SpeechRequest, caller: Caller, /
    ) -> AsyncGenerator[Sound, None]:
        return self._client.speak(model, request, caller=caller)

    async def transcribe(
        self, model: str, request: TranscriptionRequest, caller: Caller, /
    ) -> Transcribed:
        return await self._client.transcribe(model, request, caller=caller)

    async def paint(self, model: str, request: PictureRequest, caller: Caller, /) -> Painted:
        return await self._client.paint(model, request, caller=caller)

    async def models(self, person: Person, /) -> Sequence[ModelEntry]:
        there = await self._directory.list(person) if self._participants else ()
        agents = [ModelEntry(id=f"{AGENT}{agent.name}", provider="agent") for agent in there]
        return [*await self._models.list(), *agents]

    def _named(self, model: str | None) -> str:
        """Raises `NoModelChosen`."""
        name = model or self._default()
        if not name:
            raise NoModelChosen
        return name

    async def _take_turn(
        self, name: str, request: ModelRequest, caller: Caller, push: Push[Batch]
    ) -> None:
        """An agent's turn without a conversation: the program keeps the history itself."""
        if self._participants is None or caller.person is None:
            raise NotFound("agent_unknown", agent=name)
        if request.tools:
            raise Invalid("agent_has_own_tools", agent=name)
        agent = await self._directory.named(caller.person, name)
        participant = await self._participants.find(agent.id, person=caller.person, model=None)
        turn = Turn(
            run=caller.run or new_id("r"),
            conversation=None,
            person=caller.person,
            messages=request.messages,
            wishes=request,
            caller=caller,
        )
        heard = _Heard()

        async def emit(events: Sequence[RunEvent]) -> None:
            if batch := heard.of(events):
                await push(batch)

        reply = await participant.respond(turn, _NoJournal(), emit)
        reason = _REASONS.get(reply.ending, "stop")
        await push((ReplyDone(reason=reason, usage=reply.usage),))


class _NoJournal:
    """Whoever asks through the gateway asks again when it was cut."""

    async def append(self, step: Step, /) -> None:
        pass


class _Heard:
    """A run of several replies as one: its tools are the agent's own affair."""

    def __init__(self) -> None:
        self._taken = 0  # indices of the replies before
        self._index: dict[int, int] = {}  # of this reply's parts
        self._spoken = False
        self._apart: dict[int, str] = {}  # what parts a text from those before

    def of(self, events: Sequence[RunEvent]) -> list[StreamEvent]:
        return [heard for event in events if (heard := self._one(event)) is not None]

    def _one(self, event: RunEvent) -> StreamEvent | None:
        match event:
            case PartDelta(kind="text" | "thinking"):
                first = event.index not in self._index
                index = self._place(event.index, text=event.kind == "text")
                lead = self._apart.get(index, "") if first else ""
                return PartDelta(index=index, kind=event.kind, delta=lead + event.delta)
            case PartDone(part=Text() | Thinking() as part):
                index = self._place(event.index, text=isinstance(part, Text))
                lead = self._apart.get(index, "")
                told = Text(text=lead + part.text) if lead and isinstance(part, Text) else part
                return PartDone(index=index, part=told)
            case ReplyDone():
                self._taken += len(self._index)
                self._spoken = self._spoken or bool(self._index)
                self._index = {}
                return None
            case _:
                return None

    def _place(self, index: int, *, text: bool) -> int:
        place = self._index.setdefault(index, self._taken + len(self._index))
        if text and self._spoken:
            self._apart.setdefault(place, "\n\n")
        return place
