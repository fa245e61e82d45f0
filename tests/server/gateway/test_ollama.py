"""Ollama's interface at the front: requests in, lines out, and what is said of the models."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from teahouse.core.errors import Invalid
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Blob, Message, Part, Text, Thinking, ToolCall, ToolResult, Usage
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.ollama import chat as ollama
from teahouse.server.gateway.ollama import models
from teahouse.server.gateway.ollama.voice import OllamaVoice
from teahouse.server.ports import ModelEntry
from teahouse.testing.clock import FakeClock
from tests.server.gateway.replies import Told, replies

PNG = b"\x89PNG\r\n\x1a\n....."
PNG_64 = base64.b64encode(PNG).decode()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "weather", "description": "Tell it.", "parameters": SCHEMA}
WEATHER = ToolSpec(name="weather", description="Tell it.", parameters=SCHEMA)
HI = {"role": "user", "content": "hi"}
BUSY = Refusal(status=503, kind="overloaded", code="c", message="Busy.")
AT = datetime(2026, 1, 2, tzinfo=UTC)


def asked(**fields: Any) -> Asked:
    return ollama.Chat().read(json.dumps({"model": "v/m", "messages": [HI], **fields}).encode())


def request(**fields: Any) -> ModelRequest:
    return asked(**fields).request


def generated(**fields: Any) -> Asked:
    return ollama.Generate().read(json.dumps({"model": "v/m", "prompt": "hi", **fields}).encode())


def voice(*, chats: bool = True) -> OllamaVoice:
    return OllamaVoice("v/m", FakeClock(tick_s=0), chats=chats)


def lines_of(stream: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.decode().splitlines()]


def test_the_least_request_streams() -> None:
    assert asked() == Asked(
        model="v/m",
        stream=True,
        request=ModelRequest(model="", messages=(Message(role="user", parts=(Text(text="hi"),)),)),
    )
    assert not asked(stream=False).stream


_RIGHT: list[tuple[dict[str, Any], str, object]] = [
    ({"options": {"temperature": 0}}, "temperature", 0.0),
    ({"options": {"top_p": 0.5}}, "top_p", 0.5),
    ({"options": {"seed": 7}}, "seed", 7),
    ({"options": {"stop": "a"}}, "stop", ("a",)),
    ({"options": {"stop": ["a", "b"]}}, "stop", ("a", "b")),
    ({"options": {"num_predict": 9}}, "max_tokens", 9),
    ({"options": {"num_predict": -1}}, "max_tokens", None),
    ({"options": {"num_predict": -2}}, "max_tokens", None),
    ({"options": {"num_ctx": 99, "seed": 1}}, "own", {"ollama": {"options": {"num_ctx": 99}}}),
    ({"options": {}}, "own", {}),
    ({"think": True}, "effort", "medium"),
    ({"think": False}, "effort", "none"),
    ({"think": "high"}, "effort", "high"),
    ({"think": "max"}, "effort", "xhigh"),
    ({"think": None}, "effort", None),
    ({"format": SCHEMA}, "schema", SCHEMA),
    ({"format": "json"}, "schema", None),
    ({"format": ""}, "own", {}),
    ({"tools": [{"type": "function", "function": FUNCTION}]}, "tools", (WEATHER,)),
    ({"tools": None}, "tools", ()),
    ({"keep_alive": "5m", "logprobs": True, "unknown": 1}, "own", {}),
    ({"messages": []}, "messages", ()),
]


@pytest.mark.parametrize(("fields", "name", "value"), _RIGHT)
def test_a_field_comes_to_what_it_means(fields: dict[str, Any], name: str, value: object) -> None:
    assert getattr(request(**fields), name) == value


def test_json_without_a_schema_is_asked_of_each_vendor_in_its_own_words() -> None:
    own = request(format="json", options={"num_ctx": 9}).own
    assert own["ollama"] == {"format": "json", "options": {"num_ctx": 9}}
    assert own["openai_chat"] == {"response_format": {"type": "json_object"}}
    assert "options" not in request(format="json").own["ollama"]  # of the next request


@pytest.mark.parametrize("data", [PNG_64, f"data:image/png;base64,{PNG_64}"])
def test_pictures_come_with_their_bytes(data: str) -> None:
    told = request(messages=[HI | {"images": [data]}])
    text, picture = told.messages[0].parts
    assert text == Text(text="hi")
    assert isinstance(picture, Blob)
    assert picture.media_type == "image/png"
    assert told.media == {picture.file: PNG}


def calls(*names: str) -> dict[str, Any]:
    told = [{"function": {"name": name, "arguments": {"a": 1}}} for name in names]
    return {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": told}


def results(*messages: Message) -> list[Part]:
    return [part for message in messages if message.role == "tool" for part in message.parts]


def test_calls_without_ids_get_some() -> None:
    (message,) = request(messages=[calls("f", "g")]).messages
    assert message.parts == (
        Thinking(text="hm"),
        ToolCall(id="call_1", name="f", arguments={"a": 1}),
        ToolCall(id="call_2", name="g", arguments={"a": 1}),
    )


_RESULTS: list[tuple[list[dict[str, Any]], list[str]]] = [
    ([{"tool_name": "g"}, {"tool_name": "f"}], ["call_2", "call_1"]),
    ([{"tool_name": "f"}, {"tool_name": "f"}], ["call_1", "call_3"]),
    ([{"name": "g"}], ["call_2"]),
    ([{}, {}], ["call_1", "call_2"]),
    ([{"tool_call_id": "call_3"}], ["call_3"]),
    ([{"tool_call_id": "call_9"}], ["call_9"]),
]


@pytest.mark.parametrize(("tools", "found"), _RESULTS)
def test_a_result_finds_its_call(tools: list[dict[str, Any]], found: list[str]) -> None:
    told = [{"role": "tool", "content": "r", **tool} for tool in tools]
    read = request(messages=[calls("f", "g", "f"), *told]).messages
    assert results(*read) == [ToolResult(call=call, content=(Text(text="r"),)) for call in found]


_WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"model": 5}, "field_wrong", "model"),
    ({"messages": "hi"}, "field_wrong", "messages"),
    ({"messages": [1]}, "field_wrong", "messages[0]"),
    ({"messages": [{"content": "a"}]}, "field_missing", "messages[0].role"),
    ({"messages": [{"role": "robot"}]}, "field_wrong", "messages[0].role"),
    ({"messages": [{"role": "user", "content": [1]}]}, "field_wrong", "messages[0].content"),
    ({"messages": [HI | {"images": ["%"]}]}, "media_base64", "messages[0].images[0]"),
    ({"messages": [HI | {"images": [1]}]}, "field_wrong", "messages[0].images"),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
        "field_missing",
        "messages[0].tool_calls[0].function",
    ),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": {}}}]}]},
        "field_missing",
        "messages[0].tool_calls[0].function.name",
    ),
    ({"stream": 1}, "field_wrong", "stream"),
    ({"think": 1}, "field_wrong", "think"),
    ({"think": "deeply"}, "field_wrong", "think"),
    ({"format": "xml"}, "field_wrong", "format"),
    ({"options": []}, "field_wrong", "options"),
    ({"options": {"temperature": "hot"}}, "field_wrong", "options.temperature"),
    ({"options": {"top_p": 2}}, "field_wrong", "options.top_p"),
    ({"options": {"seed": 0.5}}, "field_wrong", "options.seed"),
    ({"options": {"num_predict": "9"}}, "field_wrong", "options.num_predict"),
    ({"options": {"stop": 1}}, "field_wrong", "options.stop"),
    ({"tools": [{}]}, "field_missing", "tools[0].function"),
    ({"tools": [{"function": {}}]}, "field_missing", "tools[0].function.name"),
]


@pytest.mark.parametrize(("fields", "code", "named"), _WRONG)
def test_what_is_wrong_is_named(fields: dict[str, Any], code: str, named: str) -> None:
    with pytest.raises(Invalid) as caught:
        asked(**fields)
    assert (caught.value.code, caught.value.values["field"]) == (code, named)


def test_a_prompt_is_a_message_and_its_system_prompt_another() -> None:
    told = generated(system="Be brief.", images=[PNG_64], raw=True, template="x", context=[1])
    first, second = told.request.messages
    assert first == Message(role="system", parts=(Text(text="Be brief."),))
    assert second.parts[0] == Text(text="hi")
    assert isinstance(second.parts[1], Blob)
    assert told.stream


def test_an_empty_prompt_asks_for_nothing() -> None:
    assert generated(prompt="", system="Be brief.").request.messages == ()
    assert generated(prompt=None).request.messages == ()


def test_a_suffix_is_refused_by_name() -> None:
    with pytest.raises(Invalid) as caught:
        generated(suffix="}")
    assert caught.value.code == "suffix_unsupported"
    assert caught.value.values["field"] == "suffix"
    assert generated(suffix="").request.messages


def held(lines: Iterable[dict[str, Any]], key: str) -> str:
    return "".join(line["message"].get(key, "") for line in lines)


def calls_in(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [call for line in lines for call in line["message"].get("tool_calls", ())]


def text_in(parts: Iterable[Part], kind: type[Text | Thinking]) -> str:
    return "".join(part.text for part in parts if isinstance(part, kind))


def wanted_calls(parts: Iterable[Part]) -> list[dict[str, Any]]:
    found = [part for part in parts if isinstance(part, ToolCall)]
    return [
        {
            "index": place,
            "name": call.name,
            "arguments": call.arguments if call.malformed is None else {"INVALID_JSON": '{"a": '},
        }
        for place, call in enumerate(found)
    ]


@given(replies())
def test_any_reply_streams_as_lines_that_hold_its_parts(reply: Told) -> None:
    speaks = voice()
    lines = lines_of(speaks.begin() + b"".join(map(speaks.tell, reply.batches)))
    parts = fold(reply.events).parts
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert held(lines, "content") == text_in(parts, Text)
    assert held(lines, "thinking") == text_in(parts, Thinking)
    assert [call["function"] for call in calls_in(lines)] == wanted_calls(parts)


@given(replies())
def test_any_reply_in_one_piece_holds_its_parts_and_its_calls_come_back(reply: Told) -> None:
    told = json.loads(voice().whole(reply.events))
    parts = fold(reply.events).parts
    assert told["done"] is True
    assert told["message"]["content"] == text_in(parts, Text)
    assert [call["function"] for call in calls_in([told])] == wanted_calls(parts)
    back = request(messages=[told["message"]]).messages[0]
    assert list(back.tool_calls) == [part for part in parts if isinstance(part, ToolCall)]


def test_the_last_line_has_the_counts_and_how_long_it_took() -> None:
    clock = FakeClock(tick_s=0)
    speaks = OllamaVoice("v/m", clock, chats=True)
    clock.advance(2)
    speaks.tell([PartDelta(index=0, kind="text", delta="a")])
    clock.advance(3)
    usage = Usage(input=20, cached=5, output=7)
    (line,) = lines_of(speaks.tell([ReplyDone(reason="length", usage=usage)]))
    assert line["done_reason"] == "length"
    assert (line["prompt_eval_count"], line["eval_count"]) == (20, 7)
    durations = ("total_duration", "prompt_eval_duration", "eval_duration", "load_duration")
    assert [line[name] for name in durations] == [5 * 10**9, 2 * 10**9, 3 * 10**9, 0]
    assert line["created_at"].endswith("Z")
    assert datetime.fromisoformat(line["created_at"]) == clock.now()


def test_a_generated_text_is_a_response() -> None:
    speaks = voice(chats=False)
    events: list[StreamEvent] = [
        PartDone(index=0, part=Thinking(text="hm")),
        PartDone(index=1, part=Text(text="hi")),
        ReplyDone(reason="stop"),
    ]
    lines = lines_of(speaks.tell(events))
    assert [line.get("thinking") for line in lines] == ["hm", None, None]
    assert [line["response"] for line in lines] == ["", "hi", ""]
    assert json.loads(voice(chats=False).whole(events))["response"] == "hi"


def test_a_sign_of_life_is_an_empty_piece() -> None:
    (line,) = lines_of(voice().beat())
    assert (line["message"]["content"], line["done"]) == ("", False)
    (line,) = lines_of(voice(chats=False).beat())
    assert (line["response"], line["done"]) == ("", False)


def test_an_error_is_a_line_and_the_same_as_an_answer() -> None:
    assert lines_of(voice().fail(BUSY)) == [{"error": "Busy."}]
    assert json.loads(ollama.Chat().refuse(BUSY)) == {"error": "Busy."}


def test_who_only_loads_a_model_is_told_that_it_is_loaded() -> None:
    dialect = ollama.Generate()
    empty = dialect.read(b'{"model": "v/m"}')
    (line,) = lines_of(dialect.voice(empty, "v/m").tell([ReplyDone(reason="stop")]))
    assert (line["done"], line["done_reason"], line["response"]) == (True, "load", "")


ROWS = (
    ModelEntry(id="open.ai/gpt", provider="open.ai", context_window=4096, vision=True),
    ModelEntry(id="local/small", provider="local", local=True),
    ModelEntry(id="acme/asleep", provider="acme", ready=False, note="no key"),
    ModelEntry(id="agent/ann", provider="agent"),
)


def test_the_models_are_listed_with_an_identity_that_stays() -> None:
    first = json.loads(models.tags(ROWS, AT))["models"]
    again = json.loads(models.tags(ROWS[:1], AT))["models"]
    assert [model["name"] for model in first] == ["open.ai/gpt", "local/small", "agent/ann"]
    assert first[0] == again[0]
    assert len(first[0]["digest"]) == 64
    assert first[0]["digest"] != first[1]["digest"]
    assert datetime.fromisoformat(first[0]["modified_at"]) == AT
    assert first[0]["model"] == first[0]["name"]


def test_only_models_of_this_machine_are_in_its_memory() -> None:
    (model,) = json.loads(models.ps(ROWS, AT))["models"]
    assert model["name"] == "local/small"
    assert datetime.fromisoformat(model["expires_at"]) > AT


def test_a_model_is_shown_with_its_window_and_what_it_can_do() -> None:
    told = json.loads(models.show(ROWS[0], AT))
    family = told["model_info"]["general.architecture"]
    assert "." not in family
    assert told["model_info"][f"{family}.context_length"] == 4096
    assert told["capabilities"] == ["completion", "tools", "vision"]
    unknown = json.loads(models.show(ROWS[1], AT))
    assert not any("context_length" in key for key in unknown["model_info"])
    assert unknown["capabilities"] == ["completion", "tools"]
    assert json.loads(models.show(ROWS[3], AT))["capabilities"] == ["completion"]


@pytest.mark.parametrize("body", [b'{"model": "a"}', b'{"name": "a"}'])
def test_the_model_to_be_shown_has_either_name(body: bytes) -> None:
    assert models.read_show(body) == "a"


def test_a_model_to_be_shown_must_be_named() -> None:
    with pytest.raises(Invalid) as caught:
        models.read_show(b"{}")
    assert caught.value.code == "field_missing"


def test_the_version_is_one_that_clients_accept() -> None:
    major, minor, _ = json.loads(models.version())["version"].split(".")
    assert (int(major), int(minor)) >= (0, 12)
