"""Histories that are many times as long take as many times the work, whatever they are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest

from teahouse.core.events import PartDelta, PartDone
from teahouse.core.messages import JsonObject, ToolCall
from teahouse.server.gateway.in_turn import InTurn
from teahouse.server.gateway.ollama.chat import Chat
from tests.growth import growth

HI = {"role": "user", "content": "hi"}


def _ollama(names: list[str]) -> JsonObject:
    calls = [{"function": {"name": f"f{i}", "arguments": {}}} for i in range(len(names))]
    asked = {"role": "assistant", "content": "", "tool_calls": calls}
    return {"messages": [HI, asked, *({"role": "tool", "tool_name": one} for one in names)]}


@pytest.mark.parametrize(
    "made",
    [
        lambda n: _ollama([f"f{n - 1 - i}" for i in range(n)]),
        lambda n: _ollama([""] * n),
        lambda n: _ollama(["other"] * n),
    ],
)
def test_four_times_as_long_is_four_times_the_work(
    made: Callable[[int], JsonObject],
) -> None:
    bodies = {n: json.dumps({"model": "a/m", **made(n)}).encode() for n in (200, 800)}

    assert growth(lambda size: partial(Chat().read, bodies[size])) < 6


class Place(int):
    """One whose comparisons are calls that can be counted."""

    def __lt__(self, other: int) -> bool:
        return int(self) < int(other)


def test_calls_that_are_many_at_once_are_not_all_looked_through_for_each() -> None:
    call = ToolCall(id="c", name="f", arguments={})

    def ask(count: int) -> None:
        turn, places = InTurn(), [Place(number) for number in range(count)]
        for event in (
            *(PartDelta(index=place, kind="tool_call", delta="{}") for place in places),
            *(PartDone(index=place, part=call) for place in reversed(places)),
        ):
            list(turn.take(event))

    assert growth(lambda size: partial(ask, size)) < 6
