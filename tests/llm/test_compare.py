"""The suite that two models are put to: alike when they do the same, else told how not."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any, get_args

import pytest

from teahouse.core.errors import SettingsError
from teahouse.core.events import StreamEvent, Usage
from teahouse.core.messages import Text, Thinking, ToolCall
from teahouse.llm.client import Client
from teahouse.llm.compare import CASES, CaseName, Comparison, compare
from teahouse.llm.errors import Overloaded
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.retry import Retry
from teahouse.llm.settings import ProviderSettings, WireName
from teahouse.llm.transport import Transport
from teahouse.testing import anthropic_answers
from teahouse.testing.answers import Answer, chunk, error_answer, text_answer, tool_answer, usage
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.providers import Finish, Gate, Script, ScriptedProvider

pytestmark = pytest.mark.anyio

NAMES: tuple[CaseName, ...] = get_args(CaseName)
COUNTED = Finish(usage=Usage(input=9, output=4))


async def between(name: CaseName, a: Script, b: Script) -> Comparison:
    providers: dict[str, Provider] = {"a": ScriptedProvider([a]), "b": ScriptedProvider([b])}
    client = Client(providers, retry=Retry(tries=1))
    return await compare(name, client.stream, "a/m", "b/m")


def found(comparison: Comparison) -> dict[str, tuple[str, str]]:
    return {one.what: (one.a, one.b) for one in comparison.differences}


def test_every_question_has_a_name_and_the_plainest_is_the_first() -> None:
    assert tuple(CASES) == NAMES
    assert NAMES[0] == "plain"


@pytest.mark.parametrize("name", NAMES)
async def test_a_model_is_like_itself(name: CaseName) -> None:
    assert found(await between(name, "hello", "hello")) == {}


async def test_other_words_of_the_same_kind_are_no_difference() -> None:
    compared = await between("plain", ["ready", COUNTED], ["Ready, of course.", COUNTED])

    assert found(compared) == {}
    assert (compared.a.said, compared.b.said) == ("ready", "Ready, of course.")


CALL = ToolCall(id="x", name="clock", arguments={"city": "Paris"})
NO_ARGUMENTS = ToolCall(id="x", name="clock", arguments={})


@pytest.mark.parametrize(
    ("name", "a", "b", "differences"),
    [
        ("chinese", "因为有茶多酚。", "Because of tannin.", {"text": ("chinese", "latin")}),
        ("plain", "ready", [COUNTED], {"text": ("latin", "none")}),
        ("long", "1\n2\n3", "one two", {"text": ("digits", "latin")}),
        ("structured", '{"city": "Paris"}', "Paris", {"text": ("json", "no json")}),
        ("structured", '{"city": "Paris"}', '["Paris"]', {"text": ("json", "no object")}),
        ("length", ["a", Finish("length")], ["a"], {"finish": ("length", "stop")}),
        ("tool", [CALL], [NO_ARGUMENTS], {"calls": ("clock(city)", "clock()")}),
        (
            "parallel",
            [CALL, ToolCall(id="y", name="clock", arguments={"city": "Tokyo"})],
            [CALL],
            {"calls": ("clock(city), clock(city)", "clock(city)")},
        ),
        (
            "forced",
            [CALL],
            ["Good morning."],
            {
                "events": ("tool_call, end", "text, end"),
                "text": ("none", "latin"),
                "calls": ("clock(city)", "–"),
                "finish": ("tool_calls", "stop"),
            },
        ),
        (
            "thinking",
            [Thinking(text="hm"), Text(text="3")],
            [Text(text="3")],
            {"events": ("thinking, text, end", "text, end")},
        ),
        ("plain", ["a", COUNTED], ["a"], {"usage": ("counted", "estimated")}),
        (
            "plain",
            ["a", COUNTED],
            ["a", Finish(usage=Usage(input=9_000_000, output=1))],
            {"usage": ("counted", "implausible")},
        ),
    ],
)
async def test_a_difference_is_told_by_what_it_is(
    name: CaseName, a: Script, b: Script, differences: dict[str, tuple[str, str]]
) -> None:
    compared = found(await between(name, a, b))

    compared = {what: pair for what, pair in compared.items() if what in differences}
    assert compared == differences
    assert found(await between(name, b, a)).keys() >= differences.keys()


async def test_an_error_is_compared_like_an_answer() -> None:
    compared = await between("plain", Overloaded("a", "busy"), "ready")

    assert found(compared)["error"] == ("provider_overloaded", "–")
    assert "busy" in compared.a.said
    assert found(await between("plain", Overloaded("a"), Overloaded("b"))) == {}


async def test_a_stream_is_left_as_soon_as_it_has_begun() -> None:
    a, b = ScriptedProvider([["one", Gate()]]), ScriptedProvider([["two", Gate()]])
    client = Client({"a": a, "b": b})

    compared = await compare("leaving", client.stream, "a/m", "b/m")

    assert found(compared) == {}
    assert (a.closed, b.closed) == (1, 1)


async def test_the_unknown_model_is_another_than_the_one_that_is_checked() -> None:
    asked: list[str] = []

    async def stream(
        model: str, request: ModelRequest
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        asked.append(model)
        raise Overloaded(model)
        yield []

    await compare("unknown_model", stream, "a/m", "b/m")

    assert asked == ["a/m-that-does-not-exist", "b/m-that-does-not-exist"]


def openai(body: dict[str, Any]) -> Answer:
    """A model that does what the suite asks of it, in the OpenAI dialect."""
    last = body["messages"][-1]
    text = json.dumps(last, ensure_ascii=False)
    if "not-exist" in body["model"]:
        return error_answer(404, "no such model")
    if body.get("tools") and last["role"] != "tool":
        count = 2 if "both" in text else 1
        return tool_answer([(f"c{n}", "clock", {"city": "Paris"}) for n in range(count)])
    if body.get("response_format"):
        return text_answer(['{"city": ', '"Paris"}'])
    if body.get("max_tokens") == 16:
        half = [chunk({"content": "Once"}), chunk({}, "length"), usage(9, 16)]
        return Answer(steps=tuple(half))
    return text_answer(["茶"] if "中文" in text or "Chinese" in str(body) else ["tea"])


async def test_what_is_no_models_own_error_comes_out_as_it_is() -> None:
    async def stream(
        model: str, request: ModelRequest
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        raise SettingsError("provider_quirks", provider=model, detail="x")
        yield []

    with pytest.raises(SettingsError, match="quirk"):
        await compare("plain", stream, "a/m", "b/m")


async def test_two_endpoints_are_compared_over_real_sockets() -> None:
    def other(body: dict[str, Any]) -> Answer:
        return text_answer(["tea"]) if "中文" in str(body) else openai(body)

    async with Transport() as transport, Endpoint(script=openai) as a, Endpoint(script=other) as b:
        providers = {
            name: build_provider(name, ProviderSettings(base_url=one.base_url), "key", transport)
            for name, one in (("a", a), ("b", b))
        }
        client = Client(providers, retry=Retry(tries=1))
        same = {name: await compare(name, client.stream, "a/m", "a/m") for name in NAMES}
        others = {name: await compare(name, client.stream, "a/m", "b/m") for name in NAMES}

    assert [name for name, one in same.items() if one.differences] == []
    assert same["parallel"].a.calls == ("clock(city)", "clock(city)")
    assert same["structured"].a.text == "json"
    assert same["length"].a.finish == "length"
    assert same["unknown_model"].a.error == "provider_refused"
    assert [name for name, one in others.items() if one.differences] == ["chinese"]
    assert found(others["chinese"]) == {"text": ("chinese", "latin")}


async def test_two_dialects_that_say_the_same_are_alike() -> None:
    answers = {
        "openai_chat": text_answer(["ready"]),
        "anthropic": anthropic_answers.text_answer(["ready"]),
    }
    wires: tuple[WireName, ...] = ("openai_chat", "anthropic")
    async with (
        Transport() as transport,
        Endpoint([answers["openai_chat"]]) as a,
        Endpoint([answers["anthropic"]]) as b,
    ):
        providers = {
            wire: build_provider(
                wire, ProviderSettings(base_url=one.base_url, wire=wire), "key", transport
            )
            for wire, one in zip(wires, (a, b), strict=True)
        }
        compared = await compare("plain", Client(providers).stream, "openai_chat/m", "anthropic/m")

    assert found(compared) == {}
    assert compared.a.usage == compared.b.usage == "counted"
