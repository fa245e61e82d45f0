"""The OpenAI Responses dialect at the front, as OpenAI's own SDK writes and reads it."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from openai.types.responses import Response, ResponseErrorEvent
from pydantic import BaseModel

from teahouse.core.errors import Invalid
from teahouse.core.events import (
    PartDelta,
    PartDone,
    Reason,
    ReplyDone,
    StreamEvent,
    Usage,
    fold,
)
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from teahouse.llm.provider import OneTool, ToolSpec
from teahouse.llm.repair import plain_object
from teahouse.server.gateway.dialect import Refusal
from teahouse.server.gateway.openai.responses import OpenAIResponses
from teahouse.server.gateway.openai.responses_read import ResponsesAsked
from teahouse.server.gateway.openai.responses_voice import ResponsesVoice
from tests.server.gateway.replies import Told
from tests.server.gateway.replies import replies as side_by_side

PNG = b"\x89PNG\r\n\x1a\n and more"
PNG_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
PDF_URL = f"data:application/pdf;base64,{base64.b64encode(b'%PDF-1.7').decode()}"
WEATHER: JsonObject = {
    "type": "function",
    "name": "weather",
    "description": "Tells the weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": True,
}
TIME: JsonObject = {"type": "function", "name": "time"}
SEALED: JsonObject = {"origin": "vendor/model", "given": {"signature": "s+/="}}
DIALECT = OpenAIResponses()


def read(**fields: Any) -> ResponsesAsked:
    return DIALECT.read(json.dumps({"model": "m/x", "input": "Hi"} | fields).encode())


def messages(*items: JsonObject) -> tuple[Message, ...]:
    return read(input=list(items)).request.messages


def said(role: Any, *parts: Part) -> Message:
    return Message(role=role, parts=parts)


def voice(**fields: Any) -> ResponsesVoice:
    return DIALECT.voice(read(**fields), "m/x")


def client(answer: Callable[[ResponsesVoice], bytes]) -> openai.OpenAI:
    """The SDK before a server that answers in the voice that the SDK's own request asks for."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        asked = DIALECT.read(request.content)
        kind = DIALECT.stream_type if asked.stream else "application/json"
        content = answer(DIALECT.voice(asked, asked.model or ""))
        return httpx2.Response(200, headers={"content-type": kind}, content=content)

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    return openai.OpenAI(api_key="k", base_url="http://house/v1", max_retries=0, http_client=http)


def streamed(batches: Iterable[Sequence[StreamEvent]]) -> tuple[Response, list[Any]]:
    """What the SDK makes of a stream: the response at its end, and all events."""

    def answer(voice: ResponsesVoice) -> bytes:
        return voice.begin() + b"".join(voice.tell(batch) + voice.beat() for batch in batches)

    with client(answer).responses.stream(model="m/x", input="Hi") as stream:
        events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    return events[-1].response, events


def given_back(response: Response) -> tuple[Message, ...]:
    """The output as the SDK's users put it into the next input."""
    return messages(*(item.model_dump(mode="json") for item in response.output))


def frames(stream: bytes) -> list[JsonObject]:
    found: list[JsonObject] = []
    for frame in stream.decode().split("\n\n")[:-1]:
        name, data = frame.split("\n")
        told = json.loads(data.removeprefix("data: "))
        assert name == f"event: {told['type']}"
        found.append(told)
    return found


# requests


def test_a_text_alone_is_one_message_of_a_user() -> None:
    asked = read(input="你好", stream=True)
    assert asked.model == "m/x"
    assert asked.stream
    assert asked.counts
    assert asked.request.messages == (said("user", Text(text="你好")),)


def test_no_model_and_no_stream_are_told_as_such() -> None:
    asked = read(model=None)
    assert (asked.model, asked.stream, asked.conversation) == (None, False, None)


