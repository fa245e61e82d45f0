from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from teahouse.agent.directory import AgentDraft
from teahouse.agent.participant import Journal, Reply, ReplyStep, ResultStep, Turn
from teahouse.core.bus import Frame
from teahouse.core.codec import decode_envelope
from teahouse.core.errors import Conflict, Invalid, NotFound, TooLarge
from teahouse.core.events import (
    Emit,
    Event,
    PartDelta,
    PostAdded,
    Resync,
    StreamEnd,
    StreamStart,
    Usage,
    fold,
)
from teahouse.core.messages import Message, Text, ToolCall, ToolResult
from teahouse.llm.errors import AuthenticationFailed

from .conftest import Actor, House, open_house

pytestmark = pytest.mark.anyio


def events(frames: Sequence[Frame]) -> list[Event]:
    return [decode_envelope(frame.data).event for frame in frames]


async def for_ever(turn: Turn, journal: Journal, emit: Emit) -> Reply:
    await emit([PartDelta(index=0, kind="text", delta="half an ans")])
    await asyncio.Event().wait()
    raise AssertionError


async def begun(house: House, run: str) -> None:
    """Wait until something of the run can be seen."""
    async with asyncio.timeout(10):
        while True:
            _, frames = await house.chat.follow(house.owner, run, lambda _: None, after=None)
            if any(isinstance(event, PartDelta) for event in events(frames)):
                return
            await asyncio.sleep(0.002)


async def test_what_a_person_says_is_answered(house: House) -> None:
    received = await house.say("你好")
    (post,) = await house.ended(received)

    page = await house.chat.posts(house.owner, received.post.conversation)
    assert [item.text for item in page.items] == ["你好", "echo: 你好"]
    assert page.items[1].id == post
    assert page.items[1].ending == "stop"
    assert page.items[1].usage == Usage(output=2)
    assert page.items[1].elapsed_ms is not None
    assert (page.items[0].usage, page.items[0].elapsed_ms) == (None, None)


async def test_the_same_client_id_makes_one_post_and_one_run(house: House) -> None:
    first = await house.say("hi", agent=house.agent, client_id="x")
    second = await house.say("hi", agent=house.agent, client_id="x")
    third = await house.say("hi", conversation=first.post.conversation, client_id="x")

    assert first.fresh
    assert not second.fresh
    assert first.post == second.post == third.post
    assert [r.id for r in first.runs] == [r.id for r in second.runs] == [r.id for r in third.runs]
    await house.ended(first)
    assert len((await house.chat.posts(house.owner, first.post.conversation)).items) == 2


async def test_a_client_id_that_comes_with_other_words_is_refused_not_swallowed(
    house: House,
) -> None:
    first = await house.say("hi", agent=house.agent, client_id="x")

    with pytest.raises(Conflict, match="x"):
        await house.say("ho", conversation=first.post.conversation, client_id="x")
    with pytest.raises(Conflict):
        await house.say("ho", agent=house.agent, client_id="x")


async def test_runs_of_one_conversation_are_worked_on_in_order(house: House) -> None:
    first = await house.say("1")
    rest = [await house.say(t, conversation=first.post.conversation) for t in ("2", "3")]
    for received in (first, *rest):
        await house.ended(received)

    heard = [[message.text for message in turn.messages] for turn in house.actor.turns]
    assert heard[0] == ["1"]
    assert [turn[-1] for turn in heard] == ["1", "2", "3"]
    assert "echo: 1" in heard[1]


async def test_stop_keeps_the_part(house: House) -> None:
    house.actor.act = for_ever
    received = await house.say("go")
    await begun(house, received.runs[0].id)

    run = await house.chat.stop(house.owner, received.runs[0].id)

    assert run.status == "stopped"
    (_, answer) = (await house.chat.posts(house.owner, run.conversation)).items
    assert (answer.text, answer.ending) == ("half an ans", "stopped")
    again = await house.chat.stop(house.owner, run.id)
    assert again.post == run.post


async def test_a_queued_run_can_be_stopped_before_it_began(house: House) -> None:
    house.actor.act = for_ever
    first = await house.say("go")
    await begun(house, first.runs[0].id)
    second = await house.say("more", conversation=first.post.conversation)

    run = await house.chat.stop(house.owner, second.runs[0].id)

    assert run.status == "stopped"
    assert len(house.actor.turns) == 1


async def test_a_failure_is_a_post_that_says_what_to_do(house: House) -> None:
    async def refuse(turn: Turn, journal: Journal, emit: Emit) -> Reply:
        await emit([PartDelta(index=0, kind="text", delta="so f")])
        raise AuthenticationFailed("deepseek")

    house.actor.act = refuse
    await house.ended(received := await house.say("hi"))

    (_, answer) = (await house.chat.posts(house.owner, received.post.conversation)).items
    assert (answer.text, answer.ending) == ("so f", "failed")
    assert answer.problem is not None
    assert answer.problem.code == "provider_authentication"
    assert answer.problem.hint


