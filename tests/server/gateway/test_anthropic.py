"""Requests in Anthropic's Messages, and what is wrong with them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from teahouse.core.errors import Invalid
from teahouse.core.i18n import DEFAULT
from teahouse.core.messages import (
    Blob,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from teahouse.llm.provider import ModelRequest, OneTool, ToolSpec
from teahouse.server.gateway.anthropic.messages import Messages, count
from teahouse.server.gateway.anthropic.voice import refusal_body
from teahouse.server.gateway.carry import pack
from teahouse.server.gateway.dialect import Asked
from teahouse.server.gateway.refusals import refusal_of

PNG = b"\x89PNG\r\n\x1a\n....."
PNG_64 = base64.b64encode(PNG).decode()
PDF_64 = base64.b64encode(b"%PDF-1.7 .....").decode()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"name": "weather", "description": "Tell it.", "input_schema": SCHEMA}
HI = {"role": "user", "content": "hi"}


def asked(**fields: Any) -> Asked:
    body = {"model": "v/m", "max_tokens": 9, "messages": [HI], **fields}
    return Messages().read(json.dumps(body).encode())


def request(**fields: Any) -> ModelRequest:
    return asked(**fields).request


def said(*blocks: Any, role: str = "user") -> tuple[Message, ...]:
    return request(messages=[{"role": role, "content": list(blocks)}]).messages


def shown(*blocks: Any) -> tuple[Part, ...]:
    (message,) = said(*blocks)
    return message.parts


def answered(*blocks: Any) -> tuple[Part, ...]:
    (message,) = said(*blocks, role="assistant")
    return message.parts


def source(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def test_the_least_request_is_one_words_long() -> None:
    assert asked() == Asked(
        model="v/m",
        stream=False,
        request=ModelRequest(
            model="", max_tokens=9, messages=(Message(role="user", parts=(Text(text="hi"),)),)
        ),
    )


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"temperature": 0.5}, "temperature", 0.5),
        ({"top_p": 1}, "top_p", 1.0),
        ({"stop_sequences": ["a", "b"]}, "stop", ("a", "b")),
        ({"top_k": 3}, "own", {"anthropic": {"top_k": 3}}),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "thinking_tokens", 2048),
        ({"thinking": {"type": "disabled"}}, "effort", "none"),
        ({"thinking": {"type": "adaptive"}}, "effort", None),
        (
            {"thinking": {"type": "adaptive"}},
            "own",
            {"anthropic": {"thinking": {"type": "adaptive"}}},
        ),
        ({"output_config": {"effort": "max"}}, "effort", "xhigh"),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, "effort", "low"),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            "schema",
            SCHEMA,
        ),
        ({"output_format": {"type": "json_schema", "schema": SCHEMA}}, "schema", SCHEMA),
        (
            {"tools": [TOOL]},
            "tools",
            (ToolSpec(name="weather", description="Tell it.", parameters=SCHEMA),),
        ),
        (
            {"tools": [TOOL | {"type": "custom", "cache_control": {"type": "ephemeral"}}]},
            "tools",
            (ToolSpec(name="weather", description="Tell it.", parameters=SCHEMA),),
        ),
        ({"tools": [{"type": "tool_search_tool_bm25_20251119", "name": "t"}]}, "tools", ()),
        ({"tools": [TOOL], "tool_choice": {"type": "auto"}}, "tool_choice", "auto"),
        ({"tools": [TOOL], "tool_choice": {"type": "any"}}, "tool_choice", "required"),
        ({"tools": [TOOL], "tool_choice": {"type": "none"}}, "tool_choice", "none"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "weather"}},
            "tool_choice",
            OneTool(name="weather"),
        ),
        (
            {"tools": [TOOL], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
            "parallel_calls",
            False,
        ),
        ({"tool_choice": {"type": "auto"}}, "tool_choice", None),
        (
            {"service_tier": "auto", "betas": ["x"], "unknown": {"a": 1}, "thinking": None},
            "effort",
            None,
        ),
    ],
)
def test_a_field_comes_to_what_it_means(fields: dict[str, Any], name: str, value: object) -> None:
    assert getattr(request(**fields), name) == value


def test_whether_it_streams_and_to_whom_it_belongs() -> None:
    told = asked(stream=True, metadata={"user_id": "user_1_session_2"})
    assert told.stream
    assert told.conversation == "user_1_session_2"


@pytest.mark.parametrize(
    "system", ["Be brief.", [{"type": "text", "text": "Be brief.", "cache_control": {}}]]
)
def test_the_system_prompt_is_a_text_or_blocks(system: object) -> None:
    first, _ = request(system=system).messages
    assert first == Message(role="system", parts=(Text(text="Be brief."),))


def test_a_picture_comes_with_its_bytes_and_an_address_stays_one() -> None:
    both = request(
        messages=[
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": source("base64", media_type="image/jpeg", data=PNG_64),
                    },
                    {"type": "image", "source": source("url", url="https://x.example/a.webp")},
                ],
            }
        ]
    )
    first, second = both.messages[0].parts
    assert isinstance(first, Blob)
    assert isinstance(second, Blob)
    assert both.media == {first.file: PNG}
    assert first.media_type == "image/png"  # what it is, not what it was called
    assert (second.file, second.media_type) == ("https://x.example/a.webp", "image/webp")


def test_documents_come_as_files_or_as_their_text() -> None:
    pdf, address, text, first, second = shown(
        {
            "type": "document",
            "title": "A.pdf",
            "source": source("base64", media_type="application/pdf", data=PDF_64),
        },
        {"type": "document", "source": source("url", url="https://x.example/b")},
        {
            "type": "document",
            "title": "Tea",
            "source": source("text", media_type="text/plain", data="Green."),
        },
        {"type": "document", "context": "Old.", "source": source("content", content="Black.")},
    )
    assert isinstance(pdf, Blob)
    assert isinstance(address, Blob)
    assert (pdf.name, pdf.media_type) == ("A.pdf", "application/pdf")
    assert address.media_type == "application/pdf"
    assert (text, first, second) == (
        Text(text="Tea\n\nGreen."),
        Text(text="Old."),
        Text(text="Black."),
    )


def test_a_search_result_is_read_as_text() -> None:
    found = {
        "title": "Tea",
        "source": "https://t.example",
        "content": [{"type": "text", "text": "Hot."}],
    }
    assert shown({"type": "search_result", **found}) == (Text(text="Tea\nhttps://t.example\nHot."),)


def test_results_become_a_message_of_their_own_before_the_words_that_follow() -> None:
    image = {"type": "image", "source": source("base64", media_type="image/png", data=PNG_64)}
    told = said(
        {"type": "tool_result", "tool_use_id": "a", "content": "sunny"},
        {
            "type": "tool_result",
            "tool_use_id": "b",
            "is_error": True,
            "content": [{"type": "text", "text": "no"}, image],
        },
        {"type": "tool_result", "tool_use_id": "c"},
        {
            "type": "tool_result",
            "tool_use_id": "d",
            "content": [{"type": "tool_reference", "tool_name": "t"}],
        },
        {"type": "text", "text": "and now?"},
    )
    assert [message.role for message in told] == ["tool", "user"]
    first, second, third, fourth = told[0].parts
    assert first == ToolResult(call="a", content=(Text(text="sunny"),))
    assert isinstance(second, ToolResult)
    assert second.is_error
    assert isinstance(second.content[1], Blob)
    assert third == ToolResult(call="c", content=())
    assert fourth == ToolResult(call="d", content=(Text(text="t"),))


def test_a_signature_of_this_house_comes_back_as_what_the_vendor_gave() -> None:
    opaque = {"origin": "anthropic/x", "given": {"type": "thinking", "signature": "s"}}
    block = {"type": "thinking", "thinking": "hm", "signature": pack(opaque)}
    assert answered(block) == (Thinking(text="hm", opaque=opaque),)


def test_a_foreign_signature_goes_but_its_thought_stays() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "EqQBCkYIARgCKkD"}
    assert answered(block) == (Thinking(text="hm"),)
    assert answered({"type": "redacted_thinking", "data": "EqQB"}) == ()


def test_what_a_vendor_did_itself_is_read_as_text_without_what_only_it_can_read() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tea"}}
    page = {"type": "web_search_result", "url": "https://t.example", "encrypted_content": "SECRET"}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [page]}
    first, second = answered(use, found)
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert '"query":"tea"' in first.text
    assert "https://t.example" in second.text
    assert "SECRET" not in second.text


def test_a_sealed_block_finds_its_call_wherever_the_client_puts_it() -> None:
    sealed = {"type": "redacted_thinking", "data": pack({"call": "a", "opaque": {"s": 1}})}
    call: Any = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    wanted = (ToolCall(id="a", name="f", arguments={}, opaque={"s": 1}),)
    assert answered(sealed, call) == answered(call, sealed) == wanted


def test_a_last_answer_is_left_to_be_continued() -> None:
    told = request(messages=[HI, {"role": "assistant", "content": "The answer is ("}])
    assert told.messages[-1].role == "assistant"


def test_a_system_message_may_stand_among_the_others() -> None:
    told = request(messages=[HI, {"role": "system", "content": "Be brief."}])
    assert [message.role for message in told.messages] == ["user", "system"]


_WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"max_tokens": None}, "field_missing", "max_tokens"),
    ({"max_tokens": 0}, "field_wrong", "max_tokens"),
    ({"max_tokens": "9"}, "field_wrong", "max_tokens"),
    ({"messages": None}, "field_missing", "messages"),
    ({"messages": []}, "field_wrong", "messages"),
    ({"messages": ["hi"]}, "field_wrong", "messages[0]"),
    ({"messages": [{"role": "user"}]}, "field_missing", "messages[0].content"),
    ({"messages": [{"content": "a"}]}, "field_missing", "messages[0].role"),
    ({"messages": [{"role": "tool", "content": "a"}]}, "field_wrong", "messages[0].role"),
    ({"messages": [{"role": "user", "content": 5}]}, "field_wrong", "messages[0].content"),
    ({"model": 5}, "field_wrong", "model"),
    ({"stream": "yes"}, "field_wrong", "stream"),
    ({"temperature": 3}, "field_wrong", "temperature"),
    ({"top_p": -1}, "field_wrong", "top_p"),
    ({"top_k": "x"}, "field_wrong", "top_k"),
    ({"stop_sequences": [1]}, "field_wrong", "stop_sequences"),
    ({"system": [{"type": "image"}]}, "field_wrong", "system[0].type"),
    ({"tools": [{"name": "a"}]}, "field_missing", "tools[0].input_schema"),
    ({"tools": [{"input_schema": {}}]}, "field_missing", "tools[0].name"),
    (
        {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        "tool_elsewhere",
        "tools[0].type",
    ),
    ({"tools": [TOOL], "tool_choice": {"type": "some"}}, "field_wrong", "tool_choice.type"),
    ({"tools": [TOOL], "tool_choice": {}}, "field_missing", "tool_choice.type"),
    (
        {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "b"}},
        "field_wrong",
        "tool_choice.name",
    ),
    ({"thinking": {"type": "enabled"}}, "field_missing", "thinking.budget_tokens"),
    ({"thinking": {"type": "deep"}}, "field_wrong", "thinking.type"),
    ({"thinking": {}}, "field_missing", "thinking.type"),
    ({"output_config": {"effort": "huge"}}, "field_wrong", "output_config.effort"),
    (
        {"output_config": {"format": {"type": "json_schema"}}},
        "field_missing",
        "output_config.format.schema",
    ),
    ({"output_config": {"format": {"type": "xml"}}}, "field_wrong", "output_config.format.type"),
    ({"metadata": {"user_id": 5}}, "field_wrong", "metadata.user_id"),
]


@pytest.mark.parametrize(("fields", "code", "named"), _WRONG)
def test_what_is_wrong_is_named(fields: dict[str, Any], code: str, named: str) -> None:
    with pytest.raises(Invalid) as caught:
        asked(**fields)
    assert (caught.value.code, caught.value.values["field"]) == (code, named)


@pytest.mark.parametrize(
    ("role", "block", "code", "named"),
    [
        ("user", {"text": "a"}, "field_missing", "type"),
        ("user", {"type": "text"}, "field_missing", "text"),
        ("user", {"type": "hologram"}, "field_wrong", "type"),
        ("user", {"type": "image"}, "field_missing", "source"),
        ("user", {"type": "image", "source": {}}, "field_missing", "source.type"),
        ("user", {"type": "image", "source": {"type": "disk"}}, "field_wrong", "source.type"),
        (
            "user",
            {"type": "image", "source": {"type": "base64", "data": "%"}},
            "media_base64",
            "source.data",
        ),
        (
            "user",
            {"type": "image", "source": {"type": "url", "url": "ftp://x"}},
            "media_address",
            "source.url",
        ),
        (
            "user",
            {"type": "image", "source": {"type": "file", "file_id": "f1"}},
            "file_elsewhere",
            "source.file_id",
        ),
        (
            "user",
            {"type": "document", "source": {"type": "file", "file_id": "f1"}},
            "file_elsewhere",
            "source.file_id",
        ),
        ("user", {"type": "container_upload", "file_id": "f1"}, "field_wrong", "type"),
        ("user", {"type": "tool_result"}, "field_missing", "tool_use_id"),
        (
            "user",
            {"type": "tool_result", "tool_use_id": "a", "is_error": 1},
            "field_wrong",
            "is_error",
        ),
        (
            "user",
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "tool_result"}]},
            "field_wrong",
            "content[0].type",
        ),
        ("assistant", {"type": "image"}, "field_wrong", "type"),
        ("assistant", {"type": "tool_use", "id": "a", "input": {}}, "field_missing", "name"),
        ("assistant", {"type": "tool_use", "name": "a", "input": {}}, "field_missing", "id"),
        (
            "assistant",
            {"type": "tool_use", "id": "a", "name": "a", "input": "x"},
            "field_wrong",
            "input",
        ),
        ("assistant", {"type": "thinking", "thinking": 1}, "field_wrong", "thinking"),
    ],
)
def test_what_is_wrong_in_a_block_is_named(role: str, block: Any, code: str, named: str) -> None:
    with pytest.raises(Invalid) as caught:
        said(block, role=role)
    assert caught.value.code == code
    assert caught.value.values["field"] == f"messages[0].content[0].{named}"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"a"'])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid):
        Messages().read(body)


def test_tokens_are_counted_without_a_length_and_with_the_tools() -> None:
    def tokens(**fields: Any) -> int:
        body = json.dumps({"messages": [HI], **fields}).encode()
        return json.loads(count(Messages().read_to_count(body)))["input_tokens"]

    assert 0 < tokens() < tokens(system="Be brief, friend.") < tokens(tools=[TOOL] * 3)


def test_a_thread_is_refused_so_that_anthropics_client_sends_whole_conversations() -> None:
    with pytest.raises(Invalid) as caught:
        asked(thread={"type": "create"})
    body = refusal_body(refusal_of(caught.value, DEFAULT))
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["details"]["error_code"] == "thread_unsupported_request"
