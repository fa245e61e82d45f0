from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.messages import Message, Role, Text, ToolCall, ToolResult
from teahouse.llm.context import fit
from teahouse.llm.tokens import estimate_messages


def say(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


def turn(number: int, length: int = 40) -> list[Message]:
    call = ToolCall(id=f"k{number}", name="now", arguments={})
    result = ToolResult(call=f"k{number}", content=(Text(text="noon"),))
    return [
        say("user", f"{number} " + "问" * length),
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
        say("assistant", f"answer {number}"),
    ]


HISTORY = [say("system", "rules"), *(message for n in range(20) for message in turn(n))]


def test_what_fits_stays_as_it_is() -> None:
    assert fit(HISTORY, 100_000) == tuple(HISTORY)


@given(st.integers(120, 2000))
def test_the_oldest_turns_go_whole_and_the_rest_fits(tokens: int) -> None:
    kept = fit(HISTORY, tokens)

    assert estimate_messages(kept) <= tokens
    assert kept[0] == HISTORY[0]
    assert kept[1].role == "user"
    assert list(kept[1:]) == HISTORY[len(HISTORY) - len(kept) + 1 :]


def test_an_overlong_question_loses_its_middle_but_neither_begin_nor_end() -> None:
    question = "begin " + "x" * 100_000 + " end"
    kept = fit([say("system", "rules"), say("user", "old"), say("user", question)], 500)

    assert estimate_messages(kept) <= 520
    assert len(kept) == 2
    assert kept[1].text.startswith("begin")
    assert kept[1].text.endswith("end")
    assert "[…]" in kept[1].text


@given(st.lists(st.sampled_from(["user", "assistant"]), max_size=6), st.integers(0, 50))
def test_it_never_fails(roles: list[Role], tokens: int) -> None:
    fit([say(role, "茶" * 30) for role in roles], tokens)
