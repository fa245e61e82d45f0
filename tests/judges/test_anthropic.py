"""Anthropic's own Python SDK as a client of the gateway."""

from __future__ import annotations

import pytest

from tests.judges.ground import WISHED, Case, calls, judged
from tests.judges.upstreams import LONG, TEXT, THOUGHT, VENDORS

SAID = "".join(TEXT)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return judged(tmp_path_factory.mktemp("anthropic"), "with_anthropic.py")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_text_is_streamed_to_the_end(case: Case, vendor: str) -> None:
    told = case.of(f"streamed {vendor}")
    assert told["text"] == "".join(told["deltas"]) == SAID
    assert (told["finish"], told["kinds"]) == ("end_turn", ["text"])
    assert told["usage"]["input_tokens"] == 5
    assert told["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("vendor", VENDORS)
def test_two_calls_at_once_and_a_thought_go_there_and_back(case: Case, vendor: str) -> None:
    told = case.of(f"tools {vendor}")
    for reply in (told["first"], told["whole"]):
        assert calls(reply) == WISHED
        assert reply["thought"] == THOUGHT
        assert reply["finish"] == "tool_use"
    assert told["thought aloud"]
    assert told["arguments aloud"]
    assert (told["second"]["text"], told["second"]["finish"]) == ("It is mild.", "end_turn")


@pytest.mark.parametrize("vendor", ["claude", "gemini", "gpt"])
@pytest.mark.parametrize("front", ["messages", "loop"])
def test_the_vendor_has_its_signature_back(case: Case, vendor: str, front: str) -> None:
    assert case.kept(vendor, front)


@pytest.mark.parametrize("vendor", ["chat", "gpt", "claude", "gemini"])
def test_its_own_loop_over_tools_comes_to_an_end(case: Case, vendor: str) -> None:
    """It would rather send only what is new, but goes on with whole conversations."""
    told = case.of(f"loop {vendor}")
    assert told == {"asked": ["Paris", "東京"], "text": "It is mild."}


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_reply_of_a_schema_is_parsed(case: Case, vendor: str) -> None:
    assert case.of(f"structured {vendor}") == {"name": "Assam", "degrees": 95}


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_very_long_arguments_come_whole(case: Case, vendor: str) -> None:
    assert calls(case.of(f"long {vendor}")) == [("write", {"text": LONG})]


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_empty_reply_is_a_reply(case: Case, vendor: str) -> None:
    told = case.of(f"empty {vendor}")
    assert (told["text"], told["finish"]) == ("", "end_turn")


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_an_error_in_mid_stream_is_raised(case: Case, vendor: str) -> None:
    told = case.of(f"cut {vendor}")
    assert (told["error"], told["type"]) == ("APIStatusError", "api_error")


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_who_leaves_closes_the_call(case: Case, vendor: str) -> None:
    assert case.of(f"left {vendor}") == "".join(TEXT[:2])
    assert [one.closed.is_set() for one in case.asked(vendor, "hang")] == [True]


def test_so_does_who_waits_no_longer(case: Case) -> None:
    assert case.of("impatient")["error"] == "APITimeoutError"
    assert [one.closed.is_set() for one in case.asked("claude", "silent")] == [True]


@pytest.mark.parametrize("scene", ["slow chat", "slow gemini", "late gpt", "late claude"])
def test_signs_of_life_are_no_content(case: Case, scene: str) -> None:
    told = case.of(scene)
    assert told["text"] == "".join(told["deltas"]) == SAID
    assert told["kinds"] == ["text"]


@pytest.mark.parametrize(
    ("scene", "error", "kind"),
    [
        ("no provider", "NotFoundError", "not_found_error"),
        ("no model", "NotFoundError", "not_found_error"),
        ("wrong key", "AuthenticationError", "authentication_error"),
        ("narrow key", "PermissionDeniedError", "permission_error"),
        ("poor key", "RateLimitError", "billing_error"),
        ("too long", "BadRequestError", "invalid_request_error"),
        ("filtered", "BadRequestError", "invalid_request_error"),
        ("quota", "RateLimitError", "billing_error"),
        ("rate", "RateLimitError", "rate_limit_error"),
        ("down", "ServiceUnavailableError", "overloaded_error"),
        ("wrong request", "BadRequestError", "invalid_request_error"),
    ],
)
def test_an_error_before_the_first_byte_is_of_its_type(
    case: Case, scene: str, error: str, kind: str
) -> None:
    told = case.of(scene)
    assert (told["error"], told["type"]) == (error, kind)


def test_a_conversation_that_is_too_long_is_told_in_known_words(case: Case) -> None:
    assert "prompt is too long" in case.of("too long")["message"]


def test_a_rate_says_when_to_come_back(case: Case) -> None:
    told = case.of("rated key")
    assert told["first"] == SAID
    assert 0 < int(told["second"]["retry_after"]) <= 60
    assert case.of("rate")["retry_after"] == "31"


@pytest.mark.parametrize("scene", ["fail-400", "fail-402"])
def test_what_will_not_get_better_is_not_tried_again(case: Case, scene: str) -> None:
    assert len(case.asked("chat", scene)) == 1


def test_the_key_may_come_as_a_token(case: Case) -> None:
    assert case.of("bearer") == SAID


def test_models_are_listed_and_found(case: Case) -> None:
    told = case.of("models")
    assert {"chat/fake", "claude/fake", "gemini/fake"} <= set(told["found"])
    assert told["one"] == "chat/fake"
    assert told["missing"]["error"] == "NotFoundError"


def test_tokens_are_counted(case: Case) -> None:
    few, more = case.of("count")
    assert 50 < few < more


def test_none_of_it_is_logged_as_a_fault(case: Case) -> None:
    assert case.faults == []
