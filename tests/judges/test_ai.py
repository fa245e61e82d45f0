"""The AI SDK for JavaScript as a client of the gateway, by four of its providers."""

from __future__ import annotations

import pytest

from tests.judges.ground import WISHED, Case, calls, judged
from tests.judges.upstreams import TEXT, THOUGHT, VENDORS

SAID = "".join(TEXT)
FRONTS = ("responses", "chat", "compatible", "anthropic")  # the first is what it does unasked


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return judged(tmp_path_factory.mktemp("ai"), "with_ai.mjs")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", FRONTS)
def test_a_text_is_streamed_to_the_end(case: Case, front: str, vendor: str) -> None:
    told = case.of(f"streamed {front} {vendor}")
    assert told["text"] == "".join(told["deltas"]) == SAID
    assert told["finish"] == "stop"
    assert told["usage"]["inputTokens"] == 5


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("kind", ["tools", "whole tools"])
@pytest.mark.parametrize("front", FRONTS)
def test_its_own_loop_calls_two_tools_at_once_and_comes_to_an_end(
    case: Case, front: str, kind: str, vendor: str
) -> None:
    told = case.of(f"{kind} {front} {vendor}")
    assert calls(told) == WISHED
    assert sorted(told["cities"]) == ["Paris", "東京"]
    assert (told["text"], told["steps"], told["finish"]) == ("It is mild.", 2, "stop")
    assert told["thought"] == (None if front == "chat" else THOUGHT)


@pytest.mark.parametrize("vendor", VENDORS)
def test_so_it_does_where_it_is_told_that_nothing_is_kept(case: Case, vendor: str) -> None:
    told = case.of(f"tools stateless {vendor}")
    assert (told["text"], told["steps"]) == ("It is mild.", 2)


@pytest.mark.parametrize("vendor", ["claude", "gemini", "gpt"])
@pytest.mark.parametrize("front", ["responses", "stateless", "anthropic"])
def test_the_vendor_has_its_signature_back(case: Case, vendor: str, front: str) -> None:
    assert case.kept(vendor, front)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("front", FRONTS)
def test_a_reply_of_a_schema_is_parsed(case: Case, front: str, vendor: str) -> None:
    assert case.of(f"structured {front} {vendor}") == {"name": "Assam", "degrees": 95}


@pytest.mark.parametrize("front", FRONTS)
def test_an_empty_reply_is_a_reply(case: Case, front: str) -> None:
    told = case.of(f"empty {front}")
    assert (told["text"], told["finish"]) == ("", "stop")


@pytest.mark.parametrize("front", FRONTS)
def test_an_error_in_mid_stream_is_told(case: Case, front: str) -> None:
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
    ("scene", "status", "again"),
    [
        ("no provider", 404, False),
        ("wrong key", 401, False),
        ("narrow key", 403, False),
        ("too long", 400, False),
        ("rate", 429, True),
        ("down", 503, True),
    ],
)
def test_an_error_before_the_first_byte_has_its_status(
    case: Case, scene: str, status: int, again: bool, front: str
) -> None:
    told = case.of(f"{scene} {front}")
    assert (told["status"], told["retryable"]) == (status, again)


def test_a_rate_says_when_to_come_back(case: Case) -> None:
    told = case.of("rated key")
    assert told["first"] == SAID
    assert 0 < int(told["second"]["retry_after"]) <= 60


def test_a_budget_that_is_spent_is_told(case: Case) -> None:
    """It tries each 429 again, whatever is said to it; the vendor hears of none of them."""
    assert "budget" in case.of("poor key")["message"]


def test_texts_are_embedded(case: Case) -> None:
    assert case.of("embeddings") == [[1, 0.5], [1, 0.5]]


def test_none_of_it_is_logged_as_a_fault(case: Case) -> None:
    assert case.faults == []