def test_instructions_are_a_system_message_before_all_others() -> None:
    asked = read(instructions="Be brief.", input=[{"role": "developer", "content": "In verse."}])
    assert asked.request.messages == (
        said("system", Text(text="Be brief.")),
        said("system", Text(text="In verse.")),
    )


def test_messages_are_read_with_and_without_their_type() -> None:
    content = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
    assert messages(
        {"role": "system", "content": "s"},
        {"type": "message", "role": "user", "content": content, "status": "completed"},
        {"role": "assistant", "content": "c", "phase": "final_answer"},
        {"type": "message", "role": "user", "content": "d"},
    ) == (
        said("system", Text(text="s")),
        said("user", Text(text="a"), Text(text="b")),
        said("assistant", Text(text="c")),
        said("user", Text(text="d")),
    )


def test_texts_and_refusals_of_an_earlier_reply_are_its_words() -> None:
    content = [
        {"type": "output_text", "text": "Yes", "annotations": []},
        {"type": "refusal", "refusal": "No"},
    ]
    assert messages(
        {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
    ) == (said("assistant", Text(text="Yes"), Text(text="No")),)


def test_pictures_and_files_come_as_data_or_as_addresses() -> None:
    asked = read(
        input=[
            {
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": PNG_URL, "detail": "high"},
                    {"type": "input_image", "image_url": "https://example.org/a.webp"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
                    {"type": "input_file", "file_data": PDF_URL.partition(",")[2]},
                    {"type": "input_file", "file_url": "https://example.org/b.pdf"},
                ],
            }
        ]
    )
    picture, linked, file, bare, far = asked.request.messages[0].parts
    assert isinstance(picture, Blob)
    assert picture.media_type == "image/png"
    assert asked.request.media[picture.file] == PNG
    assert linked == Blob(
        file="https://example.org/a.webp", media_type="image/webp", name="a.webp", size=0
    )
    assert isinstance(file, Blob)
    assert (file.name, file.media_type) == ("a.pdf", "application/pdf")
    assert isinstance(bare, Blob)
    assert asked.request.media[bare.file] == b"%PDF-1.7"
    assert isinstance(far, Blob)
    assert (far.file, far.media_type) == ("https://example.org/b.pdf", "application/pdf")


def test_calls_of_one_reply_are_one_message_and_so_are_their_outputs() -> None:
    parts = [{"type": "input_text", "text": "rain"}, {"type": "input_image", "image_url": PNG_URL}]
    history = messages(
        {"role": "user", "content": "Weather?"},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "A"}'},
        {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": ""},
        {"type": "function_call_output", "call_id": "c1", "output": "sun"},
        {"type": "function_call_output", "call_id": "c2", "output": parts},
    )
    assert history[1] == said(
        "assistant",
        ToolCall(id="c1", name="weather", arguments={"city": "A"}),
        ToolCall(id="c2", name="weather", arguments={}),
    )
    sun, rain = history[2].parts
    assert history[2].role == "tool"
    assert sun == ToolResult(call="c1", content=(Text(text="sun"),))
    assert isinstance(rain, ToolResult)
    assert rain.content[0] == Text(text="rain")
    assert isinstance(rain.content[1], Blob)


def test_arguments_that_are_no_json_are_kept_as_they_came() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a'}
    assert messages(call) == (
        said("assistant", ToolCall(id="c", name="f", arguments={}, malformed='{"a')),
    )


def test_thoughts_that_another_server_sealed_are_kept_as_far_as_they_can_be_read() -> None:
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    told = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAA"}
    mute = {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gAAA"}
    aloud = {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "c"}],
    }
    assert messages(told, mute, aloud) == (
        said("assistant", Thinking(text="a\n\nb"), Thinking(text="c")),
    )


