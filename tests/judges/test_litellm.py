"""litellm as a client of the gateway, in three of its dialects."""

from __future__ import annotations

import json

import pytest

from tests.judges.ground import WISHED, Case, calls, judged
from tests.judges.upstreams import TEXT, THOUGHT, VENDORS

SAID = "".join(TEXT)
FRONTS = ("openai", "anthropic", "ollama_chat")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return judged(tmp_path_factory.mktemp("litellm"), "with_litellm.py")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", FRONTS)
def test_a_text_is_streamed_to_the_end(case: Case, front: str, vendor: str) -> None:
    told = case.of(f"streamed {front} {vendor}")
    assert told["text"] == "".join(told["deltas"]) == SAID
    assert told["finish"] == "stop"


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", FRONTS)
def test_two_calls_at_once_and_a_thought_go_there_and_back(
    case: Case, front: str, vendor: str
) -> None:
    told = case.of(f"tools {front} {vendor}")
    for reply in (told["first"], told["streamed"]):
        assert calls(reply) == WISHED
        assert reply["thought"] == THOUGHT
        assert reply["finish"] == "tool_calls"
    assert (told["second"]["text"], told["second"]["finish"]) == ("It is mild.", "stop")


@pytest.mark.parametrize("vendor", ["claude", "gemini", "gpt"])
@pytest.mark.parametrize("front", ["openai", "anthropic"])
def test_the_vendor_has_its_signature_back(case: Case, vendor: str, front: str) -> None:
    assert case.kept(vendor, front)


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
@pytest.mark.parametrize("front", ["openai", "ollama_chat"])
def test_a_reply_is_of_its_schema(case: Case, front: str, vendor: str) -> None:
    tea = json.loads(case.of(f"structured {front} {vendor}"))
    assert tea == {"name": "Assam", "degrees": 95}


@pytest.mark.parametrize("front", FRONTS)
def test_an_empty_reply_is_a_reply(case: Case, front: str) -> None:
    told = case.of(f"empty {front}")
    assert (told["text"] or "", told["finish"]) == ("", "stop")


@pytest.mark.parametrize("front", FRONTS)
def test_an_error_in_mid_stream_is_raised(case: Case, front: str) -> None:
    told = case.of(f"cut {front}")
    assert told["error"]
    assert "was cut off" in told["message"]


@pytest.mark.parametrize("front", FRONTS)
def test_who_leaves_closes_the_call(case: Case, front: str) -> None:
    assert case.of(f"left {front}") == "".join(TEXT[:2])
    gone = [one.closed.is_set() for one in case.asked("gemini", "hang")]
    assert gone == [True] * len(FRONTS)


@pytest.mark.parametrize("front", FRONTS)
def test_signs_of_life_are_no_content(case: Case, front: str) -> None:
    told = case.of(f"late {front}")
    assert told["text"] == "".join(told["deltas"]) == SAID


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(
    ("scene", "error"),
    [("no provider", "NotFoundError"), ("wrong key", "AuthenticationError")],
)
def test_an_error_before_the_first_byte_is_of_its_type(
    case: Case, scene: str, error: str, front: str
) -> None:
    assert case.of(f"{scene} {front}")["error"] == error


@pytest.mark.parametrize("front", FRONTS)
def test_limits_are_told_from_faults(case: Case, front: str) -> None:
    assert case.of(f"narrow key {front}")["status"] == 403
    assert case.of(f"rate {front}")["error"] == "RateLimitError"
    assert case.of(f"down {front}")["status"] in {500, 503}


@pytest.mark.parametrize("front", ["openai", "anthropic"])
def test_a_conversation_that_is_too_long_is_known_as_such(case: Case, front: str) -> None:
    """Of Ollama's dialect litellm knows no such error."""
    assert case.of(f"too long {front}")["error"] == "ContextWindowExceededError"


def test_the_other_limits_are_told(case: Case) -> None:
    assert case.of("rated key")["second"]["error"] == "RateLimitError"
    assert case.of("poor key")["type"] == "insufficient_quota"
    assert case.of("filtered")["code"] == "content_filter"


def test_texts_are_embedded(case: Case) -> None:
    assert case.of("embeddings") == [[1.0, 0.5]]


def test_none_of_it_is_logged_as_a_fault(case: Case) -> None:
    assert case.faults == []
