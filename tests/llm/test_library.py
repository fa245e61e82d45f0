"""The small things for programs: tools made of functions, and a chat that keeps what was said."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Literal

import msgspec
import pytest

from teahouse import llm
from teahouse.core.errors import Invalid, SettingsError, ToolFailed
from teahouse.core.messages import Blob, JsonObject
from teahouse.llm import Chat, Client, MemoryHistory, Message, Model, Text, ToolContext, as_tool
from teahouse.llm.errors import Overloaded, StreamCut
from teahouse.llm.loop import Limits
from teahouse.llm.tokens import estimate_messages
from teahouse.llm.tool import Tool
from teahouse.testing.providers import Gate, Script, ScriptedProvider

pytestmark = pytest.mark.anyio


class Leaf(msgspec.Struct):
    name: str
    grams: float = 3


@as_tool(repeatable=True)
def steep(
    leaf: Leaf,
    kind: Literal["green", "black"],
    cups: Annotated[int, msgspec.Meta(ge=1, description="How many.")] = 1,
    notes: list[str] | None = None,
) -> JsonObject:
    """How a tea is steeped.

    In water, as a rule.

    Args:
        kind: what was done to the leaves
        cups: never shown, the type says it
    Returns:
        grams
    """
    return {"g": leaf.grams * cups, "kind": kind, "notes": notes}


async def call(tool: Tool, **arguments: object) -> str:
    content = await tool(arguments, ToolContext(conversation="c_1"))
    return "".join(part.text for part in content if isinstance(part, Text))


def test_a_tool_is_what_its_function_says() -> None:
    assert steep.repeatable
    assert steep.spec.name == "steep"
    assert steep.spec.description == "How a tea is steeped.\n\nIn water, as a rule."
    parameters = steep.spec.parameters
    assert parameters["type"] == "object"
    assert parameters["required"] == ["leaf", "kind"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["kind"] == {
        "enum": ["black", "green"],
        "description": "what was done to the leaves",
    }
    assert parameters["properties"]["cups"]["description"] == "How many."
    assert parameters["$defs"]["Leaf"]["required"] == ["name"]


async def test_arguments_become_values_of_their_types() -> None:
    told = await call(steep, leaf={"name": "龙井"}, kind="green", cups="2")

    assert told == '{"g":6,"kind":"green","notes":null}'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "green"}, "leaf"),
        ({"leaf": {"name": "x"}, "kind": "white"}, "white"),
        ({"leaf": {"name": "x"}, "kind": "green", "cups": 0}, r"\$\.cups"),
        ({"leaf": {"name": "x"}, "kind": "green", "milk": True}, "milk"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model_and_not_to_the_function(
    arguments: JsonObject, words: str
) -> None:
    with pytest.raises(ToolFailed, match=words):
        await steep(arguments, ToolContext())


async def test_a_function_that_blocks_runs_in_a_thread_and_an_async_one_here() -> None:
    @as_tool
    def blocking() -> str:
        return threading.current_thread().name

    @as_tool
    async def waiting() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert await call(blocking) != threading.current_thread().name
    assert await call(waiting) == threading.current_thread().name


async def test_the_context_is_filled_in_and_pictures_pass() -> None:
    picture = Blob(file="f_1", media_type="image/png", name="a.png", size=1)

    @as_tool
    def look(context: ToolContext, at: str) -> tuple[Text | Blob, ...]:
        return Text(text=f"{context.conversation} {at}"), picture

    assert list(look.spec.parameters["properties"]) == ["at"]
    content = await look({"at": "it"}, ToolContext(conversation="c_1"))
    assert content == (Text(text="c_1 it"), picture)


@as_tool
def now(zone: str = "UTC") -> str:
    """The time."""
    return f"noon in {zone}"


def model(*replies: Script) -> tuple[Model, ScriptedProvider]:
    provider = ScriptedProvider(replies)
    return Model("acme/fake", Client({"acme": provider})), provider


ASKS = [llm.ToolCall(id="k1", name="now", arguments={"zone": "CET"})]


async def said(chat: Chat, text: str) -> str:
    return "".join([piece async for piece in chat.stream(text)])


async def test_a_chat_runs_tools_and_remembers() -> None:
    asked, provider = model(ASKS, "It is noon.", "You asked for the time.")
    chat = Chat(asked, system="Be brief.", tools=[now])

    assert await said(chat, "What time is it?") == "It is noon."
    assert await said(chat, "What did I ask?") == "You asked for the time."

    last = provider.requests[-1]
    assert [message.role for message in last.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user")
    ]
    assert last.messages[3].parts[0] == llm.ToolResult(
        call="k1", content=(Text(text="noon in CET"),)
    )
    assert [spec.name for spec in last.tools] == ["now"]


async def test_two_chats_share_a_history_by_name() -> None:
    asked, provider = model("one", "two", "three")
    history = MemoryHistory()
    await said(Chat(asked, history=history, conversation="a"), "1")
    await said(Chat(asked, history=history, conversation="b"), "2")
    await said(Chat(asked, history=history, conversation="a"), "3")

    assert [message.text for message in provider.requests[-1].messages] == ["1", "one", "3"]


async def test_what_failed_leaves_no_trace_in_the_history() -> None:
    asked, _ = model(["half", StreamCut("acme")], "whole")
    history = MemoryHistory()
    chat = Chat(asked, history=history)

    with pytest.raises(StreamCut):
        await said(chat, "hi")

    assert list(await history.load("main")) == []
    assert await said(chat, "hi") == "whole"


async def test_steps_that_were_finished_are_kept_when_a_later_one_fails() -> None:
    asked, _ = model(ASKS, ["half", StreamCut("acme")])
    history = MemoryHistory()

    with pytest.raises(StreamCut):
        await said(Chat(asked, tools=[now], history=history), "What time is it?")

    assert [message.role for message in await history.load("main")] == ["user", "assistant", "tool"]


async def test_leaving_early_closes_the_stream() -> None:
    gate = Gate()
    asked, provider = model(["begun ", gate, "never"])
    async with asyncio.timeout(10), aclosing(Chat(asked).stream("hi")) as texts:
        assert await anext(texts) == "begun "

    assert provider.closed == 1


async def test_the_window_leaves_out_the_oldest_turns() -> None:
    asked, provider = model(*["茶" * 100 for _ in range(8)])
    chat = Chat(asked, window=600, limits=Limits())
    for number in range(8):
        await said(chat, f"{number} " + "问" * 50)

    sent: Sequence[Message] = provider.requests[-1].messages
    assert estimate_messages(sent) <= 450
    assert sent[0].role == "user"
    assert sent[-1].text.startswith("7 ")


async def test_errors_of_the_first_step_reach_the_reader() -> None:
    asked, _ = model(*[Overloaded("acme")] * 3)
    quick = Model(asked.name, Client(asked.client.providers, sleep=lambda _: asyncio.sleep(0)))

    with pytest.raises(Overloaded) as caught:
        await said(Chat(quick), "hi")

    assert caught.value.problem().retryable


@pytest.mark.parametrize(
    ("name", "error"),
    [("gpt-4o", Invalid), ("opnai/gpt-4o", SettingsError), ("custom/m", SettingsError)],
)
async def test_a_model_that_cannot_be_reached_is_refused_at_once(
    name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        async with llm.connect(name, key="k"):
            pytest.fail("connected")


def test_every_public_name_is_there() -> None:
    assert all(getattr(llm, name) for name in llm.__all__)
    assert set(llm.__all__) <= set(dir(llm))
    with pytest.raises(AttributeError, match="moon"):
        llm.moon  # noqa: B018