def test_tools_are_read_and_told_of_in_the_response() -> None:
    asked = read(tools=[WEATHER, TIME])
    assert asked.request.tools == (
        ToolSpec(
            name="weather", description="Tells the weather.", parameters=WEATHER["parameters"]
        ),
        ToolSpec(name="time", description="", parameters={"type": "object", "properties": {}}),
    )
    weather, time = asked.told["tools"]
    assert weather == WEATHER
    assert time["strict"] is None


@pytest.mark.parametrize(
    ("choice", "meant"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "time"}, OneTool(name="time")),
    ],
)
def test_a_tool_choice_is_read_in_each_form(choice: object, meant: object) -> None:
    asked = read(tools=[WEATHER, TIME], tool_choice=choice)
    assert asked.request.tool_choice == meant
    assert len(asked.request.tools) == 2
    assert asked.told["tool_choice"] == (choice or "auto")


def test_of_allowed_tools_only_those_are_offered() -> None:
    tools = [{"type": "function", "name": "time"}]
    choice = {"type": "allowed_tools", "mode": "required", "tools": tools}
    asked = read(tools=[WEATHER, TIME], tool_choice=choice)
    assert [tool.name for tool in asked.request.tools] == ["time"]
    assert asked.request.tool_choice == "required"


def test_a_schema_binds_the_reply() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}
    asked = read(text={"format": form})
    assert asked.request.schema == schema
    assert asked.told["text"] == {"format": form}


def test_json_without_a_schema_is_asked_in_the_words_of_each_dialect() -> None:
    asked = read(text={"format": {"type": "json_object"}, "verbosity": "low"})
    assert asked.request.schema is None
    assert asked.request.own["openai_responses"] == {
        "text": {"format": {"type": "json_object"}, "verbosity": "low"}
    }
    assert asked.request.own["openai_chat"] == {"response_format": {"type": "json_object"}}


def test_plain_text_asks_for_nothing() -> None:
    asked = read(text={"format": {"type": "text"}})
    assert asked.request.schema is None
    assert not asked.request.own


def test_verbosity_and_summary_go_only_to_endpoints_that_know_them() -> None:
    asked = read(text={"verbosity": "high"}, reasoning={"effort": "low", "summary": "auto"})
    assert asked.request.effort == "low"
    assert asked.request.own == {
        "openai_responses": {
            "text": {"verbosity": "high"},
            "reasoning": {"summary": "auto"},
        }
    }


@pytest.mark.parametrize(
    ("effort", "meant"), [("none", "none"), ("xhigh", "xhigh"), ("max", "xhigh"), (None, None)]
)
def test_an_effort_is_read(effort: str | None, meant: str | None) -> None:
    assert read(reasoning={"effort": effort}).request.effort == meant


def test_numbers_and_flags_are_read_and_told_again() -> None:
    asked = read(
        max_output_tokens=50,
        temperature=0,
        top_p=0.5,
        parallel_tool_calls=False,
        metadata={"a": "b"},
    )
    request = asked.request
    assert (request.max_tokens, request.temperature, request.top_p) == (50, 0, 0.5)
    assert request.parallel_calls is False
    told = asked.told
    assert (told["max_output_tokens"], told["temperature"], told["top_p"]) == (50, 0, 0.5)
    assert told["parallel_tool_calls"] is False
    assert told["metadata"] == {"a": "b"}


@pytest.mark.parametrize("name", ["prompt_cache_key", "safety_identifier", "user"])
def test_what_says_which_calls_belong_together_is_the_conversation(name: str) -> None:
    assert read(**{name: "k7"}).conversation == "k7"


def test_a_cache_key_goes_to_endpoints_that_know_it() -> None:
    asked = read(prompt_cache_key="k7", user="u")
    assert asked.conversation == "k7"
    assert asked.request.own == {"openai_responses": {"prompt_cache_key": "k7"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"store": True},
        {"store": False},
        {"background": False},
        {"truncation": "auto"},
        {"include": ["reasoning.encrypted_content"]},
        {"previous_response_id": None, "conversation": None, "tools": None, "text": None},
        {"service_tier": "auto", "top_logprobs": 3, "max_tool_calls": 4},
        {"stream_options": {"include_obfuscation": False}, "never_heard_of": [{}]},
    ],
)
def test_what_changes_nothing_here_is_accepted(fields: JsonObject) -> None:
    asked = read(**fields)
    assert asked.request.messages == (said("user", Text(text="Hi")),)
    assert asked.told["store"] is False  # as nothing is kept without a shelf


