"""Any history becomes one that strict endpoints accept, and no user's word is lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.core.messages import Blob, Message, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.client import Client
from teahouse.llm.provider import ModelRequest
from teahouse.llm.repair import NO_OUTPUT, NOTHING_SAID, repair
from teahouse.llm.repair_json import repair_json
from teahouse.llm.tool_run import INTERRUPTED
from teahouse.testing.case_files import read_cases
from teahouse.testing.providers import ScriptedProvider
from teahouse.testing.repairs import flaws_of, judge, lost_texts
from tests.growth import growth
from tests.llm.conversation import call, result, said

CASES = Path(__file__).resolve().parents[1] / "cases"
HI = Message(role="user", parts=(Text(text="hi"),))


def named(ref: str, name: str, **arguments: object) -> ToolCall:
    return ToolCall(id=ref, name=name, arguments=arguments)


@pytest.mark.parametrize("path", sorted(CASES.glob("repair*.jsonl")), ids=lambda path: path.stem)
def test_every_case_holds_the_laws(path: Path) -> None:
    failed = {v.id: v.problems for v in judge(read_cases(path)) if not v.passed}

    assert failed == {}


def test_a_whole_history_stays_as_it_is() -> None:
    opaque = {"origin": "acme/m", "given": {"signature": "s"}}
    history = (
        said("system", "be kind"),
        HI,
        said("assistant", Thinking(text="", opaque=opaque), "let me see", call("a"), call("b")),
        said("tool", result("a", "1"), result("b", "2")),
        said("assistant", "done"),
        said("user", "thanks", Blob(file="f_1", media_type="image/png", name="a.png", size=3)),
    )

    assert repair(history) == history


def test_nothing_and_system_messages_alone_stay() -> None:
    alone = (said("system", "a"), said("system", "b"))

    assert repair(()) == ()
    assert repair(alone) == alone


def test_the_parts_of_a_whole_run_become_the_messages_they_were() -> None:
    run = said("assistant", "see", call("a"), result("a", "1"), call("b"), result("b", "2"), "done")

    assert repair([HI, run]) == (
        HI,
        said("assistant", "see", call("a")),
        said("tool", result("a", "1")),
        said("assistant", call("b")),
        said("tool", result("b", "2")),
        said("assistant", "done"),
    )


def test_results_move_to_their_calls_and_the_missing_are_told() -> None:
    history = [
        HI,
        said("assistant", call("a"), call("b")),
        said("user", "still there?"),
        said("tool", result("b", "2"), result("z", "9"), result("b", "again")),
    ]
    missing = ToolResult(call="a", content=(Text(text=INTERRUPTED),), is_error=True)

    assert repair(history) == (
        HI,
        said("assistant", call("a"), call("b")),
        said("tool", missing, result("b", "2")),
        said("user", "still there?"),
    )


def test_calls_of_one_id_get_their_own_and_keep_their_results() -> None:
    history = [
        HI,
        said("assistant", call("a", x=1)),
        said("tool", result("a", "1")),
        said("assistant", call("a", x=2), call("a", x=3), call("", x=4)),
        said("tool", result("a", "2"), result("a", "3"), result("", "4")),
    ]

    repaired = repair(history)
    calls = [c for m in repaired for c in m.tool_calls]
    results = {p.call: p.content for m in repaired for p in m.parts if isinstance(p, ToolResult)}

    assert [c.arguments["x"] for c in calls] == [1, 2, 3, 4]
    assert len({c.id for c in calls}) == 4
    assert [results[c.id] for c in calls] == [(Text(text=str(n)),) for n in (1, 2, 3, 4)]


def test_a_result_is_that_of_the_latest_call_of_its_id() -> None:
    history = [HI, said("assistant", call("a")), said("assistant", call("a"))]

    *_, first, _, second = repair([*history, said("tool", result("a", "1"))])

    assert [INTERRUPTED in str(first), INTERRUPTED in str(second)] == [True, False]


def answered(history: list[dict[str, Any]]) -> dict[str, str]:
    """What each tool of a repaired history gave."""
    repaired = repair_json(history)
    names = {c["id"]: c["function"]["name"] for m in repaired for c in m.get("tool_calls", [])}
    return {names[m["tool_call_id"]]: m["content"] for m in repaired if m["role"] == "tool"}


@pytest.mark.parametrize(
    "history",
    [
        [
            {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "g"}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "f", "response": {"r": 1}}},
                    {"functionResponse": {"name": "g", "response": {"r": 2}}},
                ],
            },
        ],
        [
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": '{"r":1}'},
            {"role": "assistant", "function_call": {"name": "g", "arguments": "{}"}},
            {"role": "function", "name": "g", "content": '{"r":2}'},
        ],
        [
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "2", "name": "g", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "2", "output": '{"r":2}'},
            {"type": "function_call_output", "call_id": "1", "output": '{"r":1}'},
        ],
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "1", "name": "f", "input": {}},
                    {"type": "tool_use", "id": "2", "name": "g", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "2", "content": '{"r":2}'},
                    {"type": "tool_result", "tool_use_id": "1", "content": '{"r":1}'},
                ],
            },
        ],
        [
            {
                "type": "ai",
                "content": "",
                "tool_calls": [
                    {"name": "f", "args": {}, "id": "1"},
                    {"name": "g", "args": {}, "id": "2"},
                ],
            },
            {"type": "tool", "tool_call_id": "2", "content": '{"r":2}'},
            {"type": "tool", "tool_call_id": "1", "content": '{"r":1}'},
        ],
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {}},
                    {"type": "tool-call", "toolCallId": "2", "toolName": "g", "input": {}},
                ],
            },
            {
                "role": "tool",
                "content": [
                    {"type": "tool-result", "toolCallId": "2", "output": {"r": 2}},
                    {"type": "tool-result", "toolCallId": "1", "output": {"r": 1}},
                ],
            },
        ],
    ],
    ids=["gemini", "functions", "responses", "anthropic", "langchain", "ai-sdk"],
)
def test_calls_and_results_of_other_programs_stay_together(history: list[dict[str, Any]]) -> None:
    assert answered(history) == {"f": '{"r":1}', "g": '{"r":2}'}


def test_calls_of_one_name_without_ids_get_their_results_in_order() -> None:
    calls = [{"functionCall": {"name": "f", "args": {"x": n}}} for n in (1, 2)]
    results = [{"functionResponse": {"name": "f", "response": {"x": n}}} for n in (1, 2)]
    repaired = repair_json([{"role": "model", "parts": calls}, {"role": "user", "parts": results}])

    assert [m["content"] for m in repaired if m["role"] == "tool"] == ['{"x":1}', '{"x":2}']


def test_nesting_beyond_reason_is_no_end_of_the_world() -> None:
    deep: Any = "hi"
    for _ in range(5000):
        deep = [deep]

    assert repair_json([deep, {"role": "user", "content": [deep, "still here"]}]) == [
        {"role": "user", "content": "still here"}
    ]


def test_pictures_and_files_of_other_programs_stay() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    forms: list[dict[str, Any]] = [
        picture,
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
        },
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
    ]
    (seen,) = repair_json([{"role": "user", "content": ["look", *forms]}])

    assert seen["content"] == [{"type": "text", "text": "look"}, *[picture] * 4]


def test_sounds_of_other_programs_stay() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}
    ((kept,),) = [m["content"] for m in repair_json([{"role": "user", "content": [sound]}])]

    assert kept["file"]["file_data"] == "data:audio/wav;base64,aGk="


def test_an_id_that_is_made_up_is_never_one_that_comes_later() -> None:
    history = [HI, said("assistant", call(""), call("call_1"))]

    first, second = repair(history)[1].tool_calls

    assert (first.id, second.id) == ("call_2", "call_1")


def test_system_words_go_to_the_start_and_a_user_speaks_first() -> None:
    history = [said("assistant", "welcome"), said("system", "be kind"), HI]

    assert repair(history) == (
        said("system", "be kind"),
        said("user", NOTHING_SAID),
        said("assistant", "welcome"),
        HI,
    )


def test_what_says_nothing_goes_but_a_users_blank_stays() -> None:
    history = [
        said("system", " "),
        said("user", ""),
        said("user", " \n"),
        said("assistant", " ", Thinking(text="hm")),
        said("assistant", call("a")),
        said("tool", ToolResult(call="a", content=())),
    ]

    assert repair(history) == (
        said("user", " \n", NOTHING_SAID),
        said("assistant", call("a")),
        said("tool", result("a", NO_OUTPUT)),
    )


def test_names_and_arguments_become_what_parsers_take() -> None:
    strange = {"n": float("nan"), "big": 1 << 70, "t": "a\0b\ud83d", "in": [{"k\0": 1.5}]}
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    history = [HI, said("assistant", named("a", "时.g h", **strange), named("b", "x" * 99, d=deep))]

    first, second = repair(history)[1].tool_calls

    assert first.name == "__g_h"
    assert second.name == "x" * 64
    assert first.arguments == {
        "n": None,
        "big": str(1 << 70),
        "t": "a\ufffdb\ufffd",
        "in": [{"k\ufffd": 1.5}],
    }
    assert second.arguments == {}


@pytest.mark.anyio
async def test_the_client_hands_on_no_history_that_is_not_whole() -> None:
    provider = ScriptedProvider(["ok"])
    history = (said("assistant", call("a")), said("user", "hi"))
    request = ModelRequest(model="", messages=history)
    async with aclosing(Client({"fake": provider}).stream("fake/m", request)) as batches:
        async for _ in batches:
            pass

    assert provider.requests[0].messages == repair(history) != history


PARTS = st.one_of(
    st.builds(Text, text=st.text(max_size=5)),
    st.builds(Thinking, text=st.text(max_size=3)),
    st.builds(
        ToolCall,
        id=st.sampled_from(["", "a", "b", "call_1", " "]),
        name=st.text(max_size=3),
        arguments=st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    ),
    st.builds(
        ToolResult,
        call=st.sampled_from(["", "a", "b", "call_1"]),
        content=st.tuples(st.builds(Text, text=st.text(max_size=3))),
    ),
    st.just(Blob(file="f_1", media_type="image/png", name="a.png", size=3)),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=st.lists(PARTS, max_size=5).map(tuple),
)


@settings(deadline=None)  # the machine may be busy
@given(history=st.lists(MESSAGES, max_size=8))
def test_any_messages_come_out_whole_and_twice_is_once(history: list[Message]) -> None:
    repaired = repair(history)
    calls = [c for m in repaired for c in m.tool_calls]
    words = "".join(m.text for m in repaired if m.role == "user")

    assert repair(repaired) == repaired
    assert len({c.id for c in calls}) == len(calls)
    for place, message in enumerate(repaired):
        answers = repaired[place + 1].parts if message.tool_calls else ()
        assert [c.id for c in message.tool_calls] == [getattr(p, "call", None) for p in answers]
    for message in history:
        if message.role == "user":
            assert message.text.replace("\0", "\ufffd") in words


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from(
    [
        *("role", "content", "type", "text", "parts", "tool_calls", "tool_call_id", "function"),
        *(
            "name",
            "id",
            "arguments",
            "input",
            "functionCall",
            "functionResponse",
            "args",
            "thought",
        ),
        *("call_id", "output", "function_call", "image_url", "source", "data", "refusal", "x"),
    ]
)
WORDS = st.sampled_from(
    [
        *("user", "assistant", "system", "tool", "model", "text", "tool_use", "tool_result", "a"),
        *("function_call", "function_call_output", "thinking", "message", "{}", "[", " ", "f"),
    ]
)
JSON = st.recursive(
    LEAVES | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
USERS = st.fixed_dictionaries({"role": st.just("user"), "content": JSON | st.text(max_size=5)})


@settings(deadline=None)  # the machine may be busy
@given(history=st.lists(USERS | JSON, max_size=6) | JSON)
def test_any_json_at_all_becomes_a_history_that_holds_the_laws(history: Any) -> None:
    repaired = repair_json(history)

    assert list(flaws_of(repaired)) == []
    assert lost_texts(history, repaired) == []
    assert repair_json(repaired) == repaired


@pytest.mark.parametrize(
    ("wrong", "flaw"),
    [
        ([{"role": "assistant", "content": "a"}], "no user message first"),
        ([{"role": "user", "content": "a"}, {"role": "system", "content": "b"}], "system"),
        ([{"role": "user", "content": " "}], "empty"),
        ([{"role": "poet", "content": "a"}], "role"),
        ([{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x"}], "no call"),
    ],
)
def test_the_judge_finds_what_is_wrong(wrong: list[dict[str, Any]], flaw: str) -> None:
    assert flaw in " ".join(flaws_of(wrong))


@pytest.mark.parametrize(
    ("call_", "flaw"),
    [
        ({"id": "", "function": {"name": "f", "arguments": "{}"}}, "id"),
        ({"id": "a", "function": {"name": "f g", "arguments": "{}"}}, "name"),
        ({"id": "a", "function": {"name": "f", "arguments": "[]"}}, "arguments"),
    ],
)
def test_the_judge_finds_what_is_wrong_with_a_call(call_: dict[str, Any], flaw: str) -> None:
    wrong = [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [call_]}]

    found = " ".join(flaws_of(wrong))

    assert flaw in found
    assert "without a result" in found


def test_the_judge_misses_a_users_text_also_the_second_time() -> None:
    twice = [{"role": "user", "content": "tea"}, {"role": "user", "parts": [{"text": "tea"}]}]

    assert lost_texts(twice, twice[:1]) == ["tea"]
    assert lost_texts(twice, twice) == []


def reply(count: int, *, same: bool = False) -> Message:
    calls = [named("c" if same else f"c{number}", "f") for number in range(count)]
    return Message(role="assistant", parts=tuple(calls))


def told(*refs: str) -> list[Message]:
    return [Message(role="tool", parts=(ToolResult(call=ref, content=()),)) for ref in refs]


LONG: dict[str, Callable[[int], list[Message]]] = {
    "backwards": lambda n: [HI, reply(n), *told(*(f"c{n - 1 - i}" for i in range(n)))],
    "one id": lambda n: [HI, reply(n, same=True), *told(*["c"] * n)],
    "no ids": lambda n: [HI, reply(n), *told(*[""] * n)],
    "without calls": lambda n: [m for _ in range(n) for m in (HI, reply(1), *told("x"))],
}


@pytest.mark.parametrize("shape", LONG)
def test_a_history_that_is_four_times_as_long_is_four_times_the_work(shape: str) -> None:
    assert growth(lambda size: partial(repair, LONG[shape](size))) < 6
