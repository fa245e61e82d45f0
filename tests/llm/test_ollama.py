"""The Ollama dialect: bodies as its server reads them, and what its models can do."""

from __future__ import annotations

from typing import Any

import pytest

from teahouse.core.messages import Blob, JsonObject, Message
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.wire.ollama_body import ollama_body
from teahouse.testing import ollama_answers as answers
from teahouse.testing.answers import Answer, json_answer
from teahouse.testing.conformance import replay
from teahouse.testing.endpoint import Endpoint
from tests.llm.conversation import body_of, call, result, said

pytestmark = pytest.mark.anyio
HI = said("user", "hi")


async def body(*messages: Message, **request: Any) -> JsonObject:
    return await body_of(ollama_body, *messages, **request)


async def test_a_plain_question_is_plain_json() -> None:
    assert await body(said("system", "be kind"), HI) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "hi"},
        ],
        "stream": True,
    }


async def test_options_are_options_and_extras_go_deep() -> None:
    extra = {"keep_alive": "10m", "think": False, "options": {"top_k": 3}}
    tool = ToolSpec(name="f", description="d", parameters={"type": "object"})
    asked = {"max_tokens": 9, "temperature": 0.5, "schema": {"type": "object"}}

    found = await body(HI, profile=Profile(window=8192, extra=extra), tools=(tool,), **asked)
    loose = await body(HI, profile=Profile(json_schema=False), schema={"type": "object"})

    assert found["options"] == {"num_predict": 9, "temperature": 0.5, "num_ctx": 8192, "top_k": 3}
    assert (found["keep_alive"], found["think"]) == ("10m", False)
    assert found["tools"][0]["function"]["name"] == "f"
    assert found["format"] == {"type": "object"}
    assert loose["format"] == "json"


async def test_calls_have_objects_for_arguments_and_results_name_their_tool() -> None:
    found = await body(
        HI, said("assistant", call("a", x=1), call("b")), said("tool", result("a", "1", "2"))
    )

    assert found["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
                {"id": "b", "function": {"name": "f", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "tool_name": "f", "content": "1\n2"},
        *found["messages"][3:],
    ]


async def test_pictures_stand_beside_the_text_and_other_files_in_it() -> None:
    picture = Blob(file="f_1", media_type="image/png", name="a.png", size=3)
    paper = Blob(file="f_2", media_type="application/pdf", name="b.pdf", size=4)

    seen = await body(said("user", "look", picture, paper), said("user", picture))
    blind = await body(said("user", "look", picture), profile=Profile(vision=False))

    assert seen["messages"] == [
        {
            "role": "user",
            "content": "look[file: b.pdf, application/pdf, 4 bytes]",
            "images": ["Zl8x"],
        },
        {"role": "user", "content": "", "images": ["Zl8x"]},
    ]
    assert blind["messages"] == [
        {"role": "user", "content": "look[file: a.png, image/png, 3 bytes]"}
    ]


@pytest.mark.parametrize(
    ("back", "shown"), [("tools", [True, False]), ("always", [True, True]), ("never", [False] * 2)]
)
async def test_thoughts_go_back_when_the_profile_says(back: Any, shown: list[bool]) -> None:
    asked = [{"id": "a", "function": {"name": "f", "arguments": {}}}]
    script = [
        Answer(steps=(answers.line(thinking="hm"), answers.line(tool_calls=asked, done="stop"))),
        answers.text_answer(["ok"], thought="so"),
        answers.text_answer(["end"]),
    ]
    async with Transport() as transport, Endpoint(script) as endpoint:
        quirks = {"reasoning_back": back}
        settings = ProviderSettings(wire="ollama", base_url=endpoint.base_url, quirks=quirks)
        provider = build_provider("acme", settings, None, transport)
        history = [HI]
        for answer in (said("tool", result("a", "1")), said("user", "go on")):
            history += [(await replay(provider, history)).message, answer]
        await replay(provider, history)

    spoken = [m for m in endpoint.requests[2].body["messages"] if m["role"] == "assistant"]
    assert ["thinking" in message for message in spoken] == shown


@pytest.mark.parametrize("door", ["", "/", "/v1", "/api", "/proxy"])
async def test_the_address_may_name_another_door(door: str) -> None:
    async with Transport() as transport, Endpoint([answers.text_answer(["ok"])]) as endpoint:
        host = endpoint.base_url.removesuffix("/v1")
        settings = ProviderSettings(wire="ollama", base_url=host + door)
        provider = build_provider("acme", settings, None, transport)
        outcome = await replay(provider, (HI,))

    prefix = door if door == "/proxy" else ""
    assert outcome.message.text == "ok"
    assert endpoint.requests[0].path == f"{prefix}/api/chat"


async def test_the_usual_vendor_speaks_this_dialect_when_chosen() -> None:
    async with Transport() as transport:
        settings = ProviderSettings(vendor="ollama", wire="ollama")
        provider: Any = build_provider("ollama", settings, None, transport)

    assert provider._base_url == "http://127.0.0.1:11434"


async def test_models_are_listed_with_what_each_can_do() -> None:
    listed = json_answer({"models": [{"name": "see:1b", "model": "see:1b"}, {"name": "old"}]})
    shown = json_answer(
        {
            "model_info": {"general.architecture": "llama", "llama.context_length": 131_072},
            "capabilities": ["completion", "vision"],
        }
    )
    async with Transport() as transport, Endpoint([shown], models=listed) as endpoint:
        settings = ProviderSettings(wire="ollama", base_url=endpoint.base_url)
        found = await build_provider("acme", settings, None, transport).models()

    assert [(m.id, m.context_window, m.vision) for m in found] == [
        ("see:1b", 131_072, True),
        ("old", None, None),
    ]
