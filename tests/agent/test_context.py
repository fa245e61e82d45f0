"""An agent whose conversation is longer than its model's window: cut, or summarised."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from teahouse.agent.guard import Guard
from teahouse.agent.loop import AgentParticipant, Folding
from teahouse.agent.participant import Step, Turn
from teahouse.core.events import RunEvent
from teahouse.core.messages import Message, Role, Text, ToolCall
from teahouse.llm.client import Client
from teahouse.llm.errors import ContextTooLong
from teahouse.llm.loop import Limits
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.summary import Summaries
from teahouse.llm.tokens import estimate_messages
from teahouse.llm.tool import Content, ToolContext
from teahouse.llm.usage import CallRecord
from teahouse.testing.approvals import gate
from teahouse.testing.providers import Script, ScriptedProvider

pytestmark = pytest.mark.anyio

WINDOW = 2000
SUMMARIES = {"en-US": "They spoke of oolong.", "zh-CN": "他们聊了乌龙茶。"}


class Notes(list[CallRecord]):
    def note(self, call: CallRecord, /) -> None:
        self.append(call)


class Now:
    spec = ToolSpec(name="now", description="", parameters={"type": "object"})
    repeatable = True

    async def __call__(self, arguments: dict[str, object], context: ToolContext, /) -> Content:
        return (Text(text="noon"),)


class Journal:
    async def append(self, step: Step, /) -> None:
        return None


async def nobody(events: Sequence[RunEvent]) -> None:
    return None


def say(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


def long_talk(language: str) -> tuple[Message, ...]:
    words = "乌龙茶怎么泡？" * 12 if language == "zh-CN" else "How is oolong made? " * 18
    talk = [(say("user", f"{n} {words}"), say("assistant", f"{n} " + words)) for n in range(12)]
    return (*(message for pair in talk for message in pair), say("user", "And now?"))


def is_summary(request: ModelRequest) -> bool:
    return "<conversation>" in request.messages[-1].text


def model(language: str, summary: Script | None = None) -> ScriptedProvider:
    """Writes summaries; else asks for the tool once and then answers."""

    def answer(request: ModelRequest) -> Script:
        if is_summary(request):
            return summary or SUMMARIES[language]
        if request.messages[-1].role == "tool":
            return "done"
        return [ToolCall(id="k", name="now", arguments={})]

    return ScriptedProvider(default=answer)


async def respond(provider: ScriptedProvider, folding: Folding | None, language: str) -> Notes:
    notes = Notes()
    client = Client({"acme": provider, "cheap": provider}, ledger=notes)
    agent = AgentParticipant(
        "a_1",
        client=client,
        model="acme/fake",
        system=say("system", "rules"),
        tools={"now": Now()},
        guard=partial(Guard, gate(), "a_1"),
        limits=Limits(),
        window=WINDOW,
        folding=folding,
    )
    turn = Turn(run="r_1", conversation="c_1", person="u_1", messages=long_talk(language))
    reply = await agent.respond(turn, Journal(), nobody)
    assert reply.ending == "stop"
    return notes


def folding(language: str, *, model: str | None = None) -> Folding:
    return Folding(summaries=Summaries(), language=language, model=model)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", SUMMARIES)
async def test_it_answers_from_a_summary_that_it_pays_for_once(language: str) -> None:
    provider, folds = model(language), folding(language)

    notes = await respond(provider, folds, language)
    again = await respond(provider, folds, language)

    assert [n.caller.purpose for n in notes] == ["summary", "reply", "reply"]
    assert [n.caller.purpose for n in again] == ["reply", "reply"]
    assert {n.caller.run for n in notes} == {"r_1"}
    for request in [r for r in provider.requests if not is_summary(r)]:
        assert SUMMARIES[language] in request.messages[1].text
        assert estimate_messages(request.messages) < WINDOW
        assert "And now?" in [m.text for m in request.messages]


async def test_another_model_may_write_the_summary() -> None:
    notes = await respond(model("en-US"), folding("en-US", model="cheap/fake"), "en-US")

    assert [n.model for n in notes] == ["cheap/fake", "acme/fake", "acme/fake"]


async def test_a_summary_that_fails_is_tried_once_and_then_the_oldest_are_cut() -> None:
    provider = model("en-US", ContextTooLong("acme"))

    notes = await respond(provider, folding("en-US"), "en-US")

    assert [n.caller.purpose for n in notes] == ["summary", "reply", "reply"]
    assert provider.requests[1].messages[1] in long_talk("en-US")


async def test_without_the_setting_no_model_is_asked_for_a_summary() -> None:
    provider = model("en-US")

    notes = await respond(provider, None, "en-US")

    assert [n.caller.purpose for n in notes] == ["reply", "reply"]
    assert provider.requests[0].messages[1] in long_talk("en-US")
