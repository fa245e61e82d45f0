"""OpenAI's own Python SDK as a client of the gateway, over both of OpenAI's interfaces."""

from __future__ import annotations

import json

import pytest

from tests.judges.ground import WISHED, Case, calls, judged
from tests.judges.upstreams import LONG, TEXT, THOUGHT, VENDORS

SAID = "".join(TEXT)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return judged(tmp_path_factory.mktemp("openai"), "with_openai.py")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", ["streamed", "responses"])
def test_a_text_is_streamed_to_the_end(case: Case, front: str, vendor: str) -> None:
    told = case.of(f"{front} {vendor}")
    assert told["text"] == "".join(told["deltas"]) == SAID
    assert told.get("finish", "stop") == "stop"
    assert told["usage"]["total_tokens"] > 5


@pytest.mark.parametrize("vendor", VENDORS)
def test_two_calls_at_once_and_a_thought_go_there_and_back(case: Case, vendor: str) -> None:
    told = case.of(f"tools {vendor}")
    for reply in (told["first"], told["whole"]):
        assert calls(reply) == WISHED
        assert reply["thought"] == THOUGHT
        assert reply["finish"] == "tool_calls"
    assert [one["city"] for one in told["parsed"]] == ["Paris", "東京"]
    assert (told["second"]["text"], told["second"]["finish"]) == ("It is mild.", "stop")


@pytest.mark.parametrize("vendor", VENDORS)
def test_so_they_do_over_responses(case: Case, vendor: str) -> None:
    told = case.of(f"steps {vendor}")
    assert calls(told["first"]) == WISHED
    assert told["first"]["thought"] == THOUGHT
    assert told["last"] == "response.completed"
    assert told["second"]["text"] == "It is mild."


@pytest.mark.parametrize("front", ["chat", "responses"])
@pytest.mark.parametrize("vendor", ["claude", "gemini", "gpt"])
def test_the_vendor_has_its_signature_back(case: Case, vendor: str, front: str) -> None:
    assert case.kept(vendor, front)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_reply_of_a_schema_is_parsed(case: Case, vendor: str) -> None:
    tea = {"name": "Assam", "degrees": 95}
    told = case.of(f"structured {vendor}")
    assert told["chat"] == told["responses"] == json.loads(told["plain"]) == tea


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_very_long_arguments_come_whole(case: Case, vendor: str) -> None:
    assert calls(case.of(f"long {vendor}")) == [("write", {"text": LONG})]


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_empty_reply_is_a_reply(case: Case, vendor: str) -> None:
    chat, response = case.of(f"empty {vendor}"), case.of(f"empty responses {vendor}")
    assert (chat["text"], chat["finish"]) == ("", "stop")
    assert (response["text"], response["status"]) == ("", "completed")


@pytest.mark.parametrize(
    "scene",
    [
        *(f"cut {vendor}" for vendor in ("chat", "claude", "gpt")),
        *(f"cut responses {vendor}" for vendor in ("chat", "gemini", "claude")),
    ],
)
def test_an_error_in_mid_stream_is_raised(case: Case, scene: str) -> None:
    told = case.of(scene)
    assert (told["error"], told["code"]) == ("APIError", "provider_stream_cut")


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_who_leaves_closes_the_call(case: Case, vendor: str) -> None:
    assert "".join(case.of(f"left {vendor}")) == "".join(TEXT[:2])
    assert [one.closed.is_set() for one in case.asked(vendor, "hang")] == [True]


def test_so_does_who_waits_no_longer(case: Case) -> None:
    assert case.of("impatient")["error"] == "APITimeoutError"
    assert [one.closed.is_set() for one in case.asked("chat", "silent")] == [True]


@pytest.mark.parametrize(
    "scene", ["slow chat", "slow claude", "late chat", "late claude", "late responses"]
)
def test_signs_of_life_are_no_content(case: Case, scene: str) -> None:
    told = case.of(scene)
    assert told["text"] == "".join(told["deltas"]) == SAID


@pytest.mark.parametrize(
    ("scene", "error", "code"),
    [
        ("no provider", "NotFoundError", "model_not_found"),
        ("no model", "NotFoundError", "model_not_found"),
        ("no model of Claude's", "NotFoundError", "model_not_found"),
        ("wrong key", "AuthenticationError", "invalid_api_key"),
        ("narrow key", "PermissionDeniedError", "key_scope_model"),
        ("poor key", "RateLimitError", "insufficient_quota"),
        ("too long", "BadRequestError", "context_length_exceeded"),
        ("filtered", "BadRequestError", "content_filter"),
        ("quota", "RateLimitError", "insufficient_quota"),
        ("rate", "RateLimitError", "rate_limit_exceeded"),
        ("down", "InternalServerError", "provider_overloaded"),
        ("key of the house", "InternalServerError", "provider_authentication"),
        ("wrong request", "BadRequestError", "provider_refused"),
    ],
)
def test_an_error_before_the_first_byte_is_of_its_type(
    case: Case, scene: str, error: str, code: str
) -> None:
    told = case.of(scene)
    assert (told["error"], told["code"]) == (error, code)


def test_a_rate_says_when_to_come_back(case: Case) -> None:
    told = case.of("rated key")
    assert told["first"] == SAID
    assert told["second"]["error"] == "RateLimitError"
    assert 0 < int(told["second"]["retry_after"]) <= 60
    assert case.of("rate")["retry_after"] == "31"


@pytest.mark.parametrize("scene", ["fail-400", "fail-401", "fail-402"])
def test_what_will_not_get_better_is_not_tried_again(case: Case, scene: str) -> None:
    assert len(case.asked("chat", scene)) == 1


def test_a_moment_of_too_much_is_waited_for(case: Case) -> None:
    """The house itself has tried thrice by then; the client comes back when it was told to."""
    assert case.of("patient") == {"text": SAID, "retries": 1}
    assert len(case.asked("chat", "busy")) == 4


def test_models_are_listed_and_found(case: Case) -> None:
    told = case.of("models")
    assert {"chat/fake", "claude/fake", "gemini/fake"} <= set(told["found"])
    assert told["one"] == "chat/fake"
    assert told["missing"]["error"] == "NotFoundError"


def test_texts_are_embedded_in_either_encoding(case: Case) -> None:
    told = case.of("embeddings")
    assert told["vectors"] == [[1.0, 0.5], [1.0, 0.5]]
    assert told["plain"] == [[1.0, 0.5]]
    assert told["usage"]["prompt_tokens"] == 3


def test_none_of_it_is_logged_as_a_fault(case: Case) -> None:
    assert case.faults == []
