"""Responses that are kept for a while: who points to them gets what was said, nobody else does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from teahouse.core.errors import Invalid, NotFound
from teahouse.core.events import PartDone, ReplyDone, StreamEvent
from teahouse.core.messages import JsonObject, Message, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.server.gateway.kept_responses import KeptResponses, Shelf
from teahouse.server.gateway.openai.responses import OpenAIResponses
from teahouse.testing.clock import FakeClock

SEAL: JsonObject = {"origin": "a/m", "given": {"signature": "s"}}
CALL = ToolCall(id="c_1", name="f", arguments={"x": 1}, opaque=SEAL)
THOUGHT = Thinking(text="hm", opaque=SEAL)
RESULT: JsonObject = {"type": "function_call_output", "call_id": "c_1", "output": "7"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def kept(clock: FakeClock) -> KeptResponses:
    return KeptResponses(clock, most=10_000)


def ask(shelf: Shelf, **fields: Any) -> tuple[Message, ...]:
    body = json.dumps({"model": "m/x", "input": "Hi"} | fields).encode()
    return OpenAIResponses(shelf=shelf).read(body).request.messages


def answer(shelf: Shelf, *parts: Part, stream: bool = False, **fields: Any) -> JsonObject:
    """What a client hears when it asks, and is answered with `parts`."""
    dialect = OpenAIResponses(shelf=shelf)
    body = json.dumps({"model": "m/x", "input": "Hi", "stream": stream} | fields).encode()
    voice = dialect.voice(dialect.read(body), "m/x")
    events: list[StreamEvent] = [PartDone(index=i, part=part) for i, part in enumerate(parts)]
    events.append(ReplyDone(reason="stop"))
    if not stream:
        return json.loads(voice.whole(events))
    last = (voice.begin() + voice.tell(events)).split(b"\n\n")[-2]
    return json.loads(last.partition(b"data: ")[2])["response"]


def said(*parts: Part, role: Any = "assistant") -> Message:
    return Message(role=role, parts=parts)


HI = said(Text(text="Hi"), role="user")
SEVEN = said(ToolResult(call="c_1", content=(Text(text="7"),)), role="tool")


@pytest.mark.parametrize("stream", [False, True])
def test_items_that_are_pointed_to_stand_in_their_place(
    kept: KeptResponses, *, stream: bool
) -> None:
    shelf = kept.shelf("k_1")
    told = answer(shelf, THOUGHT, Text(text="so"), CALL, stream=stream)
    assert told["store"] is True
    pointing = [{"type": "item_reference", "id": item["id"]} for item in told["output"]]

    asked = ask(shelf, input=[{"role": "user", "content": "Hi"}, *pointing, RESULT])

    assert asked == (HI, said(THOUGHT, Text(text="so"), CALL), SEVEN)


def test_a_response_goes_on_from_the_whole_conversation_before(kept: KeptResponses) -> None:
    shelf = kept.shelf("k_1")
    first = answer(shelf, CALL, instructions="be kind")
    second = answer(shelf, Text(text="7"), previous_response_id=first["id"], input=[RESULT])
    assert second["previous_response_id"] == first["id"]

    asked = ask(shelf, previous_response_id=second["id"], input="And?")

    assert asked == (
        HI,
        said(CALL),
        SEVEN,
        said(Text(text="7")),
        said(Text(text="And?"), role="user"),
    )


def test_nobody_reaches_what_another_has_asked(kept: KeptResponses) -> None:
    told = answer(kept.shelf("k_1"), Text(text="secret"))
    other = kept.shelf("k_2")

    assert other.response(told["id"]) is None
    assert not other.forget(told["id"])
    with pytest.raises(Invalid) as caught:
        ask(other, previous_response_id=told["id"])
    assert caught.value.code == "previous_response_not_found"
    with pytest.raises(NotFound) as missing:
        ask(other, input=[{"type": "item_reference", "id": told["output"][0]["id"]}])
    assert missing.value.code == "item_not_kept"
    assert "store" in (missing.value.problem().hint or "")


def test_what_is_not_to_be_stored_is_not(kept: KeptResponses) -> None:
    shelf = kept.shelf("k_1")

    told = answer(shelf, Text(text="so"), store=False)

    assert told["store"] is False
    assert shelf.response(told["id"]) is None


def test_what_nobody_uses_for_an_hour_is_gone(kept: KeptResponses, clock: FakeClock) -> None:
    shelf = kept.shelf("k_1")
    first, second = (answer(shelf, Text(text="so"))["id"] for _ in range(2))
    clock.advance(3000)
    assert shelf.response(second)
    clock.advance(3000)

    assert shelf.response(first) is None
    assert shelf.response(second)


def test_together_they_take_no_more_than_so_many_bytes(kept: KeptResponses) -> None:
    shelves = [kept.shelf(f"k_{number}") for number in range(4)]
    told = [answer(shelf, Text(text="x" * 2000))["id"] for shelf in shelves]
    answer(shelves[0], Text(text="x" * 20_000))  # told, though too big to be kept

    there = [shelf.response(name) for shelf, name in zip(shelves, told, strict=True)]
    assert [one is not None for one in there] == [False, True, True, True]


def test_a_conversation_of_which_a_part_is_gone_is_not_gone_on_with(kept: KeptResponses) -> None:
    shelf = kept.shelf("k_1")
    first = answer(shelf, Text(text="one"))["id"]
    second = answer(shelf, Text(text="two"), previous_response_id=first)["id"]
    assert shelf.forget(first)

    with pytest.raises(Invalid):
        ask(shelf, previous_response_id=second)