CALL: JsonObject = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
WRONG: list[tuple[JsonObject, str, str]] = [
    ({"conversation": {"id": "conv_1"}}, "not_kept", "conversation"),
    ({"prompt": {"id": "pmpt_1"}}, "not_kept", "prompt"),
    ({"background": True}, "background_reply", "background"),
    ({"store": "yes"}, "field_wrong", "store"),
    ({"truncation": "middle"}, "field_wrong", "truncation"),
    ({"metadata": 7}, "field_wrong", "metadata"),
    ({"model": 7}, "field_wrong", "model"),
    ({"input": None}, "field_missing", "input"),
    ({"input": 7}, "field_wrong", "input"),
    ({"input": ["Hi"]}, "field_wrong", "input[0]"),
    ({"input": [{}]}, "field_missing", "input[0].type"),
    ({"input": [{"type": "web_search_call"}]}, "field_wrong", "input[0].type"),
    ({"input": [{"role": "tool", "content": "a"}]}, "field_wrong", "input[0].role"),
    ({"input": [{"role": "user"}]}, "field_missing", "input[0].content"),
    ({"input": [{"role": "user", "content": 7}]}, "field_wrong", "input[0].content"),
    ({"input": [CALL | {"call_id": None}]}, "field_missing", "input[0].call_id"),
    ({"input": [CALL | {"name": ""}]}, "field_wrong", "input[0].name"),
    ({"input": [CALL | {"arguments": 7}]}, "field_wrong", "input[0].arguments"),
    (
        {"input": [{"type": "function_call_output", "call_id": "c"}]},
        "field_missing",
        "input[0].output",
    ),
    ({"input": [{"type": "reasoning", "summary": "a"}]}, "field_wrong", "input[0].summary"),
    ({"tools": {}}, "field_wrong", "tools"),
    ({"tools": [{"type": "web_search"}]}, "tool_kind", "tools[0].type"),
    ({"tools": [WEATHER, {"type": "file_search"}]}, "tool_kind", "tools[1].type"),
    ({"tools": [{"type": "function"}]}, "field_missing", "tools[0].name"),
    ({"tools": [WEATHER | {"parameters": 1}]}, "field_wrong", "tools[0].parameters"),
    ({"tool_choice": "any"}, "field_wrong", "tool_choice"),
    ({"tool_choice": {"type": "web_search"}}, "tool_kind", "tool_choice.type"),
    ({"tool_choice": {"type": "function", "name": "f"}}, "field_wrong", "tool_choice.name"),
    (
        {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [TIME]}},
        "field_wrong",
        "tool_choice.tools[0].name",
    ),
    ({"text": {"format": {}}}, "field_missing", "text.format.type"),
    ({"text": {"format": {"type": "xml"}}}, "field_wrong", "text.format.type"),
    ({"text": {"format": {"type": "json_schema"}}}, "field_missing", "text.format.schema"),
    ({"text": {"verbosity": "loud"}}, "field_wrong", "text.verbosity"),
    ({"reasoning": {"effort": "some"}}, "field_wrong", "reasoning.effort"),
    ({"reasoning": {"summary": "none"}}, "field_wrong", "reasoning.summary"),
    ({"max_output_tokens": 0}, "field_wrong", "max_output_tokens"),
    ({"temperature": 3}, "field_wrong", "temperature"),
    ({"top_p": -1}, "field_wrong", "top_p"),
    ({"stream": "no"}, "field_wrong", "stream"),
    ({"user": 7}, "field_wrong", "user"),
]


