"""The Anthropic dialect: bodies that the vendor accepts, and what it signed goes back as it was."""

from __future__ import annotations

from typing import Any

import pytest

from teahouse.core.events import fold
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Thinking,
)
from teahouse.llm.profiles import Profile, profile_for
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.wire.anthropic_body import ANSWER, anthropic_body
from teahouse.testing import anthropic_answers as answers
from teahouse.testing.answers import Answer, json_answer
from teahouse.testing.conformance import replay
from teahouse.testing.endpoint import Endpoint
from tests.llm.conversation import call, result, said

pytestmark = pytest.mark.anyio

PNG = Blob(file="f_1", media_type="image/png", name="a.png", size=3)
PDF = Blob(file="f_2", media_type="application/pdf", name="b.pdf", size=4)
HTML = Blob(file="f_3", media_type="text/html", name="c.html", size=5)
TOOL = ToolSpec(name="f", description="d", parameters={"type": "object", "properties": {}})
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}


def own(given: JsonObject, text: str = "", origin: str = "acme/m") -> Thinking:
    return Thinking(text=text, opaque={"origin": origin, "given": given})


def signed(text: str, signature: str = "U0lH", origin: str = "acme/m") -> Thinking:
    return own({"type": "thinking", "signature": signature}, text, origin)


async def body(*messages: Message, profile: Profile | None = None, **request: Any) -> JsonObject:
    asked = ModelRequest(model="m", messages=messages, **request)

    async def read(file: str) -> bytes:
        return file.encode()

    return await anthropic_body(asked, profile or Profile(), origin="acme/m", files=read)


async def messages(*history: Message, **request: Any) -> list[JsonObject]:
    return (await body(*history, **request))["messages"]


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


async def test_a_plain_question_has_its_system_apart_and_a_length() -> None:
    assert await body(
        said("system", "be kind"), said("system", "be brief"), said("user", "hi")
    ) == {
        "model": "m",
        "max_tokens": 8192,
        "system": "be kind\n\nbe brief",
        "messages": [{"role": "user", "content": [text("hi")]}],
        "stream": True,
    }


async def test_roles_take_turns_and_results_stand_first_in_theirs() -> None:
    found = await messages(
        said("user", "a"),
        said("user", "b"),
        said("assistant", "Let me see.", call("k1", x=1), call("k2")),
        said("tool", result("k1", "1"), result("k2", "boom", is_error=True)),
        said("user", "and?"),
        said("assistant", "So."),
        said("assistant", "Yes. "),
    )

    assert found == [
        {"role": "user", "content": [text("a"), text("b")]},
        {
            "role": "assistant",
            "content": [
                text("Let me see."),
                {"type": "tool_use", "id": "k1", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "k2", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "k1", "content": [text("1")]},
                {
                    "type": "tool_result",
                    "tool_use_id": "k2",
                    "content": [text("boom")],
                    "is_error": True,
                },
                text("and?"),
            ],
        },
        {"role": "assistant", "content": [text("So."), text("Yes.")]},
    ]


async def test_blanks_are_no_words() -> None:
    found = await messages(said("user", " \n", "hi"), said("assistant", "Hello", " "))

    assert [message["content"] for message in found] == [[text("hi")], [text("Hello")]]


async def test_ids_of_other_vendors_become_ids_that_are_accepted_here() -> None:
    found = await messages(
        said("user", "hi"),
        said("assistant", call("functions.f:0")),
        said("tool", result("functions.f:0", "1")),
        said("assistant", call("functions.f:0")),
        said("tool", result("functions.f:0", "2")),
    )

    uses = [b["id"] for m in found for b in m["content"] if b["type"] == "tool_use"]
    results = [b["tool_use_id"] for m in found for b in m["content"] if b["type"] == "tool_result"]
    assert uses == results == ["functions_f_0", "functions_f_0_2"]


async def test_ids_that_become_alike_in_one_reply_stay_apart() -> None:
    found = await messages(
        said("user", "hi"),
        said("assistant", call("f.0"), call("f:0"), call("f_0_2")),
        said("tool", result("f.0"), result("f:0"), result("f_0_2")),
    )

    uses = [block["id"] for block in found[1]["content"]]
    results = [block["tool_use_id"] for block in found[2]["content"]]
    assert uses == results == ["f_0", "f_0_2", "f_0_2_2"]


async def test_signed_and_sealed_thoughts_go_back_in_order_and_to_their_vendor_alone() -> None:
    sealed = {"type": "redacted_thinking", "data": "RU5D+/=="}
    foreign = signed("no", origin="other/m")
    reply = said(
        "assistant", signed("hm"), own(sealed), foreign, "ok", signed("", "MQ=="), call("k")
    )

    found = await messages(said("user", "hi"), reply, said("tool", result("k", "1")))

    assert found[1]["content"][:4] == [
        {"type": "thinking", "signature": "U0lH", "thinking": "hm"},
        sealed,
        text("ok"),
        {"type": "thinking", "signature": "MQ==", "thinking": ""},
    ]
    assert found[1]["content"][4]["type"] == "tool_use"


