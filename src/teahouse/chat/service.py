"""The one door of every adapter to conversations: receive, read, follow, stop."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from msgspec import UNSET, structs

from teahouse.agent.directory import Directory
from teahouse.agent.participant import Step
from teahouse.chat.ports import (
    ApiKey,
    Conversation,
    ConversationChanges,
    Files,
    Log,
    Page,
    Received,
    Run,
)
from teahouse.chat.story import retell
from teahouse.chat.titles import first_words
from teahouse.chat.worker import Worker
from teahouse.core.bus import Bus, Frame, Sink, Subscription
from teahouse.core.clock import Clock
from teahouse.core.errors import Conflict, Invalid, TooLarge
from teahouse.core.events import ConversationChanged, PostAdded, Usage
from teahouse.core.ids import new_id
from teahouse.core.messages import Blob, Part, Person, PersonId, Post, Text

MAX_TEXT = 200_000  # characters
MAX_TITLE = 120
MAX_CLIENT_ID = 128
MAX_FILES = 20
PAGE = 50
ENDED = ("done", "failed", "stopped")


class Chat:
    def __init__(
        self,
        log: Log,
        files: Files,
        directory: Directory,
        worker: Worker,
        *,
        bus: Bus,
        clock: Clock,
    ) -> None:
        self._log, self._files, self._directory = log, files, directory
        self._worker, self._bus, self._clock = worker, bus, clock

    async def receive(
        self,
        person: Person,
        *,
        text: str,
        conversation: str | None = None,
        agent: str | None = None,
        files: Sequence[str] = (),
        client_id: str | None = None,
        reply_to: str | None = None,
        model: str | None = None,
        key: ApiKey | None = None,
    ) -> Received:
        """Store what a person says and a run for whom it wakes; both are durable on return.

        `key`: what a program of theirs says it with, which pays for the answers.

        With `agent` a new conversation is opened. The same `client_id` again answers the same;
        with other words it is a `Conflict`, since these would be lost.
        """
        parts = await self._parts(person, text, files, client_id)
        if conversation is None:
            if agent is None:
                raise Invalid("no_conversation")
            where = await self._open(person, agent, "", _derived(person, agent, client_id))
        else:
            where = await self._log.conversation(person.id, conversation)
            if agent is not None and agent not in where.agents:
                raise Invalid("agent_elsewhere", agent=agent, conversation=conversation)
        post = Post(
            id=new_id("p"),
            conversation=where.id,
            parent=None,
            author=person.id,
            parts=parts,
            at=self._clock.now(),
            client_id=client_id,
            reply_to=reply_to,
        )
        runs = [self._run(post, participant, person, model, key) for participant in where.agents]
        if where.posts == 0 and not where.title and text.strip():
            # before the post: what fails once that is stored would keep it from being told
            changes = ConversationChanges(title=first_words(text))
            await self._log.change(person.id, where.id, changes)
        received = await self._log.receive(post, person.id, runs)
        if not received.fresh and received.post.parts != parts:
            raise Conflict("client_id_reused", client_id=client_id)
        if received.fresh:
            self._bus.publish(where.id, None, [PostAdded(post=received.post)])
            self._worker.wake()
        return received

    async def open(self, person: Person, *, agent: str, title: str = "") -> Conversation:
        """Start an empty direct conversation with an agent."""
        return await self._open(person, agent, title, new_id("c"))

    async def conversations(
        self,
        person: Person,
        *,
        before: str | None = None,
        limit: int = PAGE,
        archived: bool = False,
    ) -> Page[Conversation]:
        return await self._log.conversations(
            person.id, before=before, limit=limit, archived=archived
        )

    async def conversation(self, person: Person, conversation: str) -> Conversation:
        return await self._log.conversation(person.id, conversation)

    async def change(
        self, person: Person, conversation: str, changes: ConversationChanges
    ) -> Conversation:
        if changes.title is not UNSET:
            changes = structs.replace(changes, title=_title(changes.title), title_by="person")
        changed = await self._log.change(person.id, conversation, changes)
        self._bus.publish(changed.id, None, [ConversationChanged(title=changed.title)])
        return changed

    async def delete(self, person: Person, conversation: str) -> None:
        """Remove it for good. What was at work in it is cut, and has nowhere left to write."""
        await self._log.delete(person.id, conversation)
        for run in self._bus.running(conversation):
            await self._worker.stop(run)
        self._bus.forget(conversation)

    async def posts(
        self,
        person: Person,
        conversation: str,
        *,
        before: str | None = None,
        after: str | None = None,
        limit: int = PAGE,
    ) -> Page[Post]:
        return await self._log.posts(
            person.id, conversation, before=before, after=after, limit=limit
        )

    async def run(self, person: Person, run: str) -> Run:
        return await self._log.run(person.id, run)

    async def steps(self, person: Person, run: str) -> Sequence[Step]:
        return await self._log.steps(person.id, run)

    async def stop(self, person: Person, run: str) -> Run:
        """End a run and keep what it has said; one that has ended stays as it is."""
        found = await self._log.run(person.id, run)
        if found.status in ENDED:
            return found
        asked = await self._log.ask_stop(person.id, run)
        if asked.status == "running":
            await self._worker.stop(run)
            return await self._log.run(person.id, run)
        if asked.status == "stopped" and asked.post is not None:
            post = await self._log.post(person.id, asked.post)
            self._bus.publish(asked.conversation, run, retell(asked, post))
        return asked

    async def dismiss(self, person: PersonId) -> None:
        """Cut what is at work for somebody who was removed, since it has nowhere left to write, and
        delete the agents that were theirs alone."""
        await self._worker.stop_for(person)
        await self._directory.forget(person)

    async def subscribe(
        self, person: Person, conversation: str, sink: Sink, *, after: int | None
    ) -> tuple[Subscription, list[Frame]]:
        """Follow a conversation; the frames returned are to be sent before those of `sink`."""
        lasting, page = await self._read_latest(person, conversation)
        while lasting != self._bus.lasting(conversation):  # a post landed while we read
            lasting, page = await self._read_latest(person, conversation)
        latest = [PostAdded(post=post) for post in page.items]
        return self._bus.subscribe(conversation, sink, after=after, latest=latest)

    async def follow(
        self, person: Person, run: str, sink: Sink, *, after: int | None
    ) -> tuple[Subscription | None, list[Frame]]:
        """Follow one run. One that has ended is told again from its record, once."""
        found = await self._log.run(person.id, run)
        conversation = found.conversation

        def only_this(frames: Sequence[Frame]) -> None:
            mine = [frame for frame in frames if frame.run == run]
            if mine:
                sink(mine)

        subscription, backlog = self._bus.subscribe(conversation, only_this, after=after)
        mine = [frame for frame in backlog if frame.run == run]
        if mine or run in self._bus.running(conversation):
            return subscription, mine
        found = await self._log.run(person.id, run)
        if found.status not in ENDED:
            return subscription, mine
        subscription.close()
        assert found.post is not None  # an ended run has its post
        post = await self._log.post(person.id, found.post)
        return None, self._bus.frames(conversation, run, retell(found, post))

    async def _read_latest(self, person: Person, conversation: str) -> tuple[int, Page[Post]]:
        lasting = self._bus.lasting(conversation)
        return lasting, await self._log.posts(person.id, conversation, limit=PAGE)

    async def _open(
        self, person: Person, agent: str, title: str, conversation: str
    ) -> Conversation:
        record = await self._directory.record(person, agent)
        if record.archived:
            raise Invalid("agent_archived", name=record.name)
        now = self._clock.now()
        return await self._log.create(
            Conversation(
                id=conversation,
                kind="direct",
                title=_title(title) if title else "",
                title_by="person" if title else "none",
                agents=(record.id,),
                people=(person.id,),
                head=None,
                last=None,
                pinned=False,
                archived=False,
                posts=0,
                created_at=now,
                updated_at=now,
            )
        )

    async def _parts(
        self, person: Person, text: str, files: Sequence[str], client_id: str | None
    ) -> tuple[Part, ...]:
        if len(text) > MAX_TEXT:
            raise TooLarge("text_too_long", length=len(text), limit=MAX_TEXT)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Invalid("text_surrogates") from error
        if client_id is not None and not 0 < len(client_id) <= MAX_CLIENT_ID:
            raise Invalid("client_id_length", length=len(client_id), limit=MAX_CLIENT_ID)
        if len(files) > MAX_FILES:
            raise Invalid("too_many_files", count=len(files), limit=MAX_FILES)
        if not text.strip() and not files:
            raise Invalid("text_empty")
        records = [await self._files.get(person.id, file) for file in files]
        blobs = [
            Blob(file=record.id, media_type=record.media_type, name=record.name, size=record.size)
            for record in records
        ]
        return (*((Text(text=text),) if text.strip() else ()), *blobs)

    def _run(
        self, post: Post, participant: str, person: Person, model: str | None, key: ApiKey | None
    ) -> Run:
        return Run(
            id=new_id("r"),
            conversation=post.conversation,
            trigger=post.id,
            participant=participant,
            person=person.id,
            model=model,
            status="queued",
            attempt=0,
            stop_asked=False,
            post=None,
            usage=Usage(),
            problem=None,
            created_at=self._clock.now(),
            started_at=None,
            ended_at=None,
            key=key and key.id,
            allowance=key and key.budget,
        )


def _derived(person: Person, agent: str, client_id: str | None) -> str:
    """The new conversation's id. A repeat of the same `client_id` must find the first one."""
    if client_id is None:
        return new_id("c")
    digest = hashlib.sha256(f"{person.id}\0{agent}\0{client_id}".encode()).hexdigest()
    return f"c_{digest[:32]}"


def _title(title: str) -> str:
    cleaned = " ".join(title.split())
    if not cleaned or len(cleaned) > MAX_TITLE:
        raise Invalid("title_length", length=len(cleaned), limit=MAX_TITLE)
    return cleaned
