"""What a request may wish, in each dialect's words: sampling, tools, thoughts, files, its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

from teahouse.core.events import StreamEvent, fold
from teahouse.core.messages import Blob, JsonObject, Message
from teahouse.llm.client import Client
from teahouse.llm.errors import NoAddresses, RequestRefused
from teahouse.llm.middlewares import build_pipeline
from teahouse.llm.profiles import Profile, profile_for
from teahouse.llm.provider import ModelRequest, OneTool, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.schema_tools import SchemaTools
from teahouse.llm.settings import ProviderSettings, WireName
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS
from teahouse.llm.wire.anthropic_body import anthropic_body
from teahouse.llm.wire.effort import budget_of, effort_of, wanted_effort
from teahouse.llm.wire.gemini_body import gemini_body
from teahouse.llm.wire.ollama_body import ollama_body
from teahouse.llm.wire.openai_chat_body import chat_body
from teahouse.llm.wire.openai_responses_body import responses_body
from teahouse.llm.worst import worst_of
from teahouse.testing import ollama_answers
from teahouse.testing.answers import json_answer
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.providers import ScriptedProvider
from tests.llm.conversation import Write, body_of, call, result, said

pytestmark = pytest.mark.anyio
HI = said("user", "hi")
WIRES: Final[Mapping[WireName, Write]] = {
    "openai_chat": chat_body,
    "openai_responses": responses_body,
    "anthropic": anthropic_body,
    "gemini": gemini_body,
    "ollama": ollama_body,
}
F, G = (ToolSpec(name=n, description="d", parameters={"type": "object"}) for n in "fg")
PNG = Blob(file="inline:1", media_type="image/png", name="a.png", size=3)
FAR = Blob(file="https://x.example/b.png", media_type="image/png", name="b.png", size=0)
PAPER = Blob(file="f_2", media_type="application/pdf", name="c.pdf", size=4)
FAR_PAPER = Blob(file="HTTP://x.example/c", media_type="application/pdf", name="c", size=0)
SOUND = Blob(file="f_3", media_type="audio/mpeg", name="d.mp3", size=4)
MEDIA: Final = {"inline:1": b"png"}


async def body(wire: WireName, *messages: Message, **request: Any) -> JsonObject:
    return await body_of(WIRES[wire], *(messages or (HI,)), **request)


def model(vendor: str, name: str) -> Profile:
    return profile_for(VENDORS[vendor].profile, name, {})


async def added(wire: WireName, **request: Any) -> JsonObject:
    """What stands in the body because of the request's wishes alone."""
    profile, tools = request.pop("profile", Profile()), request.pop("tools", ())
    plain = await body(wire, profile=profile, tools=tools)
    found = await body(wire, profile=profile, tools=tools, **request)
    return {name: value for name, value in found.items() if plain.get(name) != value}


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ("openai_chat", {"top_p": 0.9, "seed": 7, "stop": ["a", " "]}),
        ("openai_responses", {"top_p": 0.9}),
        ("anthropic", {"top_p": 0.9, "stop_sequences": ["a"]}),
        ("gemini", {"generationConfig": {"topP": 0.9, "seed": 7, "stopSequences": ["a", " "]}}),
        ("ollama", {"options": {"top_p": 0.9, "seed": 7, "stop": ["a", " "]}}),
    ],
)
async def test_sampling_has_each_dialects_names(wire: WireName, expected: JsonObject) -> None:
    assert await added(wire, top_p=0.9, seed=7, stop=("a", " ")) == expected


@pytest.mark.parametrize("wire", WIRES)
async def test_what_an_endpoint_refuses_is_left_out(wire: WireName) -> None:
    strict = Profile(
        temperature=False,
        stop=False,
        seed=None,
        parallel_calls=False,
        thinks=False,
        effort="thinking",
    )
    wishes = {"top_p": 0.9, "seed": 7, "stop": ("a",), "effort": "high", "parallel_calls": True}

    assert await added(wire, profile=strict, tools=(F,), **wishes) == {}


async def test_a_seed_has_the_name_and_the_size_that_are_taken() -> None:
    assert await added("openai_chat", seed=7, profile=model("mistral", "m")) == {"random_seed": 7}
    assert await added("openai_chat", seed=7, profile=model("google", "gemini-3-pro")) == {}
    long = await added("gemini", seed=(1 << 40) + 5)
    assert long["generationConfig"]["seed"] == 5