@pytest.mark.parametrize(("fields", "code", "field"), WRONG, ids=str)
def test_what_is_wrong_or_cannot_be_is_named(fields: JsonObject, code: str, field: str) -> None:
    with pytest.raises(Invalid) as error:
        read(**fields)
    assert (error.value.code, error.value.values["field"]) == (code, field)
    assert field in str(error.value)


PARTS: list[tuple[JsonObject, str, str]] = [
    ({"type": "input_text"}, "field_missing", "text"),
    ({"type": "video"}, "field_wrong", "type"),
    ({"type": "input_image", "file_id": "file_1"}, "file_elsewhere", "file_id"),
    ({"type": "input_image"}, "field_missing", "image_url"),
    ({"type": "input_image", "image_url": "/etc/passwd"}, "media_address", "image_url"),
    ({"type": "input_image", "image_url": "f_1"}, "media_address", "image_url"),
    ({"type": "input_file", "file_id": "file_1"}, "file_elsewhere", "file_id"),
    ({"type": "input_file", "file_data": "data:a/b;base64,!"}, "media_base64", "file_data"),
    ({"type": "input_file"}, "field_missing", "file_data"),
]


@pytest.mark.parametrize(("part", "code", "field"), PARTS, ids=str)
def test_a_wrong_part_is_named_by_its_place(part: JsonObject, code: str, field: str) -> None:
    with pytest.raises(Invalid) as error:
        messages({"role": "user", "content": "a"}, {"role": "user", "content": [part]})
    assert error.value.code == code
    assert error.value.values["field"] == f"input[1].content[0].{field}"


def test_a_picture_in_a_reply_is_refused() -> None:
    picture = {"type": "input_image", "image_url": PNG_URL}
    with pytest.raises(Invalid, match=r"input\[0\].content\[0\].type"):
        messages({"role": "assistant", "content": [picture]})


WORDS = (
    *("message", "function_call", "function_call_output", "reasoning", "item_reference", "user"),
    *(
        "assistant",
        "function",
        "allowed_tools",
        "json_schema",
        "input_image",
        "input_file",
        "th1.e30=",
    ),
)
NAMES = (
    *("input", "tools", "tool_choice", "text", "format", "reasoning", "type", "role", "content"),
    *("summary", "encrypted_content", "output", "call_id", "name", "arguments", "parameters"),
    *("image_url", "file_data", "schema", "id", "instructions", "store", "metadata", "user"),
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), values))
def test_whatever_comes_is_read_or_named(fields: JsonObject) -> None:
    with contextlib.suppress(Invalid):
        read(**fields)


# replies

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
sealed = st.none() | st.just(SEALED) | st.builds(lambda text: {"given": {"s": text}}, texts)
arguments = st.dictionaries(
    texts, st.none() | st.integers(-9, 1 << 70) | st.lists(texts, max_size=2)
)
names = st.from_regex(r"[a-z_]{1,9}", fullmatch=True)


