"""The OpenAI Responses dialect, stateless: what came as items goes back as those items."""

from __future__ import annotations

from typing import Any

import pytest

from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from teahouse.llm.profiles import Profile, profile_for
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, Timeouts
from teahouse.llm.transport import Transport
from teahouse.llm.wire.openai_responses_body import responses_body
from teahouse.testing import responses_answers as answers
from teahouse.testing.answers import Answer
from teahouse.testing.conformance import Outcome, replay
from teahouse.testing.endpoint import Endpoint
from tests.llm.conversation import call, result, said

pytestmark = pytest.mark.anyio

PNG = Blob(file="f_1", media_type="image/png", name="a.png", size=3)
PDF = Blob(file="f_2", media_type="application/pdf", name="b.pdf", size=4)
TOOL = ToolSpec(name="f", description="d", parameters={"type": "object", "properties": {}})
SCHEMA = {"type": "object", "properties": {}}


def given_call(ref: str, given: JsonObject, **arguments: object) -> ToolCall:
    opaque = {"origin": "acme/m", "given": given}
    return ToolCall(id=ref, name="f", arguments=arguments, opaque=opaque)


def own(given: JsonObject, text: str = "", origin: str = "acme/m") -> Thinking:
    return Thinking(text=text, opaque={"origin": origin, "given": given})


def reasoning(number: int, sealed: str | None = "RU5D") -> JsonObject:
    sealed_as = {"encrypted_content": sealed} if sealed else {}
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], **sealed_as}


def marker(number: int, *kinds: str, **more: object) -> Thinking:
    content = [{"type": kind} for kind in kinds or ("output_text",)]
    item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    return own({"message": {**item, **more}})


def spoken(text: str) -> JsonObject:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content}


async def body(*messages: Message, profile: Profile | None = None, **request: Any) -> JsonObject:
    asked = ModelRequest(model="m", messages=messages, **request)

    async def read(file: str) -> bytes:
        return file.encode()

    return await responses_body(asked, profile or Profile(), origin="acme/m", files=read)


async def items(*history: Message, **request: Any) -> list[JsonObject]:
    return (await body(*history, **request))["input"]


async def test_a_plain_question_leaves_nothing_on_the_other_side() -> None:
    assert await body(said("system", "be kind"), said("user", "hi")) == {
        "model": "m",
        "input": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


async def test_options_have_this_dialects_names() -> None:
    found = await body(
        said("user", "hi"),
        tools=(TOOL,),
        schema=SCHEMA,
        max_tokens=9,
        temperature=0.5,
        extra={"text": {"verbosity": "low"}, "reasoning": {"effort": "high"}},
    )
    plain = await body(said("user", "hi"), schema=SCHEMA, profile=Profile(json_schema=False))

    tool = {"type": "function", "name": "f", "description": "d", "strict": False}
    assert found["tools"] == [{**tool, "parameters": TOOL.parameters}]
    assert found["text"]["format"]["schema"] == SCHEMA
    assert found["text"]["verbosity"] == "low"
    assert found["max_output_tokens"] == 16, "fewer are refused"
    assert (found["temperature"], found["reasoning"]) == (0.5, {"effort": "high"})
    assert plain["text"]["format"] == {"type": "json_object"}


@pytest.mark.parametrize(("model", "sealed"), [("gpt-4o", False), ("gpt-5", True), ("o3", True)])
async def test_models_that_do_not_think_are_not_asked_for_thoughts(
    model: str, sealed: bool
) -> None:
    found = await body(said("user", "hi"), profile=profile_for(Profile(), model, {}))

    assert ("include" in found) is sealed


async def test_calls_and_results_are_items_of_their_own() -> None:
    found = await items(
        said("user", "hi"),
        said("assistant", "Let me see.", call("k1", x=1), call("k2")),
        said("tool", result("k2", Text(text="2"), PNG), result("k1", "1")),
        said("user", "go on"),
    )

    assert found[1:4] == [
        spoken("Let me see."),
        {"type": "function_call", "call_id": "k1", "name": "f", "arguments": '{"x":1}'},
        {"type": "function_call", "call_id": "k2", "name": "f", "arguments": "{}"},
    ]
    assert [(item["type"], item["call_id"]) for item in found[4:6]] == [
        ("function_call_output", "k2"),
        ("function_call_output", "k1"),
    ]
    assert [part["type"] for part in found[4]["output"]] == ["input_text", "input_image"]
    assert found[5]["output"] == "1"


async def test_pictures_and_papers_go_as_data_and_other_files_by_name() -> None:
    html = Blob(file="f_3", media_type="text/html", name="c.html", size=5)

    (seen,) = await items(said("user", "look", PNG, PDF, html))
    (blind,) = await items(said("user", PNG), profile=Profile(vision=False))

    picture = {"type": "input_image", "image_url": "data:image/png;base64,Zl8x", "detail": "auto"}
    assert seen["content"] == [
        {"type": "input_text", "text": "look"},
        picture,
        {
            "type": "input_file",
            "filename": "b.pdf",
            "file_data": "data:application/pdf;base64,Zl8y",
        },
        {"type": "input_text", "text": "[file: c.html, text/html, 5 bytes]"},
    ]
    assert blind["content"] == "[file: a.png, image/png, 3 bytes]"


async def test_thoughts_calls_and_messages_go_back_as_the_items_they_were() -> None:
    given = {"id": "fc_1", "status": "completed", "namespace": "crm"}
    reply = said(
        "assistant",
        own({"item": reasoning(0)}, "hm"),
        marker(1, phase="commentary", status="completed"),
        "Looking.",
        given_call("k", given),
    )

    found = await items(said("user", "hi"), reply)

    assert found[1:4] == [
        reasoning(0),
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Looking."}],
            "phase": "commentary",
            "status": "completed",
        },
        {**given, "type": "function_call", "call_id": "k", "name": "f", "arguments": "{}"},
    ]


