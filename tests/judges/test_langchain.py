"""langchain-openai as a client of the gateway, over both of OpenAI's interfaces."""

from __future__ import annotations

import pytest

from tests.judges.ground import WISHED, Case, calls, judged
from tests.judges.upstreams import TEXT, VENDORS

SAID = "".join(TEXT)
FRONTS = ("chat", "responses")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return judged(tmp_path_factory.mktemp("langchain"), "with_langchain.py")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", FRONTS)
def test_a_text_is_streamed_to_the_end(case: Case, front: str, vendor: str) -> None:
    told = case.of(f"streamed {front} {vendor}")
    assert told["text"] == "".join(told["deltas"]) == SAID
    assert told["usage"]["input_tokens"] == 5


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", FRONTS)
def test_two_calls_at_once_go_there_and_back(case: Case, front: str, vendor: str) -> None:
    told = case.of(f"tools {front} {vendor}")
    assert calls(told["first"]) == calls(told["streamed"]) == WISHED
    assert told["second"]["text"] == told["third"]["text"] == "It is mild."


@pytest.mark.parametrize("vendor", ["claude", "gemini", "gpt"])
def test_the_vendor_has_its_signature_back_over_responses(case: Case, vendor: str) -> None:
    """Over the other interface LangChain gives back no field that OpenAI does not have."""
    assert case.kept(vendor, "responses")


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
@pytest.mark.parametrize("front", FRONTS)
def test_a_reply_of_a_schema_is_parsed(case: Case, front: str, method: str, vendor: str) -> None:
    told = case.of(f"structured {front} {method} {vendor}")
    assert told == {"name": "Assam", "degrees": 95}


def test_an_empty_reply_is_a_reply(case: Case) -> None:
    assert (case.of("empty")["text"], case.of("empty")["finish"]) == ("", "stop")


@pytest.mark.parametrize("front", FRONTS)
def test_an_error_in_mid_stream_is_raised(case: Case, front: str) -> None:
    told = case.of(f"cut {front}")
    assert (told["error"], told["code"]) == ("APIError", "provider_stream_cut")


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_who_leaves_closes_the_call(case: Case, vendor: str) -> None:
    assert case.of(f"left {vendor}") == "".join(TEXT[:2])
    assert [one.closed.is_set() for one in case.asked(vendor, "hang")] == [True]


@pytest.mark.parametrize("front", FRONTS)
def test_signs_of_life_are_no_content(case: Case, front: str) -> None:
    told = case.of(f"late {front}")
    assert told["text"] == "".join(told["deltas"]) == SAID


@pytest.mark.parametrize(
    ("scene", "error", "code"),
    [
        ("no provider", "NotFoundError", "model_not_found"),
        ("wrong key", "AuthenticationError", "invalid_api_key"),
        ("narrow key", "PermissionDeniedError", "key_scope_model"),
        ("poor key", "RateLimitError", "insufficient_quota"),
        ("too long", "ContextOverflowError", "context_length_exceeded"),
        ("too long for responses", "ContextOverflowError", "context_length_exceeded"),
        ("rate", "RateLimitError", "rate_limit_exceeded"),
        ("down", "APIError", "provider_overloaded"),
    ],
)
def test_an_error_before_the_first_byte_is_of_its_type(
    case: Case, scene: str, error: str, code: str
) -> None:
    told = case.of(scene)
    assert error in told["bases"]
    assert told["code"] == code


def test_a_rate_says_when_to_come_back(case: Case) -> None:
    told = case.of("rated key")
    assert told["first"] == SAID
    assert 0 < int(told["second"]["retry_after"]) <= 60


def test_texts_are_embedded(case: Case) -> None:
    assert case.of("embeddings") == [[1.0, 0.5], [1.0, 0.5]]


def test_none_of_it_is_logged_as_a_fault(case: Case) -> None:
    assert case.faults == []