async def test_a_bug_in_an_agent_ends_its_run_and_leaks_nothing(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(turn: Turn, journal: Journal, emit: Emit) -> Reply:
        raise ValueError("the secret is lapsang")

    house.actor.act = broken
    await house.ended(received := await house.say("hi"))

    (_, answer) = (await house.chat.posts(house.owner, received.post.conversation)).items
    assert answer.problem is not None
    assert answer.problem.code == "internal"
    assert "lapsang" not in str(answer)
    assert "lapsang" in caplog.text


async def test_a_run_that_was_cut_by_a_crash_is_taken_up_from_its_journal(tmp_path: Path) -> None:
    call = ToolCall(id="k", name="dig", arguments={})
    reply = ReplyStep(
        message=Message(role="assistant", parts=(call,)),
        reason="tool_calls",
        usage=Usage(),
        model="m",
    )
    result = ResultStep(result=ToolResult(call="k", content=(Text(text="gold"),)))
    reached = asyncio.Event()

    async def crash(turn: Turn, journal: Journal, emit: Emit) -> Reply:
        await journal.append(reply)
        await journal.append(result)
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    actor = Actor()
    actor.act = crash
    async with open_house(tmp_path, actor) as house:
        received = await house.say("dig")
        await reached.wait()

    second = Actor()
    async with open_house(tmp_path, second) as house:
        await house.ended(received)
        run = await house.chat.run(house.owner, received.runs[0].id)

    assert run.attempt == 2
    assert second.turns[0].steps == (reply, result)
    assert len(second.turns) == 1


async def test_a_run_that_was_to_be_stopped_when_the_house_fell_is_not_begun_anew(
    tmp_path: Path,
) -> None:
    actor = Actor()
    actor.act = for_ever
    async with open_house(tmp_path, actor) as house:
        received = await house.say("go")
        await begun(house, received.runs[0].id)
        await house.store.log.ask_stop(house.owner.id, received.runs[0].id)

    second = Actor()
    async with open_house(tmp_path, second) as house:
        await house.ended(received)
        assert (await house.chat.run(house.owner, received.runs[0].id)).status == "stopped"
    assert second.turns == []


async def test_a_follower_sees_the_run_from_start_to_end(house: House) -> None:
    frames: list[Frame] = []
    received = await house.say("hi")
    _, backlog = await house.chat.follow(
        house.owner, received.runs[0].id, frames.extend, after=None
    )
    await house.ended(received)
    async with asyncio.timeout(5):
        while not any(isinstance(e, StreamEnd) for e in events([*backlog, *frames])):
            await asyncio.sleep(0.002)

    seen = events([*backlog, *frames])
    assert isinstance(seen[0], StreamStart)
    assert fold(seen).text == "echo: hi"
    assert isinstance(seen[-2], PostAdded)
    assert isinstance(seen[-1], StreamEnd)


async def test_a_run_that_has_ended_is_told_again(house: House) -> None:
    await house.ended(received := await house.say("hi"))

    subscription, frames = await house.chat.follow(
        house.owner, received.runs[0].id, lambda _: None, after=None
    )

    assert subscription is None
    assert fold(events(frames)).text == "echo: hi"
    assert isinstance(events(frames)[-1], StreamEnd)


async def test_a_new_reader_gets_the_latest_posts_and_the_running_answer(house: House) -> None:
    await house.ended(received := await house.say("hi"))
    conversation = received.post.conversation
    house.actor.act = for_ever
    running = await house.say("go", conversation=conversation)
    await begun(house, running.runs[0].id)

    _, frames = await house.chat.subscribe(house.owner, conversation, lambda _: None, after=None)

    first, *rest = events(frames)
    assert isinstance(first, Resync)
    posts = [event.post.text for event in rest if isinstance(event, PostAdded)]
    assert posts == ["hi", "echo: hi", "go"]
    assert isinstance(rest[-1], PartDelta)
    assert rest[-1].delta == "half an ans"


@pytest.mark.parametrize("text", ["", "  \n ", "\ud800"])
async def test_bad_text_is_refused_and_nothing_is_stored(house: House, text: str) -> None:
    with pytest.raises(Invalid):
        await house.say(text)

    assert (await house.chat.conversations(house.owner)).items == ()


async def test_a_text_of_a_megabyte_is_refused_with_its_size(house: House) -> None:
    with pytest.raises(TooLarge, match="1000000"):
        await house.say("x" * 1_000_000)


async def test_what_is_not_yours_is_not_there(house: House) -> None:
    received = await house.say("secret")
    other = await house.accounts.add_person(house.owner, "mallory", "member", "correct horse")
    conversation, run = received.post.conversation, received.runs[0].id
    chat = house.chat

    for attempt in (
        chat.conversation(other, conversation),
        chat.posts(other, conversation),
        chat.run(other, run),
        chat.stop(other, run),
        chat.delete(other, conversation),
        chat.subscribe(other, conversation, lambda _: None, after=None),
        chat.follow(other, run, lambda _: None, after=None),
        chat.receive(other, conversation=conversation, text="hi"),
        chat.receive(other, agent=house.agent, text="hi"),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await chat.conversations(other)).items == ()


async def test_a_conversation_is_called_by_its_first_words_until_it_is_named(house: House) -> None:
    received = await house.say("怎样泡一壶好茶？" * 10)

    found = await house.chat.conversation(house.owner, received.post.conversation)
    assert found.title.startswith("怎样泡一壶好茶？")
    assert len(found.title) == 40
    assert found.title_by == "none"


async def test_deleting_a_conversation_ends_its_run_and_leaves_nothing(house: House) -> None:
    house.actor.act = for_ever
    received = await house.say("go")
    await begun(house, received.runs[0].id)

    await house.chat.delete(house.owner, received.post.conversation)

    with pytest.raises(NotFound):
        await house.chat.run(house.owner, received.runs[0].id)


async def test_a_message_to_an_agent_that_is_not_there_is_refused(house: House) -> None:
    received = await house.say("hello")
    other = await house.directory.create(house.owner, AgentDraft(name="Other"))
    where = received.post.conversation

    await house.say("again", conversation=where, agent=house.agent)
    with pytest.raises(Invalid) as refused:
        await house.say("you?", conversation=where, agent=other.id)

    assert refused.value.code == "agent_elsewhere"