async def test_a_message_of_several_contents_gets_each_its_text() -> None:
    found = await items(
        said("user", "hi"), said("assistant", marker(1, "output_text", "refusal"), "Well.", "No.")
    )

    assert found[1]["content"] == [
        {"type": "output_text", "text": "Well."},
        {"type": "refusal", "refusal": "No."},
    ]


async def test_what_one_endpoint_gave_goes_to_no_other() -> None:
    foreign = own({"item": reasoning(0)}, "hm", origin="other/m")

    found = await items(said("user", "hi"), said("assistant", foreign, "ok"))

    assert found[1:] == [spoken("ok")]


async def test_without_the_thoughts_behind_it_an_item_goes_without_its_id() -> None:
    unsealed = own({"item": reasoning(0, sealed=None)}, "hm")
    reply = said("assistant", unsealed, marker(1), "ok", given_call("k", {"id": "fc_1"}))

    found = await items(said("user", "hi"), reply)

    assert [item.get("type") for item in found[1:3]] == ["message", "function_call"]
    assert all("id" not in item for item in found)


async def test_an_endpoint_that_refuses_ids_gets_none() -> None:
    reply = said("assistant", own({"item": reasoning(0)}), marker(1), "ok")

    found = await items(said("user", "hi"), reply, profile=Profile(item_ids=False))

    assert found[1]["encrypted_content"] == "RU5D"
    assert all("id" not in item for item in found)


async def test_thoughts_that_led_to_nothing_are_left_out() -> None:
    thought = said("assistant", own({"item": reasoning(0)}, "hm"))

    assert await items(said("user", "hi"), thought) == [{"role": "user", "content": "hi"}]


async def test_a_tool_of_text_is_called_and_answered_in_its_own_form() -> None:
    given = {"type": "custom_tool_call", "id": "ctc_1"}
    made = given_call("k", given, input="ls")

    found = await items(
        said("user", "hi"), said("assistant", made), said("tool", result("k", Text(text="a")))
    )

    assert found[1:] == [
        {**given, "call_id": "k", "name": "f", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "k", "output": "a"},
    ]


async def ask(answer: Answer) -> tuple[Endpoint, Outcome]:
    async with Transport() as transport, Endpoint([answer]) as endpoint:
        settings = ProviderSettings(
            vendor="openai", wire="openai_responses", base_url=endpoint.base_url
        )
        provider = build_provider("acme", settings, "sk-1", transport)
        return endpoint, await replay(provider, (said("user", "hi"),))


async def test_the_owner_chooses_the_dialect_of_a_vendor_that_speaks_two() -> None:
    endpoint, outcome = await ask(answers.text_answer(["ok"]))

    (recorded,) = endpoint.requests
    assert recorded.path == "/v1/responses"
    assert recorded.headers["authorization"] == "Bearer sk-1"
    assert outcome.message.text == "ok"


async def test_a_whole_reply_goes_back_item_by_item_as_it_came() -> None:
    search = {"type": "web_search_call", "id": "ws_2", "action": {"query": "茶"}}
    steps = [
        *answers.reasoning(0, "hm", "RU5D+/=="),
        *answers.text(1, ["Loo", "king."], phase="commentary"),
        answers.event("output_item.done", output_index=2, item=search),
        *answers.reasoning(3, "so", "TVFPPQ=="),
        answers.event(
            "output_item.done",
            output_index=4,
            item={
                "type": "function_call",
                "id": "fc_4",
                "call_id": "k",
                "name": "f",
                "arguments": '{"b":1,"a":2}',
            },
        ),
        answers.end(9),
    ]

    _, outcome = await ask(Answer(steps=tuple(steps)))
    found = await items(said("user", "hi"), outcome.message)

    assert found[1:6] == [
        {
            "id": "rs_0",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "RU5D+/==",
        },
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Looking.", "annotations": []}],
        },
        search,
        {
            "id": "rs_3",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "so"}],
            "encrypted_content": "TVFPPQ==",
        },
        {
            "type": "function_call",
            "id": "fc_4",
            "call_id": "k",
            "name": "f",
            "arguments": '{"b":1,"a":2}',
        },
    ]


async def test_a_plain_reply_needs_no_more_than_its_text() -> None:
    _, outcome = await ask(answers.text_answer(["你好"]))

    assert outcome.message.parts == (Text(text="你好"),)


async def test_cached_tokens_are_part_of_the_input() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    end = answers.event("completed", response=answers.response("completed", usage=usage))

    _, outcome = await ask(Answer(steps=(*answers.text(0, ["ok"]), end)))

    assert outcome.done is not None
    assert outcome.done.usage == Usage(input=100, output=7, cached=64, written=30, reasoning=5)


async def test_thinking_in_silence_is_no_silence_in_the_middle_of_a_reply() -> None:
    created = answers.event("created", response=answers.response("in_progress"))
    end = answers.event("completed", response=answers.response("completed"))
    answer = Answer(steps=(created, 0.3, *answers.text(0, ["ok"]), end))
    async with Transport() as transport, Endpoint([answer]) as endpoint:
        settings = ProviderSettings(
            wire="openai_responses",
            base_url=endpoint.base_url,
            timeouts=Timeouts(first_event_s=20, idle_s=0.1),
        )
        outcome = await replay(
            build_provider("acme", settings, None, transport), (said("user", "hi"),)
        )

    assert outcome.error is None
    assert outcome.message.text == "ok"
