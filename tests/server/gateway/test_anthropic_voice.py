"""Replies in Anthropic's Messages, read as the vendor's own clients read them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.events import PartDelta, PartDone, Reason, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Part, Text, Usage
from teahouse.server.gateway.anthropic.messages import Messages
from teahouse.server.gateway.anthropic.voice import MessagesVoice
from teahouse.server.gateway.dialect import Refusal
from tests.server.gateway.replies import Told, replies


def events_of(stream: bytes) -> list[dict[str, Any]]:
    """Read as the strictest clients do: whatever Python takes for a line's end is one."""
    found: list[dict[str, Any]] = []
    name = ""
    for line in stream.decode().splitlines():
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            found.append(json.loads(value))
            assert found[-1]["type"] == name
        else:
            assert not line
    return found


def accumulate(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a stream makes, by the rules of the vendor's own clients."""
    assert events[0]["type"] == "message_start"
    message: dict[str, Any] = events[0]["message"]
    blocks: list[dict[str, Any]] = message["content"]
    is_open, arguments = False, ""
    for event in events[1:]:
        match event["type"]:
            case "content_block_start":
                assert not is_open
                assert event["index"] == len(blocks)
                blocks.append(event["content_block"])
                is_open, arguments = True, ""
            case "content_block_delta":
                assert is_open
                assert event["index"] == len(blocks) - 1
                delta = event["delta"]
                match delta["type"]:
                    case "text_delta":
                        blocks[-1]["text"] += delta["text"]
                    case "thinking_delta":
                        blocks[-1]["thinking"] += delta["thinking"]
                    case "signature_delta":
                        blocks[-1]["signature"] = delta["signature"]
                    case _:
                        arguments += delta["partial_json"]
                        blocks[-1]["input"] = json.loads(arguments)
            case "content_block_stop":
                assert is_open
                is_open = False
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
            case kind:
                assert kind in {"message_stop", "ping"}
    assert not is_open
    return message


def given_back(message: dict[str, Any]) -> tuple[Part, ...]:
    """What comes of the message when its client sends it with the next request."""
    messages = [{"role": "assistant", "content": message["content"]}]
    body = json.dumps({"max_tokens": 1, "messages": messages}).encode()
    return Messages().read(body).request.messages[0].parts


def told(batches: list[list[StreamEvent]]) -> bytes:
    voice = MessagesVoice("v/m", 5)
    return voice.begin() + b"".join(map(voice.tell, batches))


STOPS: dict[Reason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


@given(replies())
def test_any_reply_streams_as_blocks_that_come_back_as_its_parts(reply: Told) -> None:
    events = events_of(told(reply.batches))
    message = accumulate(events)
    assert events[-1]["type"] == "message_stop"
    assert message["stop_reason"] == STOPS[reply.reason]
    assert given_back(message) == fold(reply.events).parts


@given(replies())
def test_any_reply_in_one_piece_comes_back_as_its_parts(reply: Told) -> None:
    message = json.loads(MessagesVoice("v/m", 0).whole(reply.events))
    assert message["stop_reason"] == STOPS[reply.reason]
    assert message["type"] == "message"
    assert given_back(message) == fold(reply.events).parts


@given(st.lists(st.sampled_from(["a", "\u2028", "\x85", "\n", "好"]), min_size=1))
def test_a_piece_of_text_is_told_at_once(pieces: list[str]) -> None:
    voice = MessagesVoice("v/m", 0)
    for piece in pieces:
        events = events_of(voice.tell([PartDelta(index=3, kind="text", delta=piece)]))
        assert events[-1]["delta"] == {"type": "text_delta", "text": piece}


def test_counts_tell_cached_tokens_apart() -> None:
    done = ReplyDone(reason="stop", usage=Usage(input=20, cached=5, written=3, output=7))
    message = accumulate(events_of(told([[done]])))
    wanted = {
        "input_tokens": 12,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 3,
        "output_tokens": 7,
    }
    assert message["usage"] == wanted
    assert json.loads(MessagesVoice("v/m", 0).whole([done]))["usage"] == wanted


def test_a_call_that_was_left_out_keeps_nothing_back() -> None:
    events: list[StreamEvent] = [
        PartDelta(index=0, kind="tool_call", delta='{"a'),
        PartDelta(index=1, kind="text", delta="b"),
        PartDone(index=1, part=Text(text="b")),
        ReplyDone(reason="length", problem="invalid_tool_args"),
    ]
    message = accumulate(events_of(told([events])))
    assert message["content"] == [{"type": "text", "text": "b"}]
    assert message["stop_reason"] == "max_tokens"


def test_a_sign_of_life_is_a_ping() -> None:
    assert events_of(MessagesVoice("v/m", 0).beat()) == [{"type": "ping"}]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("authentication", "authentication_error"),
        ("permission", "permission_error"),
        ("not_found", "not_found_error"),
        ("too_large", "request_too_large"),
        ("rate_limit", "rate_limit_error"),
        ("quota", "billing_error"),
        ("invalid_request", "invalid_request_error"),
        ("content_filter", "invalid_request_error"),
        ("overloaded", "overloaded_error"),
        ("timeout", "timeout_error"),
        ("upstream", "api_error"),
        ("internal", "api_error"),
    ],
)
def test_an_error_has_the_vendors_name_in_a_stream_and_as_an_answer(kind: str, named: str) -> None:
    refusal = Refusal(status=400, kind=kind, code="c", message="What to do.")
    wanted = {"type": "error", "error": {"type": named, "message": "What to do."}}
    assert json.loads(Messages().refuse(refusal)) == wanted
    assert events_of(MessagesVoice("v/m", 0).fail(refusal)) == [wanted]


def test_a_context_that_is_too_long_is_said_in_the_words_that_clients_look_for() -> None:
    refusal = Refusal(status=400, kind="context_too_long", code="c", message="Shorten it.")
    error = json.loads(Messages().refuse(refusal))["error"]
    assert error == {
        "type": "invalid_request_error",
        "message": "prompt is too long: Shorten it.",
    }
