"""OpenAI's chat dialect, judged by OpenAI's own client: what it reads is what was said."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from teahouse.core.errors import Invalid
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from teahouse.llm.provider import OneTool
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.openai.chat import OpenAIChat

ASK: JsonObject = {"model": "m/x", "messages": [{"role": "user", "content": "hi"}]}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("now", "find")
]
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


class StoppedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 2, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


DIALECT = OpenAIChat(StoppedClock())


def read(**fields: Any) -> Asked:
    return DIALECT.read(json.dumps(ASK | fields).encode())


def read_messages(*messages: JsonObject) -> tuple[Message, ...]:
    return read(messages=list(messages)).request.messages


# What comes in ------------------------------------------------------------------------------------


def test_a_plain_request_asks_for_nothing_that_it_does_not_say() -> None:
    asked = read()
    assert asked.model == "m/x"
    assert (asked.stream, asked.counts, asked.conversation) == (False, False, None)
    assert asked.request.messages == (Message(role="user", parts=(Text(text="hi"),)),)
    assert asked.request.own == {}
    assert asked.request.tool_choice is None


def test_the_settings_of_a_request_become_ours() -> None:
    request = read(
        max_tokens=5,
        max_completion_tokens=7,
        temperature=0,
        top_p=0.5,
        stop="end",
        seed=3,
        reasoning_effort="high",
        parallel_tool_calls=False,
        tools=TOOLS,
        frequency_penalty=0.5,
        logit_bias={"1": 2},
        nobody_knows=[1],
    ).request
    assert (request.max_tokens, request.temperature, request.top_p) == (7, 0.0, 0.5)
    assert (request.stop, request.seed, request.effort) == (("end",), 3, "high")
    assert request.parallel_calls is False
    assert [tool.name for tool in request.tools] == ["now", "find"]
    assert request.own == {"openai_chat": {"frequency_penalty": 0.5, "logit_bias": {"1": 2}}}


@pytest.mark.parametrize(
    ("given", "choice", "left"),
    [
        ("auto", "auto", 2),
        ("none", "none", 2),
        ("required", "required", 2),
        ({"type": "function", "function": {"name": "find"}}, OneTool(name="find"), 2),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "find"}}],
                },
            },
            "required",
            1,
        ),
    ],
)
def test_every_form_of_a_tool_choice_is_understood(given: Any, choice: Any, left: int) -> None:
    request = read(tools=TOOLS, tool_choice=given).request
    assert request.tool_choice == choice
    assert len(request.tools) == left


def test_a_schema_is_asked_for_and_bare_json_in_each_dialect_that_has_it() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    assert read(response_format=form).request.schema == schema
    assert read(response_format={"type": "text"}).request.own == {}
    request = read(response_format={"type": "json_object"}, verbosity="low").request
    assert request.schema is None
    assert request.own["openai_chat"] == {
        "response_format": {"type": "json_object"},
        "verbosity": "low",
    }
    assert request.own["ollama"] == {"format": "json"}
    assert "openai_chat" not in read(verbosity=None).request.own


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [{"content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "video"}]}]},
            "messages[0].content[0].type",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}
                ]
            },
            "messages[0].content[0].file.file_id",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": "f_1"}}],
                    }
                ]
            },
            "messages[0].content[0].image_url.url",
        ),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id"),
        ({"n": 2}, "n"),
        ({"temperature": 2.5}, "temperature"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"stop": [1]}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"reasoning_effort": "heroic"}, "reasoning_effort"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"functions": [{"name": "x"}]}, "functions"),
        ({"tools": [{"type": "custom", "custom": {}}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": TOOLS, "tool_choice": "any"}, "tool_choice"),
        (
            {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice.function.name",
        ),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
    ],
)
def test_what_cannot_be_understood_is_named_by_its_path(fields: JsonObject, field: str) -> None:
    with pytest.raises(Invalid) as error:
        read(**fields)
    assert error.value.values["field"] == field


def test_messages_of_every_role_and_kind_become_ours() -> None:
    messages = read_messages(
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "AAAA"}},
            ],
        },
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "function_call": {"name": "now", "arguments": "{}"}},
        {"role": "function", "name": "now", "content": "noon"},
    )
    assert [message.role for message in messages] == [
        "system",
        "user",
        "assistant",
        "assistant",
        "tool",
    ]
    text, picture, sound, file = messages[1].parts
    assert text == Text(text="What is this?")
    assert [part.media_type for part in (picture, sound, file) if isinstance(part, Blob)] == [
        "image/png",
        "audio/mpeg",
        "application/pdf",
    ]
    assert messages[2].text == "No."
    call, result = messages[3].parts[0], messages[4].parts[0]
    assert isinstance(call, ToolCall)
    assert result == ToolResult(call=call.id, content=(Text(text="noon"),))


def test_the_bytes_of_pictures_travel_beside_the_messages() -> None:
    content = [{"type": "image_url", "image_url": PNG}]
    request = read(messages=[{"role": "user", "content": content}]).request
    (part,) = request.messages[0].parts
    assert isinstance(part, Blob)
    assert request.media == {part.file: b"\x89PNG\r\n\x1a\n"}


def test_names_are_told_to_the_model_only_where_several_people_speak() -> None:
    ann, bob = (
        {"role": "user", "name": name, "content": f"I am {name}"} for name in ("ann", "bob")
    )
    assert [m.text for m in read_messages(ann, bob)] == ["ann: I am ann", "bob: I am bob"]
    assert [m.text for m in read_messages(ann)] == ["I am ann"]


@pytest.mark.parametrize(
    ("fields", "conversation"),
    [
        ({"user": "u"}, "u"),
        ({"user": "u", "metadata": {"conversation_id": "c"}}, "c"),
        ({"user": "u", "metadata": {"conversation_id": 5}}, "u"),
        ({"prompt_cache_key": "k", "user": "u"}, "k"),
        ({"metadata": "no object"}, None),
    ],
)
def test_calls_that_belong_together_are_known_by_what_the_client_says(
    fields: JsonObject, conversation: str | None
) -> None:
    assert read(**fields).conversation == conversation


# What goes out ------------------------------------------------------------------------------------


class Canned(httpx2.BaseTransport):
    """Answers whatever is asked with what it was given last."""

    answer = (200, "", b"")

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        status, media_type, body = self.answer
        headers = {"content-type": media_type}
        return httpx2.Response(status, content=body, headers=headers, request=request)


CANNED = Canned()
PROGRAM = openai.OpenAI(
    api_key="k",
    base_url="http://teahouse.invalid/v1",
    max_retries=0,
    http_client=httpx2.Client(transport=CANNED, trust_env=False),
)


def client(body: bytes, media_type: str = DIALECT.stream_type, status: int = 200) -> openai.OpenAI:
    CANNED.answer = (status, media_type, body)
    return PROGRAM


def streamed(batches: Sequence[Sequence[StreamEvent]], *, counts: bool = True) -> bytes:
    asked = read(stream=True, stream_options={"include_usage": counts})
    voice = DIALECT.voice(asked, "m/x")
    return voice.begin() + b"".join(voice.beat() + voice.tell(batch) for batch in batches)


def heard(body: bytes) -> ChatCompletion:
    """What the official client makes of a stream."""
    program = client(body)
    with program.chat.completions.stream(model="m/x", messages=[]) as stream:
        stream.until_done()
        return stream.current_completion_snapshot


def heard_whole(events: Sequence[StreamEvent]) -> ChatCompletion:
    body = DIALECT.voice(read(), "m/x").whole(events)
    return client(body, "application/json").chat.completions.create(model="m/x", messages=[])


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"])
    | st.sampled_from("\u2028\u2029\x85\r\n"),
    max_size=12,
)
said = words.filter(bool)
opaques = st.none() | st.dictionaries(said, words, min_size=1, max_size=2)
objects = st.dictionaries(words, st.integers(0, 9) | words | st.none(), max_size=3)
thoughts = st.builds(Thinking, text=said, opaque=opaques)
sealed = st.builds(Thinking, text=st.just(""), opaque=opaques.filter(bool))
calls = st.builds(
    ToolCall,
    id=st.uuids().map(str),
    name=st.sampled_from(["now", "find"]),
    arguments=objects,
    opaque=opaques,
)
malformed = st.builds(
    ToolCall,
    id=st.uuids().map(str),
    name=st.just("now"),
    arguments=st.just({}),
    malformed=st.sampled_from(['{"a":', "[1]", "x"]),
    opaque=st.none(),
)
texts = st.builds(Text, text=said)
replies = st.lists(thoughts | sealed | texts | calls | malformed, max_size=6)
reasons = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])
usages = st.builds(
    Usage,
    input=st.integers(0, 99),
    output=st.integers(0, 99),
    cached=st.just(3),
    reasoning=st.just(2),
)


@st.composite
def streams(
    draw: st.DrawFn, parts: st.SearchStrategy[Sequence[Part]] = replies
) -> list[StreamEvent]:
    """A reply as providers tell it: in pieces, or a part at once; calls may come in between, and
    what a vendor wants back with a thought may come after it."""
    events: list[StreamEvent] = []
    for index, part in enumerate(draw(parts)):
        if isinstance(part, ToolCall):
            events.append(PartDelta(index=index, kind="tool_call", delta="{"))
        elif isinstance(part, Text | Thinking) and draw(st.booleans()):
            kind = "text" if isinstance(part, Text) else "thinking"
            to = draw(st.integers(0, len(part.text)))
            pieces = filter(None, (part.text[: to // 2], part.text[to // 2 : to]))
            events += [PartDelta(index=index, kind=kind, delta=piece) for piece in pieces]
        if isinstance(part, Thinking) and part.opaque and draw(st.booleans()):
            events.append(PartDone(index=index, part=Thinking(text=part.text)))
        events.append(PartDone(index=index, part=part))
    return [*events, ReplyDone(reason=draw(reasons), usage=draw(usages))]


def check(completion: ChatCompletion, events: Sequence[StreamEvent]) -> None:
    message, done = fold(events), events[-1]
    assert isinstance(done, ReplyDone)
    assert completion.usage is not None
    assert completion.usage.prompt_tokens_details is not None
    choice = completion.choices[0]
    assert (choice.message.content or "") == message.text
    assert [(c.id, c.function.name) for c in choice.message.tool_calls or ()] == [  # type: ignore[union-attr]
        (call.id, call.name) for call in message.tool_calls
    ]
    for call, ours in zip(choice.message.tool_calls or (), message.tool_calls, strict=True):
        text: str = call.function.arguments  # type: ignore[union-attr]
        assert text == ours.malformed if ours.malformed else json.loads(text) == ours.arguments
    thought = "".join(part.text for part in message.parts if isinstance(part, Thinking))
    assert getattr(choice.message, "reasoning_content", "") == thought
    assert choice.finish_reason == done.reason
    assert completion.model == "m/x"
    assert completion.object == "chat.completion"
    assert completion.created == 1767312000
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (
        done.usage.input,
        done.usage.output,
    )
    assert completion.usage.prompt_tokens_details.cached_tokens == done.usage.cached
    assert completion.usage.completion_tokens_details.reasoning_tokens == done.usage.reasoning


@given(streams(), st.integers(1, 4))
def test_the_official_client_hears_in_a_stream_what_was_said(
    events: list[StreamEvent], size: int
) -> None:
    batches = [events[at : at + size] for at in range(0, len(events), size)]
    check(heard(streamed(batches)), events)


@given(streams())
def test_the_official_client_hears_a_whole_reply_as_it_was_said(events: list[StreamEvent]) -> None:
    check(heard_whole(events), events)


def speaks_first(parts: Sequence[Part]) -> bool:
    """The dialect has no place for text after a call."""
    kinds = [type(part) for part in parts if isinstance(part, Text | ToolCall)]
    return kinds == sorted(kinds, key=lambda kind: kind is ToolCall)


def joined(parts: Sequence[Part]) -> list[Part]:
    """The same with what follows upon its own kind as one: only marked thoughts stay apart."""
    whole: list[Part] = []
    for part in parts:
        last = whole[-1] if whole else None
        if isinstance(part, Text) and isinstance(last, Text):
            whole[-1] = Text(text=last.text + part.text)
        elif (
            isinstance(part, Thinking)
            and isinstance(last, Thinking)
            and not (part.opaque or last.opaque)
        ):
            whole[-1] = Thinking(text=last.text + part.text)
        else:
            whole.append(part)
    return whole


marked = st.lists(
    st.builds(Thinking, text=words, opaque=opaques.filter(bool)) | texts | calls | malformed,
    max_size=6,
).filter(speaks_first)


@given(streams(marked), st.booleans())
def test_a_reply_that_its_client_gives_back_reads_as_the_same_message(
    events: list[StreamEvent], whole: bool
) -> None:
    told = heard_whole(events) if whole else heard(streamed([events]))
    message = json.loads(told.choices[0].message.model_dump_json(exclude={"parsed"}))
    (back,) = read_messages(message)
    assert list(back.parts) == joined(fold(events).parts)


def test_a_thought_that_a_client_changed_goes_without_what_its_vendor_wants_back() -> None:
    events = [
        PartDone(index=0, part=Thinking(text=" hm", opaque={"origin": "a/b", "given": {"s": 1}})),
        PartDone(index=1, part=Text(text="yes")),
        ReplyDone(reason="stop"),
    ]
    message = json.loads(DIALECT.voice(read(), "m").whole(events))["choices"][0]["message"]
    assert read_messages(message)[0].parts[0] == events[0].part  # type: ignore[union-attr]
    for changed in ({"reasoning_content": "hm"}, {"reasoning_content": None}):
        (back,) = read_messages(message | changed)
        assert not any(isinstance(part, Thinking) and part.opaque for part in back.parts)
        assert back.text == "yes"


def test_details_are_also_found_where_litellm_puts_them() -> None:
    thought = Thinking(text="hm", opaque={"origin": "a/b", "given": {"s": 1}})
    events = [PartDone(index=0, part=thought), ReplyDone(reason="stop")]
    message = json.loads(DIALECT.voice(read(), "m").whole(events))["choices"][0]["message"]
    details = {"reasoning_details": message.pop("reasoning_details")}
    (back,) = read_messages(message | {"provider_specific_fields": details})
    assert back.parts == (thought,)


@given(st.lists(st.dictionaries(st.sampled_from(["type", "data", "index"]), words)))
def test_details_of_other_vendors_are_passed_over(details: list[JsonObject]) -> None:
    message = {"role": "assistant", "content": "a", "reasoning_details": details, "reasoning": "b"}
    assert read_messages(message)[0].parts == (Thinking(text="b"), Text(text="a"))


def test_a_stream_begins_with_the_role_ends_with_done_and_counts_only_when_asked() -> None:
    events = [PartDelta(index=0, kind="text", delta="a"), PartDone(index=0, part=Text(text="a"))]
    body = streamed([events, [ReplyDone(reason="stop")]], counts=False).decode()
    *lines, last = [line for line in body.split("\n\n") if line and not line.startswith(":")]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert last == "data: [DONE]"
    assert [chunk["choices"][0]["delta"] for chunk in chunks] == [
        {"role": "assistant", "content": ""},
        {"content": "a"},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, "stop"]
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks[0]["id"].startswith("chatcmpl-")
    assert not any("usage" in chunk for chunk in chunks)


def test_no_line_of_a_stream_holds_a_break_that_some_readers_see() -> None:
    text = "a\u2028b\u2029c\x85d"
    call = ToolCall(id="1", name="now", arguments={"a": text})
    events = [
        PartDelta(index=0, kind="text", delta=text),
        PartDone(index=0, part=Text(text=text)),
        PartDone(index=1, part=call),
        ReplyDone(reason="stop"),
    ]
    body = streamed([events]).decode()
    assert len(body.splitlines()) == body.count("\n")
    assert heard(body.encode()).choices[0].message.content == text


REFUSAL = Refusal(status=429, kind="quota", code="budget_day", message="The day is spent.")


def test_the_official_client_raises_an_error_in_a_stream() -> None:
    voice = DIALECT.voice(read(stream=True), "m")
    body = voice.begin() + voice.tell([PartDelta(index=0, kind="text", delta="a")])
    body += voice.fail(REFUSAL)
    assert b"[DONE]" not in body
    stream = client(body).chat.completions.create(model="m", messages=[], stream=True)
    with pytest.raises(openai.APIError, match="The day is spent") as error:
        list(stream)
    assert error.value.code == "insufficient_quota"


@pytest.mark.parametrize(
    ("status", "kind", "code", "raised", "told"),
    [
        (429, "quota", "budget_day", openai.RateLimitError, "insufficient_quota"),
        (404, "not_found", "no_such_model", openai.NotFoundError, "model_not_found"),
        (401, "authentication", "key_wrong", openai.AuthenticationError, "invalid_api_key"),
        (
            400,
            "context_too_long",
            "provider_context_too_long",
            openai.BadRequestError,
            "context_length_exceeded",
        ),
        (400, "invalid_request", "field_wrong", openai.BadRequestError, "field_wrong"),
        (503, "overloaded", "provider_overloaded", openai.InternalServerError, None),
    ],
)
def test_the_official_client_raises_each_refusal_as_its_own(
    status: int, kind: str, code: str, raised: type[openai.APIStatusError], told: str | None
) -> None:
    body = DIALECT.refuse(Refusal(status=status, kind=kind, code=code, message="No."))
    program = client(body, "application/json", status)
    with pytest.raises(raised) as error:
        program.chat.completions.create(model="m", messages=[])
    assert error.value.code == (told or code)
    assert error.value.body["reason"] == code  # type: ignore[index]