async def test_anthropics_newer_models_take_one_of_temperature_and_top_p() -> None:
    both = {"temperature": 0.5, "top_p": 0.9}
    newer = model("anthropic", "claude-sonnet-4-5")

    assert await added("anthropic", **both) == both
    assert await added("anthropic", **both, profile=newer) == {"temperature": 0.5}
    assert await added("anthropic", top_p=0.9, profile=newer) == {"top_p": 0.9}
    assert "top_p" not in await added("anthropic", top_p=0.9, thinking_tokens=2000)


NAMED = {"type": "function", "function": {"name": "f"}}


def calling(mode: str, *names: str) -> JsonObject:
    config: JsonObject = {"mode": mode} | ({"allowedFunctionNames": [*names]} if names else {})
    return {"toolConfig": {"functionCallingConfig": config}}


@pytest.mark.parametrize(
    ("wire", "choice", "expected"),
    [
        ("openai_chat", "auto", {"tool_choice": "auto"}),
        ("openai_chat", "none", {"tool_choice": "none"}),
        ("openai_chat", "required", {"tool_choice": "required"}),
        ("openai_chat", OneTool(name="f"), {"tool_choice": NAMED}),
        ("openai_responses", "auto", {"tool_choice": "auto"}),
        ("openai_responses", "none", {"tool_choice": "none"}),
        ("openai_responses", "required", {"tool_choice": "required"}),
        ("openai_responses", OneTool(name="f"), {"tool_choice": {"type": "function", "name": "f"}}),
        ("anthropic", "auto", {"tool_choice": {"type": "auto"}}),
        ("anthropic", "none", {"tool_choice": {"type": "none"}}),
        ("anthropic", "required", {"tool_choice": {"type": "any"}}),
        ("anthropic", OneTool(name="f"), {"tool_choice": {"type": "tool", "name": "f"}}),
        ("gemini", "auto", calling("AUTO")),
        ("gemini", "none", calling("NONE")),
        ("gemini", "required", calling("ANY")),
        ("gemini", OneTool(name="f"), calling("ANY", "f")),
        ("ollama", "auto", {}),
        ("ollama", "required", {}),
    ],
)
async def test_the_choice_of_tools_has_each_dialects_form(
    wire: WireName, choice: Any, expected: JsonObject
) -> None:
    assert await added(wire, tools=(F, G), tool_choice=choice) == expected
    assert await added(wire, tool_choice=choice) == {}  # no tools, no choice


async def offer(wire: WireName, choice: Any, *messages: Message, **more: Any) -> tuple[Any, Any]:
    found = await body(wire, *messages, tools=(F, G), tool_choice=choice, **more)
    names = [tool["function"]["name"] for tool in found.get("tools", [])]
    return names, found.get("tool_choice")


async def test_where_a_word_is_lacking_the_tools_themselves_say_it() -> None:
    words = Profile(tool_choices=("none", "required"))
    no_words = Profile(tool_choices=())
    history = (HI, said("assistant", call("a")), said("tool", result("a", "1")))

    assert await offer("ollama", "none") == ([], None)
    assert await offer("ollama", "none", *history) == ([], None)
    assert await offer("ollama", OneTool(name="g")) == (["g"], None)
    assert await offer("openai_chat", OneTool(name="g"), profile=words) == (["g"], "required")
    assert await offer("openai_chat", OneTool(name="?"), profile=words) == (["f", "g"], "required")
    assert await offer("openai_chat", OneTool(name="g"), profile=no_words) == (["g"], None)
    assert await offer("openai_chat", "required", profile=no_words) == (["f", "g"], None)
    assert await offer("openai_chat", "none", profile=no_words) == ([], None)
    assert await offer("openai_chat", "auto", profile=no_words) == (["f", "g"], "auto")


