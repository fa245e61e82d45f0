"""The smallest interface: three kinds of events, one line each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.errors import Invalid
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent
from teahouse.core.messages import Message, Text, Thinking, ToolCall, ToolResult, Usage
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.seed_chat import SeedChat

SEED = SeedChat()
HI = [{"role": "user", "content": "hi"}]


def read(**fields: Any) -> Asked:
    return SEED.read(json.dumps({"messages": HI, **fields}).encode())


def heard(body: bytes) -> list[dict[str, Any]]:
    lines = [line for line in body.decode().split("\n\n") if line and not line.startswith(":")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_the_body_of_the_simplest_call_is_enough() -> None:
    asked = read()
    assert (asked.model, asked.stream) == (None, True)
    assert asked.request.messages == (Message(role="user", parts=(Text(text="hi"),)),)
    assert "charset=utf-8" in SEED.stream_type


def test_calls_and_results_of_earlier_rounds_become_ours() -> None:
    asked = read(
        model="m/x",
        temperature=0.3,
        maxTokens=9,
        tools=[{"name": "now", "description": "d", "parameters": {"type": "object"}}],
        messages=[
            {"role": "system", "content": "s"},
            *HI,
            {
                "role": "assistant",
                "content": "",
                "toolCalls": [{"id": "1", "name": "now", "arguments": {"a": 1}}],
            },
            {"role": "tool", "name": "now", "toolCallId": "1", "content": "noon"},
        ],
    )
    assert asked.model == "m/x"
    request = asked.request
    assert (request.temperature, request.max_tokens) == (0.3, 9)
    assert [(tool.name, tool.description) for tool in request.tools] == [("now", "d")]
    assert [message.parts for message in request.messages[2:]] == [
        (ToolCall(id="1", name="now", arguments={"a": 1}),),
        (ToolResult(call="1", content=(Text(text="noon"),)),),
    ]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": [{"content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "bot", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].toolCallId"),
        (
            {"messages": [{"role": "assistant", "toolCalls": [{"id": "1", "name": "x"}]}]},
            "messages[0].toolCalls[0].arguments",
        ),
        ({"maxTokens": 0}, "maxTokens"),
        ({"temperature": "hot"}, "temperature"),
        ({"tools": [{"description": "x"}]}, "tools[0].name"),
    ],
)
def test_what_cannot_be_understood_is_named_by_its_path(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as error:
        read(**fields)
    assert error.value.values["field"] == field


def test_a_reply_is_tokens_calls_and_the_end_with_what_it_took() -> None:
    call = ToolCall(id="1", name="now", arguments={"a": 1}, opaque={"origin": "g/m", "given": {}})
    broken = ToolCall(id="2", name="now", arguments={}, malformed='{"a')
    voice = SEED.voice(read(), "m")
    body = voice.begin() + voice.beat()
    body += voice.tell([PartDelta(index=0, kind="thinking", delta="hm")])
    body += voice.tell([PartDelta(index=1, kind="text", delta="It")])
    body += voice.tell(
        [
            PartDone(index=0, part=Thinking(text="hm")),
            PartDelta(index=2, kind="tool_call", delta='{"a":1}'),
            PartDone(index=1, part=Text(text="It is")),
            PartDone(index=2, part=call),
            PartDone(index=3, part=broken),
            ReplyDone(reason="tool_calls", usage=Usage(input=5, output=2, cached=1)),
        ]
    )
    told = heard(body)
    carried = told[2]["call"].pop("carry")
    unread = {"INVALID_JSON": '{"a'}
    assert told == [
        {"type": "token", "content": "It"},
        {"type": "token", "content": " is"},
        {"type": "toolCall", "call": {"id": "1", "name": "now", "arguments": {"a": 1}}},
        {"type": "toolCall", "call": {"id": "2", "name": "now", "arguments": unread}},
        {
            "type": "done",
            "usage": {"input": 5, "output": 2, "total": 7, "cached": 1},
            "reason": "tool_calls",
        },
    ]
    back = [told[2]["call"] | {"carry": carried}, told[3]["call"]]
    message = read(messages=[{"role": "assistant", "content": "", "toolCalls": back}])
    assert message.request.messages[0].parts == (call, broken)


def test_an_error_is_told_in_the_stream_and_before_it_alike() -> None:
    refusal = Refusal(status=429, kind="quota", code="budget_day", message="Spent.")
    told = {"type": "error", "error": {"code": "budget_day", "message": "Spent."}}
    assert heard(SEED.voice(read(), "m").fail(refusal)) == [told]
    assert json.loads(SEED.refuse(refusal)) == told


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1)))
def test_the_tokens_are_the_text_and_one_line_each(pieces: list[str]) -> None:
    pieces = [*pieces, "\u2028\u2029\x85\n\r"]
    text = "".join(pieces)
    events: list[StreamEvent] = [PartDelta(index=0, kind="text", delta=one) for one in pieces]
    whole = SEED.voice(read(), "m").tell([PartDone(index=0, part=Text(text=text))])
    body = SEED.voice(read(), "m").whole([*events, PartDone(index=0, part=Text(text=text))])
    for told in (body, whole):
        assert "".join(event["content"] for event in heard(told)) == text
        assert len(told.decode().splitlines()) == told.count(b"\n")