@st.composite
def replies(draw: st.DrawFn) -> list[StreamEvent]:
    """A reply as wires give it: parts that stream or come whole, calls at the end, late seals."""
    events: list[StreamEvent] = []
    thoughts: list[PartDone] = []
    index = 0
    for kind in draw(st.lists(st.sampled_from(("text", "thinking")), max_size=4)):
        pieces = draw(st.lists(texts, max_size=4))
        events += [PartDelta(index=index, kind=kind, delta=piece) for piece in pieces]
        whole = "".join(pieces) + draw(texts)  # more than was told of it
        if kind == "text":
            events.append(PartDone(index=index, part=Text(text=whole)))
        else:
            part = Thinking(text=whole, opaque=draw(sealed))
            thoughts.append(PartDone(index=index, part=part))
            events.append(thoughts[-1])
        index += 1
    for thought in thoughts[:1]:
        if draw(st.booleans()):
            part = Thinking(text=thought.part.text, opaque=SEALED)  # type: ignore[union-attr]
            events.append(PartDone(index=thought.index, part=part))
    for number in range(draw(st.integers(0, 3))):
        events.append(PartDelta(index=index, kind="tool_call", delta=draw(texts)))
        malformed = draw(st.none() | st.just("{broken"))
        given = draw(arguments) if malformed is None else {}
        call = ToolCall(
            id=f"call_{number}",
            name=draw(names),
            arguments=given,
            malformed=malformed,
            opaque=draw(sealed),
        )
        events.append(PartDone(index=index, part=call))
        index += 1
    reasons: tuple[Reason, ...] = ("stop", "length", "tool_calls", "content_filter")
    counts = st.integers(0, 1 << 40)
    usage = Usage(input=draw(counts), output=draw(counts), cached=draw(counts))
    usage = replace(usage, written=draw(counts), reasoning=draw(counts))
    return [*events, ReplyDone(reason=draw(st.sampled_from(reasons)), usage=usage)]


def in_batches(events: list[StreamEvent], size: int) -> list[list[StreamEvent]]:
    return [events[start : start + size] for start in range(0, len(events), size)]


def as_told(call: ToolCall) -> tuple[str, str, str, JsonObject | str]:
    arguments = call.arguments if call.malformed is None else call.malformed
    return "function_call", call.id, call.name, arguments


def agrees(response: Response, events: list[StreamEvent]) -> None:
    """The response says what the events mean, and given back it is the same message."""
    message, done = fold(events), events[-1]
    assert isinstance(done, ReplyDone)
    assert response.output_text == message.text
    thoughts = [item for item in response.output if item.type == "reasoning"]
    thinking = [part.text for part in message.parts if isinstance(part, Thinking)]
    assert [item.summary[0].text for item in thoughts if item.summary] == list(
        filter(None, thinking)
    )
    calls = [item for item in response.output if item.type == "function_call"]
    assert [(item.call_id, item.name) for item in calls] == [
        (call.id, call.name) for call in message.tool_calls
    ]
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(done.reason)
    assert response.status == ("incomplete" if cut else "completed")
    assert (response.incomplete_details.reason if response.incomplete_details else None) == cut
    assert response.usage is not None
    assert response.usage.input_tokens == done.usage.input
    assert response.usage.input_tokens_details.cached_tokens == done.usage.cached
    assert response.usage.input_tokens_details.cache_write_tokens == done.usage.written
    assert response.usage.output_tokens_details.reasoning_tokens == done.usage.reasoning
    assert response.usage.output_tokens == done.usage.output
    assert response.usage.total_tokens == done.usage.input + done.usage.output
    assert given_back(response) == ((plain(message),) if message.parts else ())


def plain(message: Message) -> Message:
    """What no vendor takes (numbers beyond 64 bits, NUL) is told as `llm.repair` has it."""
    return Message(role=message.role, parts=tuple(map(_plain, message.parts)))


def _plain(part: Part) -> Part:
    if not isinstance(part, ToolCall):
        return part
    malformed = part.malformed.strip() if part.malformed else None
    return replace(part, arguments=plain_object(part.arguments), malformed=malformed)


@settings(deadline=None)
@given(replies(), st.integers(1, 5))
def test_the_sdk_reads_a_stream_as_the_events_mean_it(events: list[StreamEvent], size: int) -> None:
    response, told = streamed(in_batches(events, size))
    agrees(response, events)
    spoken = "".join(e.delta for e in told if e.type == "response.output_text.delta")
    assert spoken == fold(events).text
    items = [e.item for e in told if e.type == "response.output_item.done"]
    assert messages(*(item.to_dict() for item in items)) == given_back(response)


