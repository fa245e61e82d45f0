"""What every history must do, wherever it keeps its conversations.

A test module subclasses `HistoryContract`, marks it `pytest.mark.anyio` and gives it the fixture
`history`: an empty `History`.
"""

from __future__ import annotations

import asyncio

from teahouse.core.messages import Blob, Message, Role, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.history import History


def say(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


TURN = (
    Message(
        role="user",
        parts=(
            Text(text="现在几点？\nnow\u2028?\x85"),
            Blob(file="f_1", media_type="image/png", name="钟.png", size=3),
        ),
    ),
    Message(
        role="assistant",
        parts=(
            Thinking(text="hm", opaque={"origin": "acme/m", "given": {"signature": "c2ln"}}),
            ToolCall(id="k1", name="now", arguments={"zone": "亚洲/上海"}, opaque={"a": [1]}),
        ),
    ),
    Message(role="tool", parts=(ToolResult(call="k1", content=(Text(text="noon"),)),)),
    say("assistant", "正午。"),
)


class HistoryContract:
    async def test_a_conversation_that_nobody_has_written_to_is_empty(
        self, history: History
    ) -> None:
        assert list(await history.load("c")) == []

    async def test_what_is_appended_comes_back_in_order_and_byte_for_byte(
        self, history: History
    ) -> None:
        await history.append("c", TURN)
        await history.append("c", [say("user", "and now?")])

        assert tuple(await history.load("c")) == (*TURN, say("user", "and now?"))

    async def test_appending_nothing_changes_nothing(self, history: History) -> None:
        await history.append("c", TURN)
        await history.append("c", [])

        assert tuple(await history.load("c")) == TURN

    async def test_conversations_do_not_mix_whatever_they_are_called(
        self, history: History
    ) -> None:
        names = ["a", "A b", "../a", "a/b", "茶", "a%2Fb", "."]
        for name in names:
            await history.append(name, [say("user", name)])

        for name in names:
            assert [message.text for message in await history.load(name)] == [name]

    async def test_what_was_loaded_does_not_grow(self, history: History) -> None:
        await history.append("c", TURN)
        loaded = await history.load("c")
        await history.append("c", TURN)

        assert tuple(loaded) == TURN

    async def test_what_one_call_appends_stays_together(self, history: History) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                pair = [say("user", f"{number}"), say("assistant", f"{number}")]
                group.create_task(history.append("c", pair))

        texts = [message.text for message in await history.load("c")]
        assert texts[::2] == texts[1::2]
        assert sorted(map(int, texts[::2])) == list(range(20))
