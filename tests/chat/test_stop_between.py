"""A stop that falls between the record of a tool's result and its event."""

from __future__ import annotations

import asyncio

import pytest

from teahouse.agent.participant import Journal, Reply, ReplyStep, ResultStep, Turn
from teahouse.core.events import Emit, PartDone, ReplyDone, ToolStarted, Usage
from teahouse.core.messages import Message, Text, ToolCall, ToolResult

from .conftest import House

pytestmark = pytest.mark.anyio

CALL = ToolCall(id="k_1", name="now", arguments={})
RESULT = ToolResult(call="k_1", content=(Text(text="noon"),))


async def test_a_result_that_was_recorded_is_kept_by_a_stop(house: House) -> None:
    recorded = asyncio.Event()

    async def finish_a_call_and_wait(turn: Turn, journal: Journal, emit: Emit) -> Reply:
        done = ReplyDone(reason="tool_calls")
        await emit([PartDone(index=0, part=CALL), done])
        message = Message(role="assistant", parts=(CALL,))
        await journal.append(
            ReplyStep(message=message, reason=done.reason, usage=Usage(), model="fake")
        )
        await emit([ToolStarted(call=CALL.id, name=CALL.name, arguments={})])
        await journal.append(ResultStep(result=RESULT))
        recorded.set()
        await asyncio.Event().wait()
        raise AssertionError

    house.actor.act = finish_a_call_and_wait
    received = await house.say("what time is it?")
    async with asyncio.timeout(10):
        await recorded.wait()

    run = await house.chat.stop(house.owner, received.runs[0].id)
    page = await house.chat.posts(house.owner, received.post.conversation)

    assert run.status == "stopped"
    assert page.items[-1].parts == (CALL, RESULT)
