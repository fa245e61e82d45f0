"""A small house for the store's contract: people, conversations and posts with what they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from teahouse.agent.participant import ReplyStep, ResultStep
from teahouse.agent.ports import AgentRecord, Agents, Approvals
from teahouse.chat.ports import (
    Conversation,
    Files,
    Lease,
    Log,
    People,
    Received,
    Run,
    RunQueue,
    Secrets,
)
from teahouse.core.clock import Clock
from teahouse.core.events import Usage
from teahouse.core.ids import new_id
from teahouse.core.messages import (
    Ending,
    Message,
    Part,
    Person,
    PersonRole,
    Post,
    Text,
    ToolCall,
    ToolResult,
)


class AnyStore(Protocol):
    @property
    def log(self) -> Log: ...
    @property
    def queue(self) -> RunQueue: ...
    @property
    def people(self) -> People: ...
    @property
    def agents(self) -> Agents: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def files(self) -> Files: ...
    @property
    def secrets(self) -> Secrets: ...
    @property
    def boot(self) -> int: ...


OpenAgain: TypeAlias = Callable[[], AbstractAsyncContextManager[AnyStore]]
"""Opens the store of this test: a fresh one at first, then the same with what it holds."""

Kept: TypeAlias = Callable[[bytes], bool]
"""Whether these bytes are anywhere in what the store keeps outside of the process."""


class House:
    """Makes values and puts them into a store, so that a test says only what it is about."""

    def __init__(self, store: AnyStore, clock: Clock) -> None:
        self.store, self.clock = store, clock

    async def person(self, name: str = "Mei", role: PersonRole = "member") -> Person:
        person = Person(id=new_id("u"), name=name, role=role, epoch=1, created_at=self.clock.now())
        await self.store.people.add(person, None)
        return person

    async def talk(self, *people: Person, agents: Sequence[str] = ("a_1",)) -> Conversation:
        """A conversation of these people with these agents."""
        now = self.clock.now()
        return await self.store.log.create(
            Conversation(
                id=new_id("c"),
                kind="direct",
                title="",
                title_by="none",
                agents=tuple(agents),
                people=tuple(person.id for person in people),
                head=None,
                last=None,
                pinned=False,
                archived=False,
                posts=0,
                created_at=now,
                updated_at=now,
            )
        )

    def post(
        self, talk: Conversation, person: Person, text: str, client_id: str | None = None
    ) -> Post:
        return self.made_of(talk, person, (Text(text=text),), client_id)

    def made_of(
        self,
        talk: Conversation,
        person: Person,
        parts: tuple[Part, ...],
        client_id: str | None = None,
    ) -> Post:
        return Post(
            id=new_id("p"),
            conversation=talk.id,
            parent=None,
            author=person.id,
            parts=parts,
            at=self.clock.now(),
            client_id=client_id,
        )

    def run(self, post: Post, person: Person, agent: str = "a_1") -> Run:
        return Run(
            id=new_id("r"),
            conversation=post.conversation,
            trigger=post.id,
            participant=agent,
            person=person.id,
            model=None,
            status="queued",
            attempt=0,
            stop_asked=False,
            post=None,
            usage=Usage(),
            problem=None,
            created_at=self.clock.now(),
            started_at=None,
            ended_at=None,
        )

    async def say(
        self, talk: Conversation, person: Person, text: str, client_id: str | None = None
    ) -> Received:
        """Receive a post that wakes every agent of the conversation."""
        post = self.post(talk, person, text, client_id)
        runs = [self.run(post, person, agent) for agent in talk.agents]
        return await self.store.log.receive(post, person.id, runs)

    def reply(self, run: Run, text: str, ending: Ending = "stop") -> Post:
        return Post(
            id=new_id("p"),
            conversation=run.conversation,
            parent=None,
            author=run.participant,
            parts=(Text(text=text),),
            at=self.clock.now(),
            run=run.id,
            ending=ending,
            usage=Usage(output=1),
            elapsed_ms=1234,
        )

    async def answer(self, lease: Lease, text: str) -> Post:
        """End a leased run with this answer."""
        run, reply = lease.run, self.reply(lease.run, text)
        return await self.store.queue.finish(run.id, run.attempt, reply, "done")

    async def texts(self, talk: Conversation, person: Person) -> list[str]:
        page = await self.store.log.posts(person.id, talk.id, limit=100)
        return [post.text for post in page.items]

    def agent(self, owner: Person, name: str) -> AgentRecord:
        now = self.clock.now()
        return AgentRecord(
            id=new_id("a"),
            owner=owner.id,
            name=name,
            description="",
            workspace=new_id("w"),
            hue=3,
            model=None,
            temperature=None,
            shared=True,
            archived=False,
            created_at=now,
            updated_at=now,
        )


CALLED = ReplyStep(
    message=Message(
        role="assistant", parts=(ToolCall(id="k_1", name="now", arguments={"zone": "UTC"}),)
    ),
    reason="tool_calls",
    usage=Usage(input=7, output=3),
    model="fake/fake",
    elapsed_ms=12,
)
CALL_RESULT = ResultStep(result=ToolResult(call="k_1", content=(Text(text="noon"),)), elapsed_ms=4)
