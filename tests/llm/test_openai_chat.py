"""The OpenAI chat dialect: bodies that strict endpoints accept, and replies in any cut."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.sse import SseParser
from teahouse.llm.transport import Transport
from teahouse.llm.vendors import VENDORS
from teahouse.llm.wire.openai_chat_body import chat_body
from teahouse.llm.wire.openai_chat_stream import ChatStream
from teahouse.testing.answers import DONE, chunk, json_answer, usage
from teahouse.testing.endpoint import Endpoint
from tests.llm.conversation import call, said

pytestmark = pytest.mark.anyio


async def body(*messages: Message, profile: Profile | None = None, **request: Any) -> JsonObject:
    asked = ModelRequest(model="m", messages=messages, **request)

    async def read(file: str) -> bytes:
        return file.encode()

    return await chat_body(asked, profile or Profile(), origin="acme/m", files=read)


async def messages(*history: Message, profile: Profile | None = None) -> list[JsonObject]:
    return (await body(*history, profile=profile))["messages"]


async def test_a_plain_question_is_plain_json() -> None:
    assert await body(said("system", "be kind"), said("user", "hi")) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "hi"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_options_go_where_the_profile_says() -> None:
    tool = ToolSpec(name="f", description="d", parameters={"type": "object"})
    profile = Profile(max_tokens="max_completion_tokens", temperature=False, include_usage=False)
    options = {"max_tokens": 9, "temperature": 0.5, "extra": {"top_k": 3}}

    plain = await body(said("user", "hi"), tools=(tool,), schema={"type": "object"}, **options)
    quirky = await body(said("user", "hi"), profile=profile, **options)

    assert plain["tools"][0]["function"]["name"] == "f"
    assert plain["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert (plain["max_tokens"], plain["temperature"], plain["top_k"]) == (9, 0.5, 3)
    assert quirky["max_completion_tokens"] == 9
    assert not {"max_tokens", "temperature", "stream_options"} & set(quirky)


@pytest.mark.parametrize(("rule", "content"), [("null", None), ("string", "")])
async def test_a_message_of_calls_alone_has_the_content_the_profile_wants(
    rule: Any, content: object
) -> None:
    found = await messages(said("assistant", call("k")), profile=Profile(empty_content=rule))

    assert found[0]["content"] == content


async def test_empty_messages_are_left_out() -> None:
    found = await messages(said("user", "hi"), said("assistant"), said("assistant", " "))

    assert [m["role"] for m in found] == ["user"]


async def test_pictures_go_as_data_and_other_files_by_name() -> None:
    picture = Blob(file="f_1", media_type="image/png", name="a.png", size=3)
    paper = Blob(file="f_2", media_type="application/pdf", name="b.pdf", size=4)

    (seen,) = await messages(said("user", "look", picture, paper))
    (blind,) = await messages(said("user", "look", picture), profile=Profile(vision=False))

    assert seen["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,Zl8x"}},
        {"type": "text", "text": "[file: b.pdf, application/pdf, 4 bytes]"},
    ]
    assert blind["content"] == "look[file: a.png, image/png, 3 bytes]"


def thought(origin: str) -> Thinking:
    return Thinking(text="hm", opaque={"origin": origin, "given": {"field": "reasoning_content"}})


@pytest.mark.parametrize(
    ("profile", "with_call", "without"),
    [
        (Profile(), {"reasoning_content": "hm"}, {}),
        (Profile(reasoning_back="never"), {}, {}),
        (
            Profile(reasoning_back="always"),
            {"reasoning_content": "hm"},
            {"reasoning_content": "hm"},
        ),
        (Profile(reasoning_field="reasoning"), {"reasoning": "hm"}, {}),
    ],
)
async def test_thoughts_go_back_when_and_as_the_profile_says(
    profile: Profile, with_call: JsonObject, without: JsonObject
) -> None:
    history = (
        said("assistant", thought("acme/m"), "a", call("k")),
        said("assistant", thought("acme/m"), "b"),
    )
    first, second = await messages(*history, profile=profile)

    names = {"reasoning", "reasoning_content"}
    assert {name: first[name] for name in names & set(first)} == with_call
    assert {name: second[name] for name in names & set(second)} == without


async def test_what_one_vendor_gave_goes_to_no_other() -> None:
    signed = ToolCall(
        id="k",
        name="f",
        arguments={},
        opaque={"origin": "other/m", "given": {"extra_content": {"google": {"s": "1"}}}},
    )

    (found,) = await messages(said("assistant", thought("other/m"), signed))

    assert set(found) == {"role", "content", "tool_calls"}
    assert set(found["tool_calls"][0]) == {"id", "type", "function"}


STREAM = b"".join(
    [
        b": hi\r\n\r\n",
        chunk({"role": "assistant", "reasoning_content": "<思考>"}),
        chunk({"content": "你好"}),
        chunk({"content": " 🦀"}).replace(b"\n\n", b"\r\n\r\n"),
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"茶": "'}}]}),
        chunk({"content": "!"}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '绿"}'}}]}),
        chunk({}, "tool_calls"),
        usage(7, 3),
        DONE,
    ]
)


def translate(pieces: list[bytes]) -> list[StreamEvent]:
    parser = SseParser()
    reply = ChatStream("acme", "m", Profile(), input_estimate=1)
    events: list[StreamEvent] = []
    for piece in pieces:
        for event in parser.feed(piece):
            reply.feed(event)
        events += reply.take()
    reply.end()
    return events + reply.take()


@given(cuts=st.sets(st.integers(1, len(STREAM) - 1), max_size=30))
def test_any_cut_of_a_stream_folds_to_the_same_reply(cuts: set[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    events = translate([STREAM[a:b] for a, b in itertools.pairwise(places)])
    text = "".join(e.delta for e in events if isinstance(e, PartDelta) and e.kind == "text")

    assert fold(events) == fold(translate([STREAM]))
    assert fold(events).text == text == "你好 🦀!"
    assert fold(events).tool_calls[0].arguments == {"茶": "绿"}
    assert isinstance(events[-1], ReplyDone)


def test_what_comes_with_one_read_is_one_delta() -> None:
    deltas = [e for e in translate([STREAM]) if isinstance(e, PartDelta) and e.kind == "text"]

    assert [e.delta for e in deltas] == ["你好 🦀", "!"]


async def test_every_request_bears_the_key_the_owners_headers_and_json() -> None:
    async with Transport() as transport, Endpoint() as endpoint:
        settings = ProviderSettings(base_url=endpoint.base_url + "/", headers={"X-Title": "t"})
        provider = build_provider("acme", settings, "sk-1", transport)
        async for _ in provider.stream(ModelRequest(model="m", messages=(said("user", "\ud83e"),))):
            pass

    (recorded,) = endpoint.requests
    assert recorded.path == "/v1/chat/completions"
    assert recorded.headers["authorization"] == "Bearer sk-1"
    assert recorded.headers["x-title"] == "t"
    assert recorded.body["messages"][0]["content"] == "\ufffd", "half characters are no JSON"


@pytest.mark.parametrize("written", ["", "/", "/openai/v1/"])
async def test_azure_is_found_behind_its_host_and_told_the_key_its_own_way(written: str) -> None:
    async with Transport() as transport, Endpoint() as endpoint:
        host = endpoint.base_url.removesuffix("/v1")
        settings = ProviderSettings(vendor="azure", base_url=host + written)
        provider = build_provider("azure", settings, "k1", transport)
        async for _ in provider.stream(ModelRequest(model="mine", messages=(said("user", "hi"),))):
            pass

    (recorded,) = endpoint.requests
    assert recorded.path == "/openai/v1/chat/completions"
    assert (recorded.headers["api-key"], recorded.body["model"]) == ("k1", "mine")
    assert "authorization" not in recorded.headers


async def test_without_a_key_none_is_sent() -> None:
    async with Transport() as transport, Endpoint() as endpoint:
        provider = build_provider(
            "acme", ProviderSettings(base_url=endpoint.base_url), None, transport
        )
        await provider.models()

    assert "authorization" not in endpoint.requests[0].headers


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"data": [{"id": "a", "context_window": 8}]}, [("a", 8, None)]),
        (
            {"data": [{"id": "a", "architecture": {"input_modalities": ["text", "image"]}}]},
            [("a", None, True)],
        ),
        ({"data": [{"id": "a", "capabilities": {"vision": False}}]}, [("a", None, False)]),
        ({"models": [{"name": "a", "max_model_len": 4}]}, [("a", 4, None)]),
        ([{"id": "a"}], [("a", None, None)]),
        ({"data": None}, []),
    ],
)
async def test_model_lists_of_every_shape_are_read(told: object, found: list[object]) -> None:
    async with Transport() as transport, Endpoint(models=json_answer(told)) as endpoint:
        provider = build_provider(
            "acme", ProviderSettings(base_url=endpoint.base_url), None, transport
        )
        listed = await provider.models()

    assert [(m.id, m.context_window, m.vision) for m in listed] == found


@pytest.mark.parametrize(
    "details",
    [
        {
            "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        {"prompt_cache_hit_tokens": 64, "cache_write_tokens": 30, "reasoning_tokens": 5},
    ],
)
def test_what_was_cached_and_thought_is_part_of_the_counts(details: JsonObject) -> None:
    counts = {"prompt_tokens": 100, "completion_tokens": 7, **details}

    done = translate([chunk({"content": "ok"}, "stop"), chunk(None, usage=counts), DONE])[-1]

    assert isinstance(done, ReplyDone)
    assert done.usage == Usage(input=100, output=7, cached=64, written=30, reasoning=5)


def test_a_thought_bears_what_its_vendor_wants_back_as_soon_as_it_ends() -> None:
    events = translate([chunk({"reasoning_content": "hm"}), chunk({"content": "ok"}, "stop"), DONE])

    done = [event for event in events if isinstance(event, PartDone)]
    assert [event.part for event in done] == [thought("acme/m"), Text(text="ok")]


def test_what_comes_after_the_end_of_a_thought_is_still_given_back_with_it() -> None:
    part: JsonObject = {"type": "reasoning.encrypted", "data": "s", "index": 0}
    late = chunk({"content": "ok", "reasoning_details": [part]}, "stop")

    events = translate([chunk({"reasoning": "hm"}), chunk({"content": "so "}), late, DONE])

    (found, _) = fold(events).parts
    assert isinstance(found, Thinking)
    assert found.opaque is not None
    assert found.opaque["given"] == {"field": "reasoning", "details": [part]}


@pytest.mark.parametrize(
    ("vendor", "total", "output"),
    [
        ("xai", 135, 103),
        ("xai", None, 103),
        ("xai", 41, 9),  # then they are among them already
        ("openai", 135, 9),
    ],
)
def test_thoughts_that_are_counted_apart_are_added_to_the_output(
    vendor: str, total: int | None, output: int
) -> None:
    counts = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": total}
    counts |= {"completion_tokens_details": {"reasoning_tokens": 94}}
    stream = ChatStream("acme", "m", VENDORS[vendor].profile, input_estimate=1)
    parser = SseParser()
    for data in (chunk({"content": "ok"}, "stop"), chunk(None, usage=counts), DONE):
        for event in parser.feed(data):
            stream.feed(event)
    stream.end()

    assert stream.take()[-1].usage == Usage(input=32, output=output, reasoning=94)