@pytest.mark.parametrize(
    ("wire", "choice", "expected"),
    [
        ("openai_chat", None, {"parallel_tool_calls": False}),
        ("openai_responses", None, {"parallel_tool_calls": False}),
        ("anthropic", None, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        (
            "anthropic",
            "required",
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        ),
        ("anthropic", "none", {"tool_choice": {"type": "none"}}),
        ("gemini", None, {}),
        ("ollama", None, {}),
    ],
)
async def test_several_calls_at_once_are_forbidden_where_they_can_be(
    wire: WireName, choice: Any, expected: JsonObject
) -> None:
    wishes = {"tool_choice": choice, "parallel_calls": False}

    assert await added(wire, tools=(F,), **wishes) == expected
    assert await added(wire, **wishes) == {}


async def test_allowing_several_calls_is_said_where_there_is_a_word() -> None:
    assert await added("openai_chat", tools=(F,), parallel_calls=True) == {
        "parallel_tool_calls": True
    }
    assert await added("anthropic", tools=(F,), parallel_calls=True) == {}


@pytest.mark.parametrize(
    ("tokens", "effort"),
    [
        (0, "none"),
        (1, "minimal"),
        (512, "minimal"),
        (1024, "low"),
        (8192, "medium"),
        (10_000, "high"),
        (31_999, "xhigh"),
        (1_000_000, "xhigh"),
    ],
)
def test_a_number_of_tokens_is_some_effort(tokens: int, effort: str) -> None:
    asked = ModelRequest(model="m", messages=(), thinking_tokens=tokens)

    assert wanted_effort(asked) == effort
    assert wanted_effort(replace(asked, effort="low")) == "low"


@pytest.mark.parametrize(
    ("wanted", "known", "found"),
    [
        ("none", ("low", "high"), "low"),
        ("minimal", ("low", "medium", "high"), "low"),
        ("medium", ("low", "high"), "high"),
        ("xhigh", ("low", "medium", "high"), "high"),
        ("minimal", ("none", "low"), "low"),
        ("low", ("high",), "high"),
    ],
)
def test_a_wish_becomes_the_nearest_level(wanted: Any, known: Any, found: str) -> None:
    asked = ModelRequest(model="m", messages=(), effort=wanted)

    assert effort_of(asked, Profile(efforts=known)) == found
    assert effort_of(asked, Profile(efforts=known, thinks=False)) is None
    assert (budget_of(asked, Profile(efforts=known)) == 0) == (wanted == "none")


SWITCH = Profile(effort="enable_thinking")


@pytest.mark.parametrize(
    ("profile", "wish", "expected"),
    [
        (Profile(), {"effort": "high"}, {}),
        (model("llamacpp", "x"), {"effort": "high"}, {}),
        (model("openai", "gpt-5"), {"effort": "none"}, {"reasoning_effort": "minimal"}),
        (model("openai", "gpt-5.1"), {"effort": "none"}, {"reasoning_effort": "none"}),
        (model("openai", "gpt-5.2"), {"effort": "xhigh"}, {"reasoning_effort": "xhigh"}),
        (model("openai", "o3"), {"effort": "xhigh"}, {"reasoning_effort": "high"}),
        (model("openai", "o3"), {"thinking_tokens": 5000}, {"reasoning_effort": "medium"}),
        (model("openai", "gpt-4o"), {"effort": "high"}, {}),
        (model("openai", "gpt-5-chat-latest"), {"effort": "high"}, {}),
        (model("groq", "openai/gpt-oss-20b"), {"effort": "none"}, {"reasoning_effort": "low"}),
        (model("groq", "llama-3.3-70b"), {"effort": "low"}, {}),
        (model("xai", "grok-4-0709"), {"effort": "low"}, {}),
        (model("xai", "grok-3-mini"), {"effort": "medium"}, {"reasoning_effort": "high"}),
        (model("deepseek", "x"), {"effort": "low"}, {"thinking": {"type": "enabled"}}),
        (model("zhipu", "glm-4.6"), {"effort": "none"}, {"thinking": {"type": "disabled"}}),
        (model("zhipu", "glm-4-plus"), {"effort": "none"}, {}),
        (SWITCH, {"thinking_tokens": 99}, {"enable_thinking": True, "thinking_budget": 99}),
        (SWITCH, {"thinking_tokens": 0}, {"enable_thinking": False}),
        (model("openrouter", "a/b"), {"effort": "xhigh"}, {"reasoning": {"effort": "xhigh"}}),
        (model("openrouter", "a/b"), {"thinking_tokens": 9}, {"reasoning": {"max_tokens": 9}}),
        (model("openrouter", "a/b"), {"thinking_tokens": 0}, {"reasoning": {"effort": "none"}}),
        (
            Profile(effort="chat_template_kwargs"),
            {"effort": "none"},
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
    ],
)
async def test_chat_endpoints_are_told_how_hard_to_think_as_they_take_it(
    profile: Profile, wish: JsonObject, expected: JsonObject
) -> None:
    assert await added("openai_chat", profile=profile, **wish) == expected


@pytest.mark.parametrize("choice", ["required", OneTool(name="f")])
async def test_chat_models_that_cannot_think_where_they_must_call_are_told_not_to(
    choice: Any,
) -> None:
    off = {"thinking": {"type": "disabled"}}
    wishes = {"tools": (F,), "tool_choice": choice, "effort": "high"}
    deepseek, kimi = model("deepseek", "deepseek-v4-pro"), model("moonshot", "kimi-k3")

    forced = await added("openai_chat", profile=deepseek, **wishes)
    free = await added("openai_chat", profile=deepseek, **wishes | {"tool_choice": "auto"})
    able = await added("openai_chat", profile=kimi, **wishes)

    assert forced == off | {"tool_choice": "required" if choice == "required" else NAMED}
    assert free == {"tool_choice": "auto", "thinking": {"type": "enabled"}}
    assert able == {"tool_choice": "required", "reasoning_effort": "high"}


async def test_responses_are_told_an_effort_and_asked_for_a_summary() -> None:
    five = model("openai", "gpt-5.1")

    assert await added("openai_responses", effort="high", profile=five) == {
        "reasoning": {"effort": "high", "summary": "auto"}
    }
    assert await added("openai_responses", effort="none", profile=five) == {
        "reasoning": {"effort": "none"}
    }
    over = replace(five, extra={"reasoning": {"effort": "high", "summary": "detailed"}})
    assert await added("openai_responses", thinking_tokens=600, profile=over) == {
        "reasoning": {"effort": "low", "summary": "auto"}
    }
    assert await added("openai_responses", effort="high", profile=model("openai", "gpt-4.1")) == {}


def budget(tokens: int) -> JsonObject:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def adaptive(effort: str) -> JsonObject:
    thinking = {"type": "adaptive", "display": "summarized"}
    return {"thinking": thinking, "output_config": {"effort": effort}}


@pytest.mark.parametrize(
    ("name", "wish", "expected"),
    [
        ("claude-sonnet-4-5", {"effort": "medium"}, budget(8192)),
        ("claude-sonnet-4-5", {"thinking_tokens": 100}, budget(1024)),
        ("claude-sonnet-4-5", {"effort": "none", "thinking_tokens": 5000}, {}),
        ("claude-sonnet-4-5", {"effort": "low", "thinking_tokens": 5000}, budget(5000)),
        ("claude-3-7-sonnet-latest", {"effort": "low"}, budget(2048)),
        ("claude-3-haiku-20240307", {"effort": "high"}, {}),
        ("claude-3-5-sonnet-latest", {"effort": "high"}, {}),
        ("claude-opus-4-6", {"effort": "xhigh"}, adaptive("high")),
        ("claude-opus-4-6", {"thinking_tokens": 2000}, adaptive("low")),
        ("claude-opus-4-6", {"effort": "none"}, {}),
        ("claude-opus-4-7", {"effort": "xhigh"}, adaptive("xhigh")),
        ("claude-opus-5", {"effort": "none"}, {"thinking": {"type": "disabled"}}),
        ("claude-opus-5-5", {"effort": "none"}, adaptive("low")),
        ("claude-fable-5-1", {"effort": "none"}, adaptive("low")),
        ("claude-sonnet-5", {"effort": "none"}, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", {"effort": "none"}, {"thinking": {"type": "between_tools"}}),
        ("claude-sonnet-5-5", {"effort": "xhigh"}, adaptive("xhigh")),
        ("claude-haiku-5-5", {"thinking_tokens": 0}, {"thinking": {"type": "disabled"}}),
    ],
)
async def test_claude_is_told_a_budget_or_an_effort_by_its_age(
    name: str, wish: JsonObject, expected: JsonObject
) -> None:
    assert await added("anthropic", profile=model("anthropic", name), **wish) == expected


async def test_a_wish_to_think_goes_over_the_profiles_own() -> None:
    thinker = Profile(extra={"thinking": {"type": "enabled", "budget_tokens": 5000}})

    quiet = await body("anthropic", profile=thinker, effort="none", temperature=0.5)
    keen = await body("anthropic", profile=thinker, thinking_tokens=9000, max_tokens=100)

    assert ("thinking" in quiet, quiet["temperature"]) == (False, 0.5)
    assert keen["thinking"]["budget_tokens"] == 9000
    assert keen["max_tokens"] == 9100


@pytest.mark.parametrize("choice", ["required", OneTool(name="f")])
@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-opus-4-6"])
async def test_nobody_thinks_who_must_call_a_tool(choice: Any, name: str) -> None:
    profile = model("anthropic", name)
    forced = await body(
        "anthropic", profile=profile, tools=(F,), tool_choice=choice, effort="high", temperature=0.5
    )
    free = await body("anthropic", profile=profile, tools=(F,), tool_choice="none", effort="high")

    assert ("thinking" in forced, forced["temperature"]) == (False, 0.5)
    assert "thinking" in free


async def test_claude_is_not_forced_to_call_where_that_is_refused() -> None:
    async def asked(name: str, choice: Any) -> list[Any]:
        found = await body(
            "anthropic", profile=model("anthropic", name), tools=(F, G), tool_choice=choice
        )
        tools = [tool["name"] for tool in found["tools"]]
        return [tools, found.get("tool_choice"), found.get("thinking")]

    one, off = {"type": "tool", "name": "g"}, {"type": "disabled"}

    assert await asked("claude-opus-5", OneTool(name="g")) == [["f", "g"], one, off]
    assert await asked("claude-opus-4-6", OneTool(name="g")) == [["f", "g"], one, None]
    for name in ("claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1"):
        assert await asked(name, OneTool(name="g")) == [["g"], None, None]
        assert await asked(name, "required") == [["f", "g"], None, None]
        assert await asked(name, "none") == [["f", "g"], {"type": "none"}, None]


async def test_a_reply_in_json_and_a_choice_of_tools_go_together() -> None:
    old, schema = Profile(json_schema=False), {"type": "object"}

    async def tools_of(choice: Any, **more: Any) -> tuple[list[str], Any]:
        found = await body(
            "anthropic", profile=old, schema=schema, tools=(F,), tool_choice=choice, **more
        )
        return [tool["name"] for tool in found["tools"]], found.get("tool_choice")

    assert await tools_of("required") == (["f"], {"type": "any"})
    assert await tools_of("none") == (
        ["f", "final_answer"],
        {"type": "tool", "name": "final_answer"},
    )
    assert await tools_of(None, parallel_calls=False) == (
        ["f", "final_answer"],
        {"type": "any", "disable_parallel_tool_use": True},
    )
    assert await tools_of("none", effort="low") == (["f", "final_answer"], None)
    effort = await body(
        "anthropic", profile=model("anthropic", "claude-opus-4-6"), schema=schema, effort="low"
    )
    assert effort["output_config"]["effort"] == "low"
    assert effort["output_config"]["format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("name", "wish", "expected"),
    [
        ("gemini-2.5-flash", {"effort": "none"}, [0, False]),
        ("gemini-2.5-flash", {"effort": "high"}, [24_576, True]),
        ("gemini-2.5-flash", {"thinking_tokens": 99_999}, [24_576, True]),
        ("gemini-2.5-flash-lite", {"thinking_tokens": 3}, [512, True]),
        ("gemini-2.5-flash-lite", {"effort": "none"}, [0, False]),
        ("gemini-2.5-pro", {"effort": "none"}, [128, True]),
        ("gemini-2.5-pro", {"thinking_tokens": 30_000}, [30_000, True]),
        ("gemini-3-flash-preview", {"effort": "minimal"}, ["minimal", True]),
        ("gemini-3.1-pro-preview", {"effort": "none"}, ["low", True]),
        ("gemini-flash-latest", {"thinking_tokens": 9000}, ["high", True]),
        ("gemini-2.0-flash", {"effort": "high"}, [None, None]),
    ],
)
async def test_gemini_is_told_a_budget_or_a_level_by_its_age(
    name: str, wish: JsonObject, expected: list[Any]
) -> None:
    found = await body("gemini", profile=model("gemini", name), **wish)
    config = found.get("generationConfig", {}).get("thinkingConfig", {})
    amount = config.get("thinkingBudget", config.get("thinkingLevel"))

    assert [amount, config.get("includeThoughts")] == expected


@pytest.mark.parametrize(
    ("name", "wish", "think"),
    [
        ("qwen3", {"effort": "none"}, False),
        ("qwen3", {"effort": "minimal"}, True),
        ("qwen3", {"thinking_tokens": 0}, False),
        ("gpt-oss:20b", {"effort": "high"}, "high"),
        ("gpt-oss:20b", {"effort": "none"}, "low"),
    ],
)
async def test_ollama_is_told_to_think_or_how_hard(
    name: str, wish: JsonObject, think: object
) -> None:
    assert await added("ollama", profile=model("ollama", name), **wish) == {"think": think}


async def test_ollama_models_that_are_known_not_to_think_are_not_told_to() -> None:
    listed = json_answer({"models": [{"model": "plain"}, {"model": "deep"}]})
    shown = [json_answer({"capabilities": able}) for able in (["completion"], ["thinking"])]
    answers = [ollama_answers.text_answer(["ok"]) for _ in range(2)]
    async with Transport() as transport, Endpoint([*shown, *answers], models=listed) as endpoint:
        settings = ProviderSettings(wire="ollama", base_url=endpoint.base_url)
        provider = build_provider("acme", settings, None, transport)
        await provider.models()
        for name in ("plain", "deep"):
            asked = ModelRequest(model=name, messages=(HI,), effort="high")
            async for _ in provider.stream(asked):
                pass

    assert "think" not in endpoint.requests[-2].body
    assert endpoint.requests[-1].body["think"] is True


@pytest.mark.parametrize("wire", WIRES)
async def test_own_fields_go_last_and_to_their_dialect_alone(wire: WireName) -> None:
    other: WireName = "gemini" if wire == "ollama" else "ollama"
    own: dict[WireName, JsonObject] = {
        wire: {"x": {"b": 2}, "top_p": 0.1, "model": "n"},
        other: {"y": 1},
    }
    found = await body(wire, extra={"x": {"a": 1, "b": 1}}, own=own, top_p=0.9)

    assert found["x"] == {"a": 1, "b": 2}
    assert (found["top_p"], found["model"]) == (0.1, "n")
    assert "y" not in found


async def test_own_fields_within_objects_leave_the_rest_and_other_types_replace() -> None:
    schema = {"type": "object"}
    verbose = await body(
        "openai_responses", schema=schema, own={"openai_responses": {"text": {"verbosity": "low"}}}
    )
    named = await body(
        "anthropic",
        tools=(F,),
        tool_choice=OneTool(name="f"),
        own={"anthropic": {"tool_choice": {"type": "auto"}}},
    )

    assert set(verbose["text"]) == {"format", "verbosity"}
    assert named["tool_choice"] == {"type": "auto"}


async def test_wishes_go_over_the_profiles_extra_fields() -> None:
    found = await body("openai_chat", profile=Profile(extra={"top_p": 0.8}), top_p=0.5)
    kept = await body("openai_chat", profile=Profile(extra={"top_p": 0.8}))
    deep = await body(
        "ollama", profile=Profile(extra={"options": {"top_p": 0.8, "top_k": 3}}), top_p=0.5
    )

    assert (found["top_p"], kept["top_p"]) == (0.5, 0.8)
    assert deep["options"] == {"top_p": 0.5, "top_k": 3}


async def shown(wire: WireName, blob: Blob, **more: Any) -> Any:
    """What stands for a blob after a word, where the house has no reader of files."""
    asked = ModelRequest(model="m", messages=(said("user", "see", blob),), media=MEDIA)
    profile = more.pop("profile", Profile())
    found = await WIRES[wire](asked, profile, origin="acme/m", files=None)
    match wire:
        case "openai_responses":
            content = found["input"][0]["content"]
        case "gemini":
            content = found["contents"][0]["parts"]
        case "ollama":
            return found["messages"][0].get("images", [found["messages"][0]["content"]])[0]
        case _:
            content = found["messages"][0]["content"]
    return content if isinstance(content, str) else content[1]


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (
            "openai_chat",
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        ),
        (
            "openai_responses",
            {"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"},
        ),
        (
            "anthropic",
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"},
            },
        ),
        ("gemini", {"inlineData": {"mimeType": "image/png", "data": "cG5n"}}),
        ("ollama", "cG5n"),
    ],
)
async def test_bytes_that_came_along_are_read_without_the_house(
    wire: WireName, expected: object
) -> None:
    assert await shown(wire, PNG) == expected
    missing = await shown(wire, replace(PNG, file="f_9"))
    assert "[file: a.png, image/png, 3 bytes]" in str(missing)


