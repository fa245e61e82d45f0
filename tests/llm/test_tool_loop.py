"""The tool-call loop: every call gets a result, limits end it, and recorded steps stay done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from teahouse.core.errors import ToolFailed
from teahouse.core.events import (
    PartDone,
    ReplyDone,
    RunEvent,
    ToolFinished,
    ToolStarted,
    Usage,
    fold,
)
from teahouse.core.messages import JsonObject, Message, Text, ToolCall, ToolResult
from teahouse.llm.client import Client
from teahouse.llm.errors import StreamCut
from teahouse.llm.loop import Answered, Limits, LoopResult, Recorded, run_loop
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.tool import Content, ToolContext
from teahouse.llm.tool_run import BROKEN, INTERRUPTED, NOT_RUN, OUT_OF_TIME
from teahouse.testing.providers import Finish, Gate, Script, ScriptedProvider

pytestmark = pytest.mark.anyio

QUESTION = Message(role="user", parts=(Text(text="what time is it?"),))


class Fake:
    """A tool that does `work` and remembers what it was called with."""

    def __init__(
        self, name: str, work: Callable[[JsonObject], object] = str, *, repeatable: bool = False
    ) -> None:
        self.spec = ToolSpec(name=name, description="", parameters={"type": "object"})
        self.repeatable = repeatable
        self.calls: list[JsonObject] = []
        self._work = work

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        self.calls.append(arguments)
        result = self._work(arguments)
        if asyncio.iscoroutine(result):
            result = await result
        return (Text(text=str(result)),)


class Journal:
    """Hooks that keep what they are told, in order."""

    def __init__(self) -> None:
        self.steps: list[Recorded] = []

    async def replied(self, message: Message, done: ReplyDone, elapsed_ms: int, /) -> None:
        self.steps.append(Answered(message=message, done=done))

    async def resulted(self, result: ToolResult, elapsed_ms: int, /) -> None:
        self.steps.append(result)


def call(name: str, ref: str = "k1", /, **arguments: object) -> ToolCall:
    return ToolCall(id=ref, name=name, arguments=arguments)


def answered(*parts: Text | ToolCall) -> Answered:
    reason = "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
    return Answered(
        message=Message(role="assistant", parts=parts),
        done=ReplyDone(reason=reason, usage=Usage(input=3, output=2)),
    )


def result(ref: str, text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(call=ref, content=(Text(text=text),), is_error=is_error)


class Table:
    """One run at a time, with everything it did laid out."""

    def __init__(self, replies: Sequence[Script], *tools: Fake) -> None:
        self.provider = ScriptedProvider(replies)
        self.tools = {tool.spec.name: tool for tool in tools}
        self.events: list[RunEvent] = []
        self.journal = Journal()

    async def run(self, limits: Limits | None = None, steps: Sequence[Recorded] = ()) -> LoopResult:
        async def emit(events: Sequence[RunEvent]) -> None:
            self.events += events

        ask = partial(Client({"acme": self.provider}).ask, "acme/fake")
        request = ModelRequest(model="acme/fake", messages=(QUESTION,))
        async with asyncio.timeout(20):
            return await run_loop(
                ask,
                request,
                self.tools,
                ToolContext(),
                emit,
                hooks=self.journal,
                limits=limits,
                steps=steps,
            )

    def results(self) -> list[ToolResult]:
        return [event.result for event in self.events if isinstance(event, ToolFinished)]


async def test_a_reply_without_calls_ends_the_run() -> None:
    table = Table(["It is late."])

    found = await table.run()

    assert found.parts == (Text(text="It is late."),)
    assert found.reason == "stop"
    assert fold(table.events).parts == found.parts


async def test_a_result_is_told_to_the_model_and_the_run_goes_on() -> None:
    now = Fake("now", lambda _: "12:00")
    table = Table([("Let me see.", call("now")), "It is noon."], now)

    found = await table.run()

    question, reply, told = table.provider.requests[1].messages
    assert question == QUESTION
    assert reply.tool_calls == (call("now"),)
    assert told == Message(role="tool", parts=(result("k1", "12:00"),))
    assert [type(part).__name__ for part in found.parts] == [
        "Text",
        "ToolCall",
        "ToolResult",
        "Text",
    ]
    assert fold(table.events).parts == found.parts


async def test_the_model_is_offered_every_tool() -> None:
    table = Table(["ok"], Fake("f"), Fake("g"))

    await table.run()

    assert [spec.name for spec in table.provider.requests[0].tools] == ["f", "g"]


async def test_tokens_of_all_replies_are_added_up() -> None:
    one, two = Finish(usage=Usage(input=10, output=1)), Finish(usage=Usage(input=20, output=2))
    table = Table([(call("f"), one), ("ok", two)], Fake("f"))

    assert (await table.run()).usage == Usage(input=30, output=3)


async def test_calls_run_side_by_side_and_are_shown_in_their_order() -> None:
    second_ran = asyncio.Event()

    async def first(_: JsonObject) -> str:
        await second_ran.wait()
        return "first"

    def second(_: JsonObject) -> str:
        second_ran.set()
        return "second"

    table = Table([(call("f", "k1"), call("g", "k2")), "ok"], Fake("f", first), Fake("g", second))
    await table.run()

    assert [r.call for r in table.results()] == ["k1", "k2"]
    kept = [step.call for step in table.journal.steps if isinstance(step, ToolResult)]
    assert kept == ["k2", "k1"], "each is recorded when it is done"


async def test_calls_are_announced_before_they_run() -> None:
    seen: list[list[RunEvent]] = []
    table = Table([(call("f", x=1),), "ok"], Fake("f", lambda _: seen.append(list(table.events))))

    await table.run()

    assert seen[0][-1] == ToolStarted(call="k1", name="f", arguments={"x": 1})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call("g"), "There is no tool named 'g'. Available tools: f."),
        (
            ToolCall(id="k1", name="f", arguments={}, malformed='{"x"'),
            'The arguments were not a JSON object, so nothing was run: {"x"',
        ),
    ],
)
async def test_a_call_that_cannot_be_made_is_explained(asked: ToolCall, told: str) -> None:
    tool = Fake("f")
    table = Table([(asked,), "ok"], tool)

    await table.run()

    assert table.results() == [result("k1", told, is_error=True)]
    assert tool.calls == []


async def test_a_tools_own_failure_is_told_in_its_words() -> None:
    def fail(_: JsonObject) -> None:
        raise ToolFailed("no such file: a.txt")

    table = Table([(call("f"),), "ok"], Fake("f", fail))
    await table.run()

    assert table.results() == [result("k1", "no such file: a.txt", is_error=True)]


async def test_a_bug_in_a_tool_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: JsonObject) -> None:
        raise ZeroDivisionError("secret detail")

    table = Table([(call("f"), call("g", "k2")), "ok"], Fake("f", fail), Fake("g"))
    with caplog.at_level(logging.ERROR):
        await table.run()

    assert table.results() == [result("k1", BROKEN, is_error=True), result("k2", "{}")]
    assert "secret detail" in caplog.text


async def test_step_limit_stops_a_model_that_never_stops() -> None:
    tool = Fake("f")
    table = Table([(call("f", n=n),) for n in range(99)], tool)

    found = await table.run(Limits(steps=3))

    assert (found.reason, found.limit) == ("limit", "steps")
    assert len(table.provider.requests) == 3
    assert len(tool.calls) == 2, "what the model could not read any more is not done"
    assert table.results()[-1] == result("k1", NOT_RUN, is_error=True)
    assert fold(table.events).parts == found.parts


async def test_the_same_call_again_and_again_ends_the_run() -> None:
    tool = Fake("f")
    table = Table([(call("f", f"k{n}", x=1),) for n in range(99)], tool)

    found = await table.run(Limits(repeats=3))

    assert found.limit == "repeats"
    assert len(tool.calls) == 3


async def test_other_arguments_are_no_repetition() -> None:
    table = Table([*[(call("f", n=n),) for n in range(9)], "ok"], Fake("f"))

    assert (await table.run(Limits(repeats=1))).reason == "stop"


async def test_the_token_limit_ends_the_run() -> None:
    spent = Finish(usage=Usage(input=60, output=40))
    table = Table([(call("f", n=n), spent) for n in range(99)], Fake("f"))

    found = await table.run(Limits(tokens=150))

    assert found.limit == "tokens"
    assert found.usage == Usage(input=120, output=80)


async def test_a_tool_that_takes_too_long_is_stopped_and_the_run_ends() -> None:
    async def forever(_: JsonObject) -> None:
        await asyncio.Event().wait()

    table = Table([(call("f"), call("g", "k2"))], Fake("f", forever), Fake("g"))
    found = await table.run(Limits(wall_s=0.1))

    assert found.limit == "wall_s"
    assert table.results() == [result("k1", OUT_OF_TIME, is_error=True), result("k2", "{}")]
    assert fold(table.events).parts == found.parts


async def test_a_reply_that_takes_too_long_keeps_what_was_said() -> None:
    table = Table([(call("f"),), ("It is", Gate())], Fake("f"))

    found = await table.run(Limits(wall_s=0.2))

    assert found.limit == "wall_s"
    assert found.parts[-1] == Text(text="It is")
    assert table.provider.closed == 1


async def test_a_reply_cut_by_length_ends_the_run() -> None:
    assert (await Table([("a", Finish(reason="length"))]).run()).reason == "length"


async def test_an_error_of_the_provider_comes_out_as_it_is() -> None:
    with pytest.raises(StreamCut):
        await Table([("It", StreamCut("acme"))]).run()


async def test_an_error_of_the_journal_comes_out_as_it_is_and_stops_the_tools() -> None:
    class Lost(Exception):
        pass

    async def forever(_: JsonObject) -> None:
        await asyncio.Event().wait()

    table = Table([(call("f"), call("g", "k2"))], Fake("f", forever), Fake("g"))

    async def resulted(result: ToolResult, elapsed_ms: int, /) -> None:
        raise Lost

    table.journal.resulted = resulted  # type: ignore[method-assign]
    with pytest.raises(Lost):
        await table.run()


async def test_stopping_the_run_stops_its_tools() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def forever(_: JsonObject) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    table = Table([(call("f"),)], Fake("f", forever))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(table.run())
        await started.wait()
        task.cancel()

    assert stopped.is_set()
    assert task.cancelled()


STEPS = (answered(Text(text="Let me see."), call("f", "k1", x=1), call("g", "k2")),)


async def test_recorded_steps_are_shown_again_and_never_done_again() -> None:
    f, g = Fake("f"), Fake("g")
    table = Table(["ok"], f, g)

    found = await table.run(steps=(*STEPS, result("k2", "two"), result("k1", "one")))

    assert f.calls == g.calls == []
    assert len(table.provider.requests) == 1
    assert table.provider.requests[0].messages[-1].parts == (
        result("k1", "one"),
        result("k2", "two"),
    )
    assert [part.text for part in found.parts if isinstance(part, Text)] == ["Let me see.", "ok"]
    assert fold(table.events).parts == found.parts
    assert found.usage.input > 3
    assert [type(step) for step in table.journal.steps] == [Answered], "only what is new"


async def test_a_call_that_was_cut_is_reported_unless_it_may_be_repeated() -> None:
    f, g = Fake("f", lambda _: "again", repeatable=True), Fake("g")
    table = Table(["ok"], f, g)

    await table.run(steps=STEPS)

    assert f.calls == [{"x": 1}]
    assert g.calls == []
    assert table.results() == [result("k1", "again"), result("k2", INTERRUPTED, is_error=True)]
    recorded = [step for step in table.journal.steps if isinstance(step, ToolResult)]
    assert sorted(recorded, key=lambda r: r.call) == table.results()


async def test_a_finished_call_beside_a_cut_one_keeps_its_result() -> None:
    f, g = Fake("f", repeatable=True), Fake("g", repeatable=True)
    table = Table(["ok"], f, g)

    found = await table.run(steps=(*STEPS, result("k2", "two")))

    assert g.calls == []
    assert table.results() == [result("k1", "{'x': 1}"), result("k2", "two")]
    assert fold(table.events).parts == found.parts


async def test_a_run_that_was_over_is_not_asked_again() -> None:
    table = Table([])

    found = await table.run(steps=(answered(Text(text="done")),))

    assert found.parts == (Text(text="done"),)
    assert table.provider.requests == []


async def test_limits_count_what_earlier_attempts_did() -> None:
    tool = Fake("f", repeatable=True)
    table = Table([(call("f", "k3"),)] * 9, tool)
    steps = (answered(call("f", "k1")), result("k1", "1"), answered(call("f", "k2")))

    found = await table.run(Limits(steps=2, repeats=9), steps)

    assert found.limit == "steps"
    assert tool.calls == []
    assert table.provider.requests == []


async def test_any_cut_of_a_run_resumes_to_the_same_end() -> None:
    def tools() -> tuple[Fake, Fake]:
        return Fake("f", lambda _: "F", repeatable=True), Fake("g", lambda _: "G", repeatable=True)

    replies: list[Script] = [("a", call("f", "k1"), call("g", "k2")), (call("f", "k3"),), "end"]
    whole = Table(replies, *tools())
    expected = await whole.run()

    for cut in range(len(whole.journal.steps) + 1):
        steps = whole.journal.steps[:cut]
        done = sum(isinstance(step, Answered) for step in steps)
        again = Table(replies[done:], *tools())
        found = await again.run(steps=steps)
        assert found.parts == expected.parts, cut
        assert fold(again.events).parts == expected.parts, cut
        recorded = [step for step in again.journal.steps if isinstance(step, ToolResult)]
        assert len(recorded) == 3 - sum(isinstance(step, ToolResult) for step in steps), cut


async def test_parts_shown_again_carry_their_places() -> None:
    table = Table([])

    await table.run(steps=(answered(Text(text="a"), Text(text="b")),))

    places = [event.index for event in table.events if isinstance(event, PartDone)]
    assert places == [0, 1]
