"""Ollama's own Python client as a client of the gateway."""

from __future__ import annotations

import json

import pytest

from tests.judges.ground import WISHED, Case, calls, judged
from tests.judges.upstreams import TEXT, THOUGHT, VENDORS

SAID = "".join(TEXT)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return judged(tmp_path_factory.mktemp("ollama"), "with_ollama.py")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_text_is_streamed_to_the_end(case: Case, vendor: str) -> None:
    told = case.of(f"streamed {vendor}")
    assert "".join(told["deltas"]) == SAID
    assert (told["finish"], told["ends"]) == ("stop", 1)
    assert told["model"] == f"{vendor}/text"
    assert all(told["usage"])


@pytest.mark.parametrize("vendor", VENDORS)
def test_two_calls_at_once_and_a_thought_go_there_and_back(case: Case, vendor: str) -> None:
    told = case.of(f"tools {vendor}")
    assert calls(told["first"]) == WISHED
    assert told["streamed"] == [arguments for _, arguments in WISHED]
    assert told["thought"] == told["first"]["thought"] == THOUGHT
    assert told["second"]["text"] == "It is mild."


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_reply_is_of_its_schema(case: Case, vendor: str) -> None:
    assert json.loads(case.of(f"structured {vendor}")) == {"name": "Assam", "degrees": 95}


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_a_prompt_alone_is_answered(case: Case, vendor: str) -> None:
    assert case.of(f"generated {vendor}") == {"whole": SAID, "streamed": SAID}


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_empty_reply_is_a_reply(case: Case, vendor: str) -> None:
    told = case.of(f"empty {vendor}")
    assert (told["text"], told["finish"]) == ("", "stop")


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_an_error_in_mid_stream_is_raised(case: Case, vendor: str) -> None:
    told = case.of(f"cut {vendor}")
    assert told["error"] == "ResponseError"
    assert "was cut off" in told["message"]


@pytest.mark.parametrize("vendor", ["chat", "claude", "gemini"])
def test_who_leaves_closes_the_call(case: Case, vendor: str) -> None:
    assert case.of(f"left {vendor}") == "".join(TEXT[:2])
    assert [one.closed.is_set() for one in case.asked(vendor, "hang")] == [True]


@pytest.mark.parametrize("vendor", ["chat", "claude"])
def test_signs_of_life_are_no_content(case: Case, vendor: str) -> None:
    told = case.of(f"late {vendor}")
    assert "".join(told["deltas"]) == SAID
    assert told["ends"] == 1


@pytest.mark.parametrize(
    ("scene", "status"),
    [
        ("no provider", 404),
        ("wrong key", 401),
        ("narrow key", 403),
        ("poor key", 429),
        ("too long", 400),
        ("rate", 429),
    ],
)
def test_an_error_before_the_first_byte_has_its_status(case: Case, scene: str, status: int) -> None:
    told = case.of(scene)
    assert (told["error"], told["status"]) == ("ResponseError", status)


def test_a_rate_is_kept(case: Case) -> None:
    told = case.of("rated key")
    assert (told["first"], told["second"]["status"]) == (SAID, 429)


def test_models_are_listed_and_shown(case: Case) -> None:
    told = case.of("models")
    assert {"chat/fake", "claude/fake", "gemini/fake"} <= set(told["found"])
    assert {"completion", "tools"} <= set(told["can"])
    assert told["missing"]["status"] == 404


def test_texts_are_embedded_the_new_way_and_the_old(case: Case) -> None:
    assert case.of("embeddings") == {"new": [[1.0, 0.5], [1.0, 0.5]], "old": [1.0, 0.5]}


def test_none_of_it_is_logged_as_a_fault(case: Case) -> None:
    assert case.faults == []