@pytest.mark.parametrize("wire", WIRES)
async def test_bytes_that_came_along_go_before_those_of_the_house(wire: WireName) -> None:
    found = await body(wire, said("user", PNG), media=MEDIA)

    assert "cG5n" in str(found)
    assert "aW5saW5l" not in str(found)  # what the house would have given


@pytest.mark.parametrize(
    ("wire", "picture", "paper"),
    [
        (
            "openai_responses",
            {"type": "input_image", "image_url": FAR.file, "detail": "auto"},
            {"type": "input_file", "file_url": FAR_PAPER.file},
        ),
        (
            "anthropic",
            {"type": "image", "source": {"type": "url", "url": FAR.file}},
            {
                "type": "document",
                "source": {"type": "url", "url": FAR_PAPER.file},
                "title": "c",
            },
        ),
        (
            "gemini",
            {"fileData": {"mimeType": "image/png", "fileUri": FAR.file}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": FAR_PAPER.file}},
        ),
    ],
)
async def test_what_lies_elsewhere_goes_by_its_address(
    wire: WireName, picture: JsonObject, paper: JsonObject
) -> None:
    assert await shown(wire, FAR) == picture
    assert await shown(wire, FAR_PAPER) == paper


async def test_an_address_that_a_dialect_cannot_say_is_a_named_error() -> None:
    assert await shown("openai_chat", FAR) == {
        "type": "image_url",
        "image_url": {"url": FAR.file},
    }
    with pytest.raises(NoAddresses) as caught:
        await shown("ollama", FAR)
    with pytest.raises(NoAddresses):
        await shown("openai_chat", FAR_PAPER, profile=Profile(pdf=True))

    assert isinstance(caught.value, RequestRefused)
    assert caught.value.code == "provider_no_addresses"
    assert caught.value.values["provider"] == "acme"
    assert "x.example" not in str(caught.value.values)  # addresses may hold secrets


@pytest.mark.parametrize("wire", WIRES)
async def test_a_model_without_eyes_reads_the_address(wire: WireName) -> None:
    found = await shown(wire, FAR, profile=Profile(vision=False))

    assert "[file: b.png, image/png, https://x.example/b.png]" in str(found)


async def test_papers_and_sounds_go_into_chats_where_they_are_taken() -> None:
    taker = Profile(pdf=True, audio=True)

    async def item(blob: Blob, profile: Profile) -> Any:
        found = await body("openai_chat", said("user", "see", blob), profile=profile)
        return found["messages"][0]["content"]

    assert (await item(PAPER, taker))[1] == {
        "type": "file",
        "file": {"filename": "c.pdf", "file_data": "data:application/pdf;base64,Zl8y"},
    }
    assert (await item(SOUND, taker))[1] == {
        "type": "input_audio",
        "input_audio": {"data": "Zl8z", "format": "mp3"},
    }
    assert await item(SOUND, Profile()) == "see[file: d.mp3, audio/mpeg, 4 bytes]"
    ogg = replace(SOUND, media_type="audio/ogg")
    assert await item(ogg, taker) == "see[file: d.mp3, audio/ogg, 4 bytes]"


async def test_what_is_known_of_a_vendors_models_says_which_files_they_take() -> None:
    assert model("openai", "gpt-4o").pdf
    assert not model("openai", "gpt-3.5-turbo").pdf
    assert model("openai", "gpt-audio").audio
    assert not model("openai", "gpt-5").audio


async def test_pictures_in_results_go_where_the_dialect_can_carry_them() -> None:
    history = (HI, said("assistant", call("a")), said("tool", result("a", "done", PNG)))
    kept = {"media": MEDIA}
    chat = await body("openai_chat", *history, **kept)
    responses = await body("openai_responses", *history, **kept)
    ollama = await body("ollama", *history, **kept)
    old = await body("gemini", *history, **kept)
    new = await body("gemini", *history, **kept, profile=model("gemini", "gemini-3-flash"))

    assert chat["messages"][-2]["content"] == "done\n[file: a.png, image/png, 3 bytes]"
    assert chat["messages"][-1]["content"][1]["type"] == "image_url"
    assert responses["input"][-1]["output"][1]["type"] == "input_image"
    assert ollama["messages"][-1]["images"] == ["cG5n"]
    assert ollama["messages"][-1]["content"] == "done"
    (older,) = old["contents"][-2]["parts"]
    (newer,) = new["contents"][-1]["parts"]
    assert "parts" not in older["functionResponse"]
    assert newer["functionResponse"]["response"] == {"output": "done"}
    assert newer["functionResponse"]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "cG5n"}}
    ]


