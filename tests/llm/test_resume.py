"""A reply that was cut is gone on with where the model can do that, and the reader sees one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text, ToolCall
from teahouse.llm.client import Client
from teahouse.llm.errors import StreamCut
from teahouse.llm.profiles import DEFAULT, profile_for
from teahouse.llm.provider import ModelRequest
from teahouse.llm.providers import build_provider
from teahouse.llm.resume import MOST, joined
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.usage import CallRecord
from teahouse.testing import anthropic_answers as anthropic
from teahouse.testing.answers import Answer, chunk, error_answer, text_answer, tool_answer
from teahouse.testing.endpoint import Endpoint

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(model="", messages=(Message(role="user", parts=(Text(text="Tea?"),)),))


class Notes(list[CallRecord]):
    def note(self, call: CallRecord, /) -> None:
        self.append(call)


@asynccontextmanager
async def talk(
    *answers: Answer, vendor: str = "llamacpp", model: str = "m", **quirks: Any
) -> AsyncIterator[tuple[Endpoint, Client, Notes, str]]:
    async with Endpoint(answers) as endpoint, Transport() as transport:
        settings = ProviderSettings(vendor=vendor, base_url=endpoint.base_url, quirks=quirks)
        notes = Notes()
        provider = build_provider("x", settings, "key", transport)
        yield endpoint, Client({"x": provider}, ledger=notes), notes, f"x/{model}"


async def read(
    client: Client, model: str, events: list[StreamEvent], request: ModelRequest = REQUEST
) -> None:
    async with aclosing(client.stream(model, request)) as batches:
        async for batch in batches:
            assert batch
            events += batch


def cut_after(*pieces: str) -> Answer:
    begun = chunk({"role": "assistant", "content": ""})
    return Answer(steps=(begun, *(chunk({"content": piece}) for piece in pieces), "cut"))


def lawful(events: list[StreamEvent]) -> str:
    """One end, each part done once, after its deltas and made of them; returns the text."""
    assert [type(e) for e in events].count(ReplyDone) == 1
    assert isinstance(events[-1], ReplyDone)
    spoken: dict[int, str] = {}
    done: set[int] = set()
    for event in events:
        if isinstance(event, PartDelta):
            assert event.index not in done
            spoken[event.index] = spoken.get(event.index, "") + event.delta
        elif isinstance(event, PartDone):
            assert event.index not in done
            done.add(event.index)
            if isinstance(event.part, Text):
                assert event.part.text == spoken[event.index]
    assert done == set(range(len(done)))
    return fold(events).text


async def test_a_cut_reply_is_gone_on_with_as_one_part() -> None:
    answers = cut_after("Green tea, ", "eighty "), text_answer(["degrees", "."])
    async with talk(*answers) as (endpoint, client, notes, model):
        events: list[StreamEvent] = []
        await read(client, model, events)

        assert lawful(events) == "Green tea, eighty degrees."
        assert len(fold(events).parts) == 1
        assert endpoint.requests[1].body["messages"][-1] == {
            "role": "assistant",
            "content": "Green tea, eighty ",
        }
        assert [(n.attempt, n.outcome) for n in notes] == [(1, "failed"), (2, "answered")]
        done = events[-1]
        assert isinstance(done, ReplyDone)
        assert done.usage.output == sum(n.output for n in notes)
        assert done.usage.input == sum(n.input for n in notes)
        assert done.usage.estimated


async def test_it_is_gone_on_with_twice_and_no_more() -> None:
    pieces = [cut_after(f"{n} tea ") for n in range(MOST + 1)]
    async with talk(*pieces, text_answer(["never"])) as (endpoint, client, notes, model):
        events: list[StreamEvent] = []
        with pytest.raises(StreamCut):
            await read(client, model, events)

        assert fold(events).text == "0 tea 1 tea 2 tea "
        assert len(endpoint.requests) == len(notes) == MOST + 1
        assert len([e for e in events if isinstance(e, PartDone)]) == 1


async def test_what_is_said_again_is_left_out_while_it_streams() -> None:
    said = "The water should be at eighty degrees, "
    again = ["should be at ei", "ghty deg", "rees, not at a", " hundred."]
    async with talk(cut_after(said), text_answer(again)) as (_, client, _, model):
        events: list[StreamEvent] = []
        await read(client, model, events)

    assert lawful(events) == "The water should be at eighty degrees, not at a hundred."


async def test_a_blank_that_was_not_sent_is_not_doubled() -> None:
    begun = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "先温杯，\n\n"}
    first = Answer(steps=(anthropic.start(), *anthropic.block(0, begun, delta)[:2], "cut"))
    more = anthropic.text_answer(["\n", "\n再投茶。"])
    async with talk(first, more, vendor="anthropic", model="claude-sonnet-4-5") as all_of_it:
        endpoint, client, _, model = all_of_it
        events: list[StreamEvent] = []
        await read(client, model, events)

        assert lawful(events) == "先温杯，\n\n再投茶。"
        last = endpoint.requests[1].body["messages"][-1]
        assert last["role"] == "assistant"
        assert last["content"][-1]["text"] == "先温杯，"


async def test_a_tool_may_be_called_after_the_break() -> None:
    answers = cut_after("Let me look: "), tool_answer([("k1", "now", {})])
    async with talk(*answers) as (_, client, _, model):
        events: list[StreamEvent] = []
        await read(client, model, events)

    lawful(events)
    assert fold(events).parts == (
        Text(text="Let me look: "),
        ToolCall(id="k1", name="now", arguments={}),
    )


@pytest.mark.parametrize(
    ("vendor", "mark"),
    [
        ("mistral", {"prefix": True}),
        ("vllm", {"continue_final_message": True, "add_generation_prompt": False}),
    ],
)
async def test_each_vendor_is_told_in_its_own_way(vendor: str, mark: dict[str, Any]) -> None:
    answers = cut_after("Green "), text_answer(["tea"])
    async with talk(*answers, vendor=vendor) as (endpoint, client, _, model):
        events: list[StreamEvent] = []
        await read(client, model, events)

        first, second = (request.body for request in endpoint.requests)
        assert mark.items() <= (second | second["messages"][-1]).items()
        assert not mark.keys() & (first | first["messages"][-1]).keys()
        assert lawful(events) == "Green tea"


CALL = chunk(
    {"tool_calls": [{"index": 0, "id": "k", "function": {"name": "now", "arguments": "{"}}]}
)
HALF_CALL = Answer(steps=(chunk({"content": "I look "}), CALL, "cut"))
THOUGHT = Answer(steps=(chunk({"reasoning_content": "hm"}), chunk({"content": "Yes"}), "cut"))


@pytest.mark.parametrize(
    ("answer", "quirks", "request_"),
    [
        (cut_after("Green "), {"continues": "no"}, REQUEST),
        (THOUGHT, {}, REQUEST),
        (cut_after("{"), {}, ModelRequest(model="", messages=REQUEST.messages, schema={})),
        (cut_after("Yes"), {}, ModelRequest(model="", messages=REQUEST.messages, effort="high")),
    ],
)
async def test_what_cannot_be_taken_up_stays_cut(
    answer: Answer, quirks: dict[str, Any], request_: ModelRequest
) -> None:
    async with talk(answer, text_answer(["never"]), **quirks) as (endpoint, client, _, model):
        events: list[StreamEvent] = []
        with pytest.raises(StreamCut):
            await read(client, model, events, request_)

        assert len(endpoint.requests) == 1
        assert fold(events).text


async def test_an_open_call_is_dropped_and_never_made_twice() -> None:
    async with talk(HALF_CALL, text_answer(["never"])) as (endpoint, client, _, model):
        events: list[StreamEvent] = []
        with pytest.raises(StreamCut):
            await read(client, model, events)

        assert len(endpoint.requests) == 1
        assert not fold(events).tool_calls


async def test_who_refuses_to_go_on_leaves_the_cut_and_what_was_said() -> None:
    answers = cut_after("Green "), error_answer(400, "prefill is not supported")
    async with talk(*answers) as (_, client, notes, model):
        events: list[StreamEvent] = []
        with pytest.raises(ProviderError) as caught:
            await read(client, model, events)

        assert isinstance(caught.value, StreamCut)
        assert events[-1] == PartDone(index=0, part=Text(text="Green "))
        assert [n.code for n in notes] == ["provider_stream_cut", "provider_refused"]


@pytest.mark.parametrize(
    ("model", "continues"),
    [
        ("claude-3-5-haiku-latest", "plain"),
        ("claude-sonnet-4-20250514", "plain"),
        ("claude-opus-4-1", "plain"),
        ("claude-haiku-4-5-20251001", "plain"),
        ("claude-sonnet-4-6", "no"),
        ("claude-opus-4-6-20260201", "no"),
        ("claude-sonnet-5-5", "no"),
        ("gpt-4o", "no"),
    ],
)
def test_it_is_known_which_claude_goes_on(model: str, continues: str) -> None:
    assert profile_for(DEFAULT, model, {}).continues == continues


@given(st.text(max_size=40), st.text(max_size=40))
def test_joining_loses_nothing_of_what_was_said(said: str, more: str) -> None:
    whole = joined(said, more)

    assert whole.startswith(said)
    assert whole == said or more.endswith(whole[len(said) :])


def test_a_line_of_dashes_is_no_overlap() -> None:
    assert joined("a\n" + "-" * 30, "-" * 20 + "\nb") == "a\n" + "-" * 50 + "\nb"