async def test_a_reply_that_was_cut_while_it_thought_is_no_message() -> None:
    found = await messages(said("user", "hi"), said("assistant", signed("hm")), said("user", "go"))

    assert found == [{"role": "user", "content": [text("hi"), text("go")]}]


async def test_the_vendors_own_tools_go_back_with_their_results_or_not_at_all() -> None:
    use = own({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})
    got = own({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []})

    whole = await messages(said("user", "a"), said("assistant", use, got, "b"), said("user", "c"))
    cut = await messages(said("user", "a"), said("assistant", "b", use), said("user", "c"))
    paused = await messages(said("user", "a"), said("assistant", "b", use))

    assert [block["type"] for block in whole[1]["content"]][:2] == [
        "server_tool_use",
        "web_search_tool_result",
    ]
    assert cut[1]["content"] == [text("b")]
    assert paused[1]["content"][-1]["type"] == "server_tool_use"


async def test_pictures_and_papers_go_as_data_and_other_files_by_name() -> None:
    (seen,) = await messages(said("user", "look", PNG, PDF, HTML))
    (blind,) = await messages(said("user", PNG), profile=Profile(vision=False))
    large = Blob(file="f_9", media_type="image/png", name="big.png", size=5_000_000)
    (heavy,) = await messages(said("user", large))

    source = {"type": "base64", "media_type": "image/png", "data": "Zl8x"}
    paper = {"type": "base64", "media_type": "application/pdf", "data": "Zl8y"}
    assert seen["content"] == [
        text("look"),
        {"type": "image", "source": source},
        {"type": "document", "source": paper, "title": "b.pdf"},
        text("[file: c.html, text/html, 5 bytes]"),
    ]
    assert blind["content"] == [text("[file: a.png, image/png, 3 bytes]")]
    assert heavy["content"] == [text("[file: big.png, image/png, 5000000 bytes]")]


async def test_a_tools_picture_stands_in_its_result() -> None:
    found = await messages(
        said("user", "hi"), said("assistant", call("k")), said("tool", result("k", "see", PNG))
    )

    assert [item["type"] for item in found[2]["content"][0]["content"]] == ["text", "image"]


async def test_a_temperature_is_within_bounds_and_not_said_where_one_thinks() -> None:
    hot = await body(said("user", "hi"), temperature=1.7)
    thinks = await body(
        said("user", "hi"), temperature=0.5, extra={"thinking": {"type": "adaptive"}}
    )
    refuses = await body(said("user", "hi"), temperature=0.5, profile=Profile(temperature=False))

    assert hot["temperature"] == 1.0
    assert "temperature" not in thinks
    assert "temperature" not in refuses


@pytest.mark.parametrize(
    ("model", "temperature", "json_schema", "output_tokens"),
    [
        ("claude-3-haiku-20240307", True, False, 4096),
        ("claude-3-7-sonnet-latest", True, False, 8192),
        ("claude-sonnet-4-20250514", True, False, 32_000),
        ("claude-sonnet-4-5-20250929", True, True, 32_000),
        ("claude-opus-4-6", True, True, 32_000),
        ("claude-opus-4-7", False, True, 32_000),
        ("claude-opus-5", False, True, 32_000),
    ],
)
def test_what_is_known_of_a_model_is_in_its_profile(
    model: str, temperature: bool, json_schema: bool, output_tokens: int
) -> None:
    found = profile_for(Profile(), model, {})

    assert (found.temperature, found.json_schema) == (temperature, json_schema)
    assert found.output_tokens == output_tokens


THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2000}}


async def test_a_budget_for_thoughts_leaves_room_for_the_reply() -> None:
    found = await body(said("user", "hi"), max_tokens=100, extra=THINKING)

    assert found["max_tokens"] == 2100


async def test_a_turn_that_another_model_began_goes_on_without_thoughts() -> None:
    begun = (said("user", "hi"), said("assistant", call("k")), said("tool", result("k", "1")))
    ours = said("assistant", signed("hm"), call("k"))

    foreign = await body(*begun, extra=THINKING)
    own_turn = await body(begun[0], ours, begun[2], extra=THINKING)

    assert "thinking" not in foreign
    assert own_turn["thinking"] == THINKING["thinking"]


async def test_json_is_asked_for_by_schema_or_as_the_arguments_of_a_tool() -> None:
    forced = Profile(json_schema=False)
    known = await body(
        said("user", "hi"), schema=SCHEMA, extra={"output_config": {"effort": "low"}}
    )
    tool = await body(said("user", "hi"), schema=SCHEMA, profile=forced)
    beside = await body(said("user", "hi"), schema=SCHEMA, profile=forced, tools=(TOOL,))
    thinks = await body(said("user", "hi"), schema=SCHEMA, profile=forced, extra=THINKING)

    schema = known["output_config"]["format"]["schema"]
    assert known["output_config"]["effort"] == "low"
    assert schema["additionalProperties"] is False
    assert schema["properties"]["n"] == {"type": "integer", "description": "(minimum: 1)"}
    assert tool["tool_choice"] == {"type": "tool", "name": ANSWER}
    assert tool["tools"][0]["input_schema"] == SCHEMA
    assert beside["tool_choice"] == {"type": "any"}
    assert [spec["name"] for spec in beside["tools"]] == ["f", ANSWER]
    assert "tool_choice" not in thinks


