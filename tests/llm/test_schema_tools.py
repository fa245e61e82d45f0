"""Small models use tools through a schema, and answer as before where none is needed."""

from __future__ import annotations

import json
from contextlib import aclosing

import pytest

from teahouse.core.events import PartDelta, ReplyDone, StreamEvent, Usage, fold
from teahouse.core.messages import Message, Part, Role, Text, ToolCall, ToolResult
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.schema_tools import Example, SchemaTools, bounded, excerpt, signature
from teahouse.llm.tool_talk import spoken, turns_of
from teahouse.testing.providers import Finish, ScriptedProvider

pytestmark = pytest.mark.anyio

NOW = ToolSpec(name="now", description="Tell the time.", parameters={"type": "object"})
WEATHER = ToolSpec(
    name="weather",
    description="Look up the weather.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "day": {"type": "string"}},
        "required": ["city"],
    },
)


def says(role: Role, *parts: Part | str) -> Message:
    return Message(role=role, parts=tuple(Text(text=p) if isinstance(p, str) else p for p in parts))


def request(*messages: Message, tools: tuple[ToolSpec, ...] = (NOW, WEATHER)) -> ModelRequest:
    return ModelRequest(model="small", messages=messages, tools=tools)


async def reply(provider: SchemaTools, asked: ModelRequest) -> tuple[Message, list[StreamEvent]]:
    events: list[StreamEvent] = []
    async with aclosing(provider.stream(asked)) as batches:
        async for batch in batches:
            events += batch
    return fold(events), events


CALL = ToolCall(id="c1", name="weather", arguments={"city": "Oslo"})
RESULT = ToolResult(call="c1", content=(Text(text="snow, -3 °C"),))


async def test_a_plain_answer_streams_as_it_would_without_tools() -> None:
    inner = ScriptedProvider(['"none"', "A tea house is a place for tea."])
    asked = request(says("system", "Be brief."), says("user", "What is a tea house?"))

    message, events = await reply(SchemaTools(inner), asked)

    assert message.text == "A tea house is a place for tea."
    assert sum(isinstance(event, PartDelta) for event in events) > 2
    question, answer = inner.requests
    assert question.schema == {"type": "string", "enum": ["none", "now", "weather"]}
    assert not question.tools
    assert (answer.messages, answer.tools, answer.schema) == (asked.messages, (), None)


async def test_a_needed_tool_is_called_with_arguments_of_its_schema() -> None:
    inner = ScriptedProvider(['"weather"', '{"city": "奥斯陆"}'])

    message, events = await reply(SchemaTools(inner), request(says("user", "奥斯陆天气如何？")))

    (call,) = message.tool_calls
    assert (call.name, call.arguments, call.malformed) == ("weather", {"city": "奥斯陆"}, None)
    assert isinstance(events[-1], ReplyDone)
    assert events[-1].reason == "tool_calls"
    assert inner.requests[1].schema == bounded(WEATHER.parameters)
    # the second question goes on where the first ended, so that the model's cache holds it
    asked = len(inner.requests[0].messages)
    assert inner.requests[1].messages[:asked] == inner.requests[0].messages


async def test_a_tool_without_arguments_costs_one_question() -> None:
    inner = ScriptedProvider(['"now"'])

    message, _ = await reply(SchemaTools(inner), request(says("user", "现在几点？")))

    assert [(call.name, call.arguments) for call in message.tool_calls] == [("now", {})]
    assert len(inner.requests) == 1


async def test_the_counts_of_all_questions_are_added_up() -> None:
    spent = Finish(usage=Usage(input=10, output=2))
    inner = ScriptedProvider([['"none"', spent], ["Hi.", Finish(usage=Usage(input=5, output=1))]])

    _, events = await reply(SchemaTools(inner), request(says("user", "Hello")))

    assert isinstance(events[-1], ReplyDone)
    assert events[-1].usage == Usage(input=15, output=3)


async def test_arguments_that_were_cut_are_told_to_the_model_not_run() -> None:
    inner = ScriptedProvider(['"weather"', '{"city": "Os'])

    message, _ = await reply(SchemaTools(inner), request(says("user", "Weather in Oslo?")))

    assert message.tool_calls[0].malformed == '{"city": "Os'


@pytest.mark.parametrize("nonsense", ["", "none", '"teapot"', "[]", "{"])
async def test_a_choice_that_is_no_tool_means_no_tool(nonsense: str) -> None:
    inner = ScriptedProvider([nonsense, "Hello."])

    message, _ = await reply(SchemaTools(inner), request(says("user", "Hi")))

    assert message.text == "Hello."