@pytest.mark.parametrize(
    "wish",
    [
        {"top_p": 0.9},
        {"seed": 7},
        {"stop": ("a",)},
        {"tool_choice": "none"},
        {"tool_choice": OneTool(name="f")},
        {"parallel_calls": False},
        {"effort": "low"},
        {"thinking_tokens": 5},
        {"media": {"inline:1": b"other"}},
        {"own": {"ollama": {"keep_alive": 1}}},
    ],
    ids=str,
)
async def test_the_cache_tells_requests_apart_by_every_wish(wish: JsonObject) -> None:
    provider = ScriptedProvider(["one", "two"])
    pipeline = build_pipeline(["cache"], {})
    client = Client({"a": provider}, pipeline=lambda: pipeline)
    plain = ModelRequest(model="m", messages=(said("user", "see", PNG),), media=MEDIA)

    async def ask(request: ModelRequest) -> str:
        events: list[StreamEvent] = []
        async for batch in client.stream("a/m", request):
            events += batch
        return fold(events).text

    assert await ask(plain) == "one"
    assert await ask(replace(plain, **wish)) == "two"
    assert await ask(plain) == await ask(replace(plain)) == "one"


@pytest.mark.parametrize(
    "wish",
    [{}, *({"effort": e} for e in ("none", "minimal", "xhigh")), {"thinking_tokens": 9000}],
    ids=str,
)
async def test_what_is_put_aside_for_a_call_covers_its_thoughts(wish: JsonObject) -> None:
    asked = ModelRequest(model="m", messages=(HI,), max_tokens=100, **wish)
    wider = Profile(efforts=("low", "medium", "high", "xhigh"))
    found = await body("anthropic", profile=wider, max_tokens=100, **wish)

    assert found["max_tokens"] <= worst_of(asked).output


async def small(choice: Any, *script: str) -> tuple[Message, list[ModelRequest]]:
    """What a model without tool calls of its own is asked, and what it says."""
    inner = ScriptedProvider([*script])
    asked = ModelRequest(model="m", messages=(HI,), tools=(F, G), tool_choice=choice)
    events: list[StreamEvent] = []
    async for batch in SchemaTools(inner).stream(asked):
        events += batch
    return fold(events), inner.requests


async def test_models_that_are_asked_for_tools_by_schema_heed_the_choice() -> None:
    silent, (plain,) = await small("none", "hello")
    must, (question,) = await small("required", '"g"')
    one, (narrow,) = await small(OneTool(name="g"), '"g"')

    assert (silent.text, plain.schema, plain.tools) == ("hello", None, ())
    assert question.schema == {"type": "string", "enum": ["f", "g"]}
    assert narrow.schema == {"type": "string", "enum": ["g"]}
    assert [made.name for made in (*must.tool_calls, *one.tool_calls)] == ["g", "g"]