@settings(deadline=None)
@given(replies())
def test_the_sdk_reads_a_reply_in_one_piece_as_the_events_mean_it(
    events: list[StreamEvent],
) -> None:
    response = client(lambda voice: voice.whole(events)).responses.create(model="m/x", input="Hi")
    agrees(response, events)
    Response.model_validate(response.model_dump(mode="json", exclude_none=True))


@settings(deadline=None)
@given(side_by_side())
def test_no_part_of_those_that_come_side_by_side_is_lost(told: Told) -> None:
    """A call stands where it was whole, which may be after a part that began later."""
    response, _ = streamed(told.batches)
    message = fold(told.events)
    assert response.output_text == message.text
    back = [part for message in given_back(response) for part in message.parts]
    assert sorted(map(repr, back)) == sorted(map(repr, plain(message).parts))


def test_a_stream_has_each_event_that_clients_wait_for_in_its_place() -> None:
    call = ToolCall(id="call_7", name="weather", arguments={"city": "台北"}, opaque=SEALED)
    told = voice()
    stream = told.begin() + told.tell(
        [
            PartDelta(index=0, kind="thinking", delta="Hm"),
            PartDone(index=0, part=Thinking(text="Hm", opaque=SEALED)),
            PartDelta(index=1, kind="text", delta="Hel"),
            PartDelta(index=1, kind="text", delta="lo"),
            PartDone(index=1, part=Text(text="Hello")),
            PartDelta(index=2, kind="tool_call", delta='{"ci'),
            PartDone(index=2, part=call),
            ReplyDone(reason="tool_calls"),
        ]
    )
    events = frames(stream)
    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    output = events[-1]["response"]["output"]
    assert [item["id"].partition("_")[0] for item in output] == ["rs", "msg", "rs", "fc"]
    assert output[3]["call_id"] == "call_7"
    assert events[0]["response"]["usage"] is None
    for event in events[2:-1]:
        identity = event.get("item_id") or event["item"]["id"]
        assert output[event["output_index"]]["id"] == identity


def test_a_call_gets_its_seal_back_from_a_client_that_gives_back_no_ids() -> None:
    call = ToolCall(id="call_7", name="time", arguments={}, opaque=SEALED)
    events: list[StreamEvent] = [PartDone(index=0, part=call), ReplyDone(reason="tool_calls")]
    output = json.loads(voice().whole(events))["output"]
    bare = [{name: item[name] for name in item if name not in {"id", "status"}} for item in output]
    assert messages(*bare) == (said("assistant", call),)


def test_a_seal_whose_thought_was_dropped_stands_for_itself() -> None:
    told = voice()
    told.tell([PartDone(index=0, part=Thinking(text="Hm"))])
    late = frames(told.tell([PartDone(index=0, part=Thinking(text="Hm", opaque=SEALED))]))
    assert messages(late[-1]["item"]) == (said("assistant", Thinking(text="", opaque=SEALED)),)


@pytest.mark.parametrize(
    "seal", ['{"opaque":{}}', '{"opaque":{},"thought":[1]}', '{"call":1}', "[]"]
)
def test_a_seal_that_nobody_here_made_breaks_nothing(seal: str) -> None:
    forged = "th1." + base64.urlsafe_b64encode(seal.encode()).decode()
    item = {"type": "reasoning", "summary": [], "encrypted_content": forged}
    assert read(input=[item, {"role": "user", "content": "Hi"}]).request.messages[-1].text == "Hi"


def test_what_was_open_at_the_end_is_closed_and_marked() -> None:
    response, _ = streamed(
        [[PartDelta(index=0, kind="text", delta="Hel")], [ReplyDone(reason="length")]]
    )
    (item,) = response.output
    assert item.type == "message"
    assert item.status == "incomplete"
    assert response.output_text == "Hel"