async def test_a_result_is_told_in_the_message_that_asked_for_it() -> None:
    inner = ScriptedProvider(['"none"', "It snows."])
    history = (says("user", "Weather in Oslo?"), says("assistant", CALL), says("tool", RESULT))

    message, _ = await reply(SchemaTools(inner), request(*history))

    assert message.text == "It snows."
    (told,) = inner.requests[-1].messages
    assert told.text.startswith("Weather in Oslo?\n")
    assert "Result of the tool weather: snow, -3 °C" in told.text


async def test_the_very_same_call_is_not_made_twice_in_a_turn() -> None:
    inner = ScriptedProvider(['"weather"', '{"city": "Oslo"}', "It snows."])
    history = (says("user", "Weather in Oslo?"), says("assistant", CALL), says("tool", RESULT))

    message, _ = await reply(SchemaTools(inner), request(*history))

    assert message.text == "It snows."


async def test_another_call_may_follow_but_not_for_ever() -> None:
    def called(city: str) -> tuple[Message, Message]:
        call = ToolCall(id=city, name="weather", arguments={"city": city})
        return says("assistant", call), says("tool", ToolResult(call=city, content=()))

    ask = says("user", "Weather in Oslo, Rome, Bonn, Kiel?")
    second = ScriptedProvider(['"weather"', '{"city": "Rome"}'])
    last = ScriptedProvider(["Fine everywhere."])

    more, _ = await reply(SchemaTools(second), request(ask, *called("Oslo")))
    done, _ = await reply(
        SchemaTools(last), request(ask, *called("Oslo"), *called("Rome"), *called("Bonn"))
    )

    assert more.tool_calls[0].arguments == {"city": "Rome"}
    assert done.text == "Fine everywhere."


async def test_an_optional_argument_copied_from_an_example_is_left_out() -> None:
    shown = Example(
        text="Oslo on Friday", tool="weather", arguments={"day": "Friday"}, words=("Friday",)
    )
    examples = {"weather": (shown,)}
    arguments = json.dumps({"city": "Oslo", "day": "Friday"})

    copied, _ = await reply(
        SchemaTools(ScriptedProvider(['"weather"', arguments]), examples=examples),
        request(says("user", "Weather in Oslo?")),
    )
    meant, _ = await reply(
        SchemaTools(ScriptedProvider(['"weather"', arguments]), examples=examples),
        request(says("user", "Weather in Oslo next Friday?")),
    )

    assert copied.tool_calls[0].arguments == {"city": "Oslo"}
    assert meant.tool_calls[0].arguments == {"city": "Oslo", "day": "Friday"}


async def test_without_tools_or_a_message_nothing_is_asked_first() -> None:
    inner = ScriptedProvider(["Hi.", "Welcome."])
    provider = SchemaTools(inner)

    await reply(provider, request(says("user", "Hello"), tools=()))
    await reply(provider, request(says("system", "Greet.")))

    assert len(inner.requests) == 2


async def test_leaving_early_closes_the_stream_beneath() -> None:
    inner = ScriptedProvider(['"none"', "A long answer that nobody reads to its end."])

    async with aclosing(SchemaTools(inner).stream(request(says("user", "Go on")))) as batches:
        await anext(batches)

    assert inner.closed == 1


def test_a_history_is_told_without_calls_and_keeps_every_word_of_people() -> None:
    told = spoken(
        (
            says("system", "S"),
            says("user", "奥斯陆天气如何？"),
            says("assistant", "我看看。", CALL),
            says("tool", RESULT),
            says("assistant", "在下雪。"),
            says("user", "谢谢"),
        )
    )

    assert [message.role for message in told] == ["system", "user", "assistant", "user"]
    assert told[1].text.startswith("奥斯陆天气如何？\n")
    assert "工具 weather 的结果：snow, -3 °C" in told[1].text
    assert [told[2].text, told[3].text] == ["在下雪。", "谢谢"]
    assert all(not isinstance(part, ToolCall | ToolResult) for m in told for part in m.parts)


def test_messages_of_people_in_a_row_are_one_turn() -> None:
    turns = turns_of((says("user", "a"), says("user", "b"), says("assistant", CALL)))

    assert [(turn.text, turn.calls) for turn in turns] == [("a\nb", [CALL])]


def test_a_long_message_is_judged_by_its_start_and_end() -> None:
    text = "Summarise: " + "x" * 5000 + " what is the weather in Oslo?"

    assert excerpt(text).startswith("Summarise: ")
    assert excerpt(text).endswith("weather in Oslo?")
    assert len(excerpt(text)) < 900
    assert signature(WEATHER) == "weather(city, day?)"
