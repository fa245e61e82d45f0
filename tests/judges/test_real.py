"""Clients that nobody here wrote, the gateway, and behind it a server that nobody here wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.judges.ground import judged_with_llama

pytestmark = pytest.mark.model
JUDGES = {
    "with_openai.py": ("real/local",),
    "with_anthropic.py": ("real/local", "other/local"),
    "with_ollama.py": ("real/local",),
    "with_litellm.py": ("real/local",),
    "with_langchain.py": ("real/local",),
    "with_ai.mjs": ("real/local",),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return judged_with_llama(tmp_path_factory.mktemp("real"), JUDGES)


def told(reports: dict[str, dict[str, Any]], judge: str) -> list[dict[str, Any]]:
    real = reports[judge]["real"]
    assert isinstance(real, list), real["broke"]
    assert len(real) >= len(JUDGES[judge])
    return real


@pytest.mark.parametrize("judge", JUDGES)
def test_a_real_model_talks_to_each_judge(reports: dict[str, dict[str, Any]], judge: str) -> None:
    for one in told(reports, judge):
        assert one["chat"]["text"]
        assert one["chat"]["finish"] in {"stop", "length", "max_tokens", "end_turn", None}
        assert one["chat"]["usage"]


def test_a_real_model_keeps_to_a_schema(reports: dict[str, dict[str, Any]]) -> None:
    tea = json.loads(told(reports, "with_openai.py")[0]["shaped"])
    assert set(tea) == {"name", "degrees"}


def test_a_real_model_is_told_of_a_call_and_its_result(
    reports: dict[str, dict[str, Any]],
) -> None:
    """In either dialect in which it is asked."""
    for one in told(reports, "with_anthropic.py"):
        assert one["after a result"]["usage"]["output_tokens"] > 0
        assert one["after a result"]["text"] or one["after a result"]["calls"]


def test_a_real_model_answers_over_responses(reports: dict[str, dict[str, Any]]) -> None:
    (one,) = told(reports, "with_openai.py")
    assert one["responses"]["text"]
    assert one["responses"]["status"] in {"completed", "incomplete"}


def test_a_real_model_streams_to_ollamas_client(reports: dict[str, dict[str, Any]]) -> None:
    (one,) = told(reports, "with_ollama.py")
    assert "".join(one["streamed"])