async def test_the_vendors_own_row_asks_for_its_cache() -> None:
    assert "cache_control" not in await body(said("user", "hi"))
    cached = await body(said("user", "hi"), profile=Profile(prompt_cache=True))
    assert cached["cache_control"] == {"type": "ephemeral"}


async def ask(answer: Answer, **settings: Any) -> tuple[Endpoint, Any]:
    async with Transport() as transport, Endpoint([answer]) as endpoint:
        wanted = ProviderSettings(wire="anthropic", **{"base_url": endpoint.base_url, **settings})
        provider = build_provider("acme", wanted, "sk-1", transport)
        return endpoint, await replay(provider, (said("user", "hi"),))


async def test_a_request_bears_the_key_the_version_and_the_owners_headers() -> None:
    endpoint, _ = await ask(answers.text_answer(["ok"]), headers={"anthropic-beta": "x"})

    (recorded,) = endpoint.requests
    assert recorded.path == "/v1/messages"
    assert recorded.headers["x-api-key"] == "sk-1"
    assert recorded.headers["anthropic-version"] == "2023-06-01"
    assert recorded.headers["anthropic-beta"] == "x"
    assert "authorization" not in recorded.headers


async def test_the_address_may_be_written_without_its_version() -> None:
    async with Transport() as transport, Endpoint([answers.text_answer(["ok"])]) as endpoint:
        base_url = endpoint.base_url.removesuffix("/v1") + "/anthropic/"
        settings = ProviderSettings(wire="anthropic", base_url=base_url)
        await replay(build_provider("acme", settings, None, transport), (said("user", "hi"),))

    assert endpoint.requests[0].path == "/anthropic/v1/messages"


async def test_the_arguments_of_the_answering_tool_are_the_text_of_the_reply() -> None:
    answer = answers.tool_answer([("t", ANSWER, {"n": 1})])
    async with Transport() as transport, Endpoint([answer]) as endpoint:
        settings = ProviderSettings(
            wire="anthropic", base_url=endpoint.base_url, quirks={"json_schema": False}
        )
        provider = build_provider("acme", settings, None, transport)
        request = ModelRequest(model="m", messages=(said("user", "hi"),), schema=SCHEMA)
        events = [event async for batch in provider.stream(request) for event in batch]

    assert fold(events).text == '{"n": 1}'
    assert fold(events).tool_calls == ()
    assert events[-1].reason == "stop"


async def test_a_whole_reply_goes_back_block_by_block_as_it_came() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "茶"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"e": "RU5D=="}]}
    cite = {"type": "web_search_result_location", "encrypted_index": "SU5E"}
    steps = [
        answers.start(),
        *answers.thinking(0, "hm ", "U0lH+/=="),
        *answers.block(1, {"type": "redacted_thinking", "data": "U0VBTA=="}),
        *answers.block(2, search),
        *answers.block(3, found),
        *answers.block(
            4,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "Tea."},
            {"type": "citations_delta", "citation": cite},
        ),
        *answers.block(5, {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": 1, "a": 2}}),
        *answers.end("tool_use", 9),
    ]

    _, outcome = await ask(Answer(steps=tuple(steps)))
    _, reply, _ = await messages(
        said("user", "hi"), outcome.message, said("tool", result("t1", "1"))
    )

    assert reply["content"] == [
        {"type": "thinking", "signature": "U0lH+/==", "thinking": "hm "},
        {"type": "redacted_thinking", "data": "U0VBTA=="},
        search,
        found,
        {"type": "text", "text": "Tea.", "citations": [cite]},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": 1, "a": 2}},
    ]
    assert list(reply["content"][5]["input"]) == ["b", "a"]


async def test_models_are_listed_with_their_windows() -> None:
    row = {
        "type": "model",
        "id": "claude-x",
        "max_input_tokens": 200_000,
        "capabilities": {"image_input": {"supported": True}},
    }
    listed = json_answer({"data": [row, {"id": "old"}], "has_more": False})
    async with Transport() as transport, Endpoint(models=listed) as endpoint:
        settings = ProviderSettings(wire="anthropic", base_url=endpoint.base_url)
        found = await build_provider("acme", settings, None, transport).models()

    assert [(m.id, m.context_window, m.vision) for m in found] == [
        ("claude-x", 200_000, True),
        ("old", None, None),
    ]


async def test_tokens_read_from_the_cache_and_written_into_it_are_part_of_the_input() -> None:
    usage = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 500}
    usage |= {"cache_creation_input_tokens": 40}
    start = answers.event("message_start", message={"usage": usage})
    answer = Answer(steps=(start, *answers.text(0, ["ok"]), *answers.end("end_turn", 3)))

    _, outcome = await ask(answer)

    assert (outcome.done.usage.input, outcome.done.usage.output) == (549, 3)
    assert (outcome.done.usage.cached, outcome.done.usage.written) == (500, 40)
    assert not outcome.done.usage.estimated
