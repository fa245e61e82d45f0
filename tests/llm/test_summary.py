"""What is too old for the window is folded into a summary, written seldom and used often."""

from __future__ import annotations

import pytest

from teahouse.core.messages import Message, Role, Text, ToolCall, ToolResult
from teahouse.llm.errors import Overloaded
from teahouse.llm.repair import repair
from teahouse.llm.summary import Summaries
from teahouse.llm.tokens import estimate, estimate_messages

pytestmark = pytest.mark.anyio

ROOM = 1200


def say(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


def turn(number: int) -> list[Message]:
    call = ToolCall(id=f"k{number}", name="now", arguments={"zone": "茶"})
    result = ToolResult(call=f"k{number}", content=(Text(text=f"noon {number}"),))
    return [
        say("user", f"question {number} " + "问" * 80),
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
        say("assistant", f"answer {number}"),
    ]


def talk(turns: int) -> list[Message]:
    return [say("system", "rules"), *(message for n in range(turns) for message in turn(n))]


class Writer:
    """Answers each question with `text` and remembers what it was asked."""

    def __init__(self, text: str = "They talked of tea.") -> None:
        self.text, self.asked, self.most = text, list[str](), list[int]()

    async def __call__(self, question: str, most: int) -> str:
        self.asked.append(question)
        self.most.append(most)
        return self.text


async def test_what_fits_is_left_alone() -> None:
    writer = Writer()

    kept = await Summaries().fit(talk(3), ROOM, writer, "en-US")

    assert kept == tuple(talk(3))
    assert not writer.asked


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en-US", "The 36 earlier messages"),
        ("zh-CN", "前面的 36 条消息"),
        ("zh-HK", "前面的 36 條"),
    ],
)
async def test_the_oldest_turns_become_a_note_that_says_how_many_they_were(
    language: str, words: str
) -> None:
    writer = Writer()

    kept = await Summaries().fit(talk(14), ROOM, writer, language)  # type: ignore[arg-type]

    assert estimate_messages(kept) <= ROOM
    assert kept[0] == say("system", "rules")
    assert kept[1].role == "user"
    assert words in kept[1].text
    assert "They talked of tea." in kept[1].text
    assert kept[1].text.endswith(turn(9)[0].text)
    assert kept[2:] == tuple(talk(14)[len(talk(14)) - len(kept) + 2 :])
    assert repair(kept) == kept  # no call is parted from its result
    assert "question 0" in writer.asked[0]
    assert "noon 8" in writer.asked[0]
    assert "question 9" not in writer.asked[0]
    assert estimate(writer.asked[0]) + writer.most[0] // 2 <= ROOM


async def test_a_summary_serves_until_what_follows_has_no_room() -> None:
    writer, summaries = Writer(), Summaries()
    for turns in range(1, 40):
        kept = await summaries.fit(talk(turns), ROOM, writer, "zh-CN")
        assert estimate_messages(kept) <= ROOM
        assert kept[-4:-1] == tuple(talk(turns)[-4:-1])

    assert 4 <= len(writer.asked) <= 8
    assert "<summary>\nThey talked of tea.\n</summary>" in writer.asked[1]
    assert "question 0 " not in writer.asked[1]
    assert "前面的 124 条" in kept[1].text  # 31 turns of four messages


async def test_another_conversation_has_its_own_summary() -> None:
    writer, summaries = Writer(), Summaries()
    await summaries.fit(talk(14), ROOM, writer, "en-US")
    other = [say("system", "rules"), *turn(99), *talk(14)[1:]]

    await summaries.fit(other, ROOM, writer, "en-US")

    assert len(writer.asked) == 2


async def test_the_oldest_summaries_are_forgotten() -> None:
    writer, summaries = Writer(), Summaries(most=2)
    for first in (1, 2, 3, 1, 3):
        await summaries.fit([*turn(first), *talk(14)[1:]], ROOM, writer, "en-US")

    assert len(writer.asked) == 4


async def test_what_is_too_long_to_be_summarised_whole_loses_its_middle() -> None:
    writer = Writer("x" * 50_000)
    old = [say("user", "begin " + "长" * 9000 + " end"), say("assistant", "yes")]

    kept = await Summaries().fit([*old, *turn(1)], ROOM, writer, "zh-CN")

    assert estimate(writer.asked[0]) <= ROOM
    assert "begin" in writer.asked[0]
    assert estimate_messages(kept) <= ROOM
    assert kept[1:] == tuple(turn(1)[1:])


async def test_who_writes_may_take_less_than_who_reads() -> None:
    writer = Writer()

    await Summaries().fit(talk(60), 4 * ROOM, writer, "zh-CN", readable=2 * ROOM)

    assert estimate(writer.asked[0]) + writer.most[0] // 2 <= 2 * ROOM
    assert "question 0 " in writer.asked[0]


async def test_an_empty_summary_is_none() -> None:
    kept = await Summaries().fit(talk(14), ROOM, Writer("  "), "en-US")

    assert estimate_messages(kept) <= ROOM
    assert kept[1] in talk(14)


async def test_who_writes_it_may_fail() -> None:
    async def fail(question: str, most: int) -> str:
        raise Overloaded("acme")

    with pytest.raises(Overloaded):
        await Summaries().fit(talk(14), ROOM, fail, "en-US")