def test_a_text_that_became_another_ends_as_what_it_is() -> None:
    events: list[StreamEvent] = [
        PartDelta(index=0, kind="text", delta="damn"),
        PartDone(index=0, part=Text(text="****")),
        ReplyDone(reason="stop"),
    ]
    response, _ = streamed([events])
    assert response.output_text == "****"


def test_no_reader_takes_a_character_of_the_text_for_the_end_of_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\ne\r\nf"
    told = voice(instructions=text)
    stream = told.begin() + told.tell([PartDelta(index=0, kind="text", delta=text)])
    assert len(stream.decode().splitlines()) == stream.count(b"\n")
    assert frames(stream)[-1]["delta"] == text


def test_signs_of_life_are_comments_and_bear_no_number() -> None:
    told = voice()
    assert told.beat().startswith(b":")
    assert told.beat().endswith(b"\n\n")
    assert frames(told.begin())[0]["sequence_number"] == 0


def test_deltas_of_calls_say_nothing_until_the_call_is_whole() -> None:
    assert voice().tell([PartDelta(index=0, kind="tool_call", delta="{")]) == b""


QUOTA = Refusal(status=429, kind="quota", code="provider_quota", message="No money left.")


def test_the_sdk_raises_the_error_of_a_stream() -> None:
    def answer(voice: ResponsesVoice) -> bytes:
        delta = PartDelta(index=0, kind="text", delta="Hel")
        return voice.begin() + voice.tell([delta]) + voice.fail(QUOTA)

    seen: list[str] = []
    with (
        pytest.raises(openai.APIError, match=r"No money left\.") as error,
        client(answer).responses.stream(model="m/x", input="Hi") as stream,
    ):
        seen += [event.type for event in stream]
    assert error.value.code == "insufficient_quota"


def test_an_error_is_told_flat_and_nested_and_with_the_response_that_failed() -> None:
    told = voice()
    stream = told.tell([PartDelta(index=0, kind="text", delta="Hel")]) + told.fail(QUOTA)
    error, failed = frames(stream)[-2:]
    flat = ResponseErrorEvent.model_validate({k: v for k, v in error.items() if k != "error"})
    assert (flat.code, flat.message) == ("insufficient_quota", "No money left.")
    assert error["error"]["message"] == "No money left."
    response = failed["response"]
    assert failed["type"] == "response.failed"
    assert (response["status"], response["error"]["message"]) == ("failed", "No money left.")
    assert response["output"][0]["content"][0]["text"] == "Hel"
    assert response["output"][0]["status"] == "incomplete"


def test_an_answer_that_is_an_error_is_one_as_openai_writes_them() -> None:
    error = json.loads(DIALECT.refuse(QUOTA))["error"]
    assert (error["code"], error["message"]) == ("insufficient_quota", "No money left.")


def test_a_response_repeats_what_was_asked_and_when() -> None:
    class Noon:
        def now(self) -> datetime:
            return datetime(2026, 1, 1, 12, tzinfo=UTC)

        def monotonic(self) -> float:
            return 0

    asked = read(instructions="Be brief.", tools=[WEATHER], temperature=0.5)
    told = json.loads(OpenAIResponses(Noon()).voice(asked, "house").whole([]))
    response = Response.model_validate({k: v for k, v in told.items() if v is not None})
    assert (response.model, response.created_at) == ("house", 1767268800)
    assert (response.instructions, response.temperature) == ("Be brief.", 0.5)
    assert response.tools[0].type == "function"
    assert response.object == "response"


def test_a_stream_can_be_bound_to_a_form_and_read_in_it() -> None:
    class Answer(BaseModel):
        number: int

    def answer(voice: ResponsesVoice) -> bytes:
        part = PartDone(index=0, part=Text(text='{"number": 7}'))
        return voice.begin() + voice.tell([part, ReplyDone(reason="stop")])

    sdk = client(answer)
    with sdk.responses.stream(model="m/x", input="Hi", text_format=Answer) as stream:
        assert stream.get_final_response().output_parsed == Answer(number=7)
