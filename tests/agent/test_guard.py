"""A turn whose tools reach out: asked, answered, refused, and taken up again after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pytest

from teahouse.agent.approval import Answer
from teahouse.agent.guard import Gate, Guard
from teahouse.agent.loop import AgentParticipant
from teahouse.agent.participant import Reply, ResultStep, Step, Turn
from teahouse.agent.ports import ApprovalRecord
from teahouse.core.clock import SystemClock
from teahouse.core.events import Approval, Effect, RunEvent, ToolFinished
from teahouse.core.messages import (
    JsonObject,
    Message,
    Person,
    Text,
    ToolCall,
    ToolResult,
)
from teahouse.llm.client import Client
from teahouse.llm.loop import Limits
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, Tool, ToolContext
from teahouse.testing.approvals import gate
from teahouse.testing.providers import Script, ScriptedProvider

pytestmark = pytest.mark.anyio

MEI = Person(id="u_1", name="Mei", role="member", epoch=1, created_at=SystemClock().now())
ONCE, DENY, ALWAYS = Answer(decision="once"), Answer(decision="deny"), Answer(decision="always")
ALL = Answer(decision="always", pattern=("*",))


class Tried:
    """A tool that notes its calls."""

    def __init__(
        self,
        name: str = "send",
        effect: Effect | None = "external",
        *,
        is_foreign: bool = False,
        repeatable: bool = False,
    ) -> None:
        self.spec = ToolSpec(name=name, description="", parameters={"type": "object"})
        self.effect, self.is_foreign, self.repeatable = effect, is_foreign, repeatable
        self.calls: list[JsonObject] = []

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        self.calls.append(arguments)
        return (Text(text=f"{self.spec.name} done"),)


class Talk:
    """A turn with a scripted model; `act` is told of each question as it is shown."""

    def __init__(
        self, *replies: Script, tools: Sequence[Tool], at: Gate | None = None, wall_s: float = 60
    ) -> None:
        self.gate = at or gate()
        self.events: list[RunEvent] = []
        self.steps: list[Step] = []
        self.act: Callable[[Approval], Awaitable[None]] = self._nothing
        self.provider = ScriptedProvider(replies, default=lambda _: "the end")
        self._tools = {tool.spec.name: tool for tool in tools}
        self._wall_s = wall_s

    async def take(
        self,
        *,
        conversation: str | None = "c_1",
        messages: Sequence[Message] = (),
        steps: Sequence[Step] = (),
    ) -> Reply:
        agent = AgentParticipant(
            "a_1",
            client=Client({"acme": self.provider}),
            model="acme/fake",
            system=Message(role="system", parts=(Text(text="rules"),)),
            tools=self._tools,
            guard=partial(Guard, self.gate, "a_1"),
            limits=Limits(wall_s=self._wall_s),
        )
        asked = Message(role="user", parts=(Text(text="go"),))
        turn = Turn(
            run="r_1",
            conversation=conversation,
            person=MEI.id,
            messages=(*messages, asked),
            steps=tuple(steps),
        )
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:

            async def emit(events: Sequence[RunEvent]) -> None:
                for event in events:
                    self.events.append(event)
                    if isinstance(event, Approval) and event.state == "asked":
                        group.create_task(self.act(event))

            return await agent.respond(turn, self, emit)

    async def append(self, step: Step, /) -> None:
        self.steps.append(step)

    async def answered(self, answer: Answer, asked: Approval) -> None:
        await self.gate.desk.answer(MEI, asked.id, answer)

    async def asked(self) -> Sequence[ApprovalRecord]:
        return await self.gate.desk.all(MEI)

    @property
    def told(self) -> list[str]:
        """The results of the calls, as the model reads them."""
        results = [event.result for event in self.events if isinstance(event, ToolFinished)]
        return [
            "".join(part.text for part in one.content if isinstance(part, Text)) for one in results
        ]

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.events if isinstance(event, Approval)]

    async def _nothing(self, _: Approval) -> None:
        return None


def calling(*names: str, **arguments: str) -> Script:
    return [ToolCall(id=f"k_{n}", name=name, arguments=arguments) for n, name in enumerate(names)]


async def test_a_call_that_reaches_out_runs_once_a_person_said_yes() -> None:
    send = Tried()
    talk = Talk(calling("send", to="Mei"), tools=[send])

    async def act(asked: Approval) -> None:
        assert send.calls == []
        assert (asked.tool, asked.arguments, asked.effect) == ("send", {"to": "Mei"}, "external")
        await talk.answered(ONCE, asked)

    talk.act = act
    reply = await talk.take()

    assert (send.calls, talk.states, talk.told) == (
        [{"to": "Mei"}],
        ["asked", "granted"],
        ["send done"],
    )
    assert reply.ending == "stop"
    [record] = await talk.asked()
    assert record.used_at is not None
    assert record.decided_by == MEI.id


@pytest.mark.parametrize(("answer", "state"), [(DENY, "denied"), (None, "expired")])
async def test_a_no_or_no_answer_is_told_to_the_model_which_goes_on(
    answer: Answer | None, state: str
) -> None:
    send = Tried()
    talk = Talk(calling("send"), tools=[send], at=gate(wait_s=0.05 if answer is None else 5))
    if answer is not None:
        talk.act = partial(talk.answered, answer)
    reply = await talk.take()

    assert send.calls == []
    assert talk.states == ["asked", state]
    [told] = talk.told
    assert "was not made" in told
    assert reply.parts[-1] == Text(text="the end")


async def test_of_two_calls_side_by_side_only_the_one_that_reaches_out_waits() -> None:
    send, look = Tried(), Tried("look", "read")
    talk = Talk(calling("send", "look"), tools=[send, look])
    both = asyncio.Event()

    async def act(asked: Approval) -> None:
        while not any(isinstance(step, ResultStep) for step in talk.steps):
            await asyncio.sleep(0)
        assert (len(look.calls), len(send.calls)) == (1, 0)
        both.set()
        await talk.answered(ONCE, asked)

    talk.act = act
    await talk.take()

    assert both.is_set()
    assert talk.told == ["send done", "look done"]


async def test_waiting_for_a_person_takes_none_of_the_runs_time() -> None:
    send = Tried()
    talk = Talk(calling("send"), tools=[send], at=gate(wait_s=0.4), wall_s=0.2)

    reply = await talk.take()

    assert talk.states[-1] == "expired"
    assert reply.ending == "stop"


async def test_what_is_always_allowed_is_asked_once() -> None:
    for answer, asked in ((ALL, 1), (ALWAYS, 2)):
        send = Tried()
        replies = [calling("send", to="a"), calling("send", to="a"), calling("send", to="b")]
        talk = Talk(*replies, tools=[send])
        talk.act = partial(talk.answered, answer)
        await talk.take()

        assert len(send.calls) == 3
        assert talk.states.count("asked") == asked


async def test_a_tool_that_is_denied_is_neither_offered_nor_run() -> None:
    send = Tried()
    talk = Talk(calling("send"), tools=[send, Tried("look", "read")], at=gate(rules={"s*": "deny"}))
    await talk.take()

    assert [spec.name for spec in talk.provider.requests[0].tools] == ["look"]
    assert send.calls == []


async def test_a_tool_that_declares_nothing_asks() -> None:
    talk = Talk(calling("odd"), tools=[Tried("odd", None)])
    talk.act = partial(talk.answered, DENY)
    await talk.take()

    assert [one.reason for one in await talk.asked()] == ["undeclared"]


async def test_where_nobody_can_be_asked_an_ask_is_a_no() -> None:
    send = Tried()
    talk = Talk(calling("send"), tools=[send])
    await talk.take(conversation=None)

    assert send.calls == []
    assert "nobody can be asked" in talk.told[0]
    assert await talk.asked() == []


async def test_after_foreign_words_even_an_allowed_tool_asks_and_later_turns_too() -> None:
    send, page = Tried(), Tried("page", "read", is_foreign=True)
    allowed = gate(rules={"send": "allow"})
    talk = Talk(calling("send"), calling("page"), calling("send"), tools=[send, page], at=allowed)
    talk.act = partial(talk.answered, DENY)
    await talk.take()
    assert len(send.calls) == 1
    assert [one.reason for one in await talk.asked()] == ["foreign"]

    log = [
        Message(role="assistant", parts=(ToolCall(id="k", name="page", arguments={}),)),
        Message(role="tool", parts=(ToolResult(call="k", content=(Text(text="obey"),)),)),
    ]
    for tools in ([send, page], [send]):  # one that is gone may have brought anything
        later = Talk(calling("send"), tools=tools, at=gate(rules={"send": "allow"}))
        later.act = partial(later.answered, DENY)
        await later.take(messages=log)
        assert [one.reason for one in await later.asked()] == ["foreign"]
    assert len(send.calls) == 1


async def test_calls_of_one_id_in_several_replies_are_asked_apart() -> None:
    send = Tried()
    talk = Talk(calling("send", to="a"), calling("send", to="b"), tools=[send])
    answers = iter([ONCE, DENY])

    async def act(asked: Approval) -> None:
        await talk.answered(next(answers), asked)

    talk.act = act
    await talk.take()

    assert send.calls == [{"to": "a"}]
    assert [one.turn for one in await talk.asked()] == [1, 0]


async def cut(talk: Talk) -> tuple[ApprovalRecord, Sequence[Step]]:
    """Begin a turn and end its process, so to speak, as soon as it asks."""
    shown = asyncio.Event()

    async def act(_: Approval) -> None:
        shown.set()

    talk.act = act
    turn = asyncio.ensure_future(talk.take())
    async with asyncio.timeout(5):
        await shown.wait()
    turn.cancel()
    await asyncio.wait([turn])
    [asked] = await talk.asked()
    return asked, tuple(talk.steps)


async def test_a_question_that_was_cut_by_a_crash_waits_again_under_its_id() -> None:
    send = Tried()
    first = Talk(calling("send"), tools=[send])
    asked, steps = await cut(first)
    assert asked.state == "asked"

    second = Talk(tools=[send], at=first.gate)
    second.act = partial(second.answered, ONCE)
    await second.take(steps=steps)

    events = [event for event in second.events if isinstance(event, Approval)]
    assert {event.id for event in events} == {asked.id}
    assert {event.expires_at for event in events} == {asked.expires_at}
    assert len(send.calls) == 1


async def test_what_was_granted_before_the_crash_runs_once_after_it() -> None:
    send = Tried()
    first = Talk(calling("send"), tools=[send])
    asked, steps = await cut(first)
    await first.gate.desk.answer(MEI, asked.id, ONCE)

    for told in ("send done", "interrupted"):
        again = Talk(tools=[send], at=first.gate)
        await again.take(steps=steps)
        assert told in again.told[0]
        assert len(send.calls) == 1


@pytest.mark.parametrize("repeatable", [False, True])
async def test_a_call_that_had_begun_is_interrupted_unless_it_may_be_repeated(
    repeatable: bool,
) -> None:
    send = Tried(repeatable=repeatable)
    first = Talk(calling("send"), tools=[send])
    asked, steps = await cut(first)
    await first.gate.desk.answer(MEI, asked.id, ONCE)
    assert await first.gate.approvals.use(asked.id)

    second = Talk(tools=[send], at=first.gate)
    await second.take(steps=steps)

    assert len(send.calls) == repeatable
    assert ("interrupted" in second.told[0]) == (not repeatable)


async def test_a_rule_that_denies_meanwhile_overrules_the_yes() -> None:
    send, rules = Tried(), dict[str, str]()
    talk = Talk(calling("send"), tools=[send], at=gate(rules=rules))  # type: ignore[arg-type]

    async def act(asked: Approval) -> None:
        rules["send"] = "deny"
        await talk.answered(ONCE, asked)

    talk.act = act
    await talk.take()

    assert send.calls == []
