"""`teahouse models check A B`: a table of differences, and an exit code for scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from teahouse.llm.compare import CASES
from tests.cli.conftest import Teahouse


@pytest.fixture(scope="module")
def other_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """An endpoint whose first two answers are of another kind than an echo."""
    script = tmp_path_factory.mktemp("script") / "answers.json"
    script.write_text(json.dumps([{"text": "42"}, {"text": "茶"}]), "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "teahouse.testing.endpoint", "--script", str(script)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, model_url: str, other_url: str
) -> Generator[Teahouse]:
    """One endpoint under two names, another one, one set up wrongly, and one that is gone."""
    providers = {
        "TWIN": {"BASE_URL": model_url},
        "OTHER": {"BASE_URL": other_url},
        "WRONG": {"BASE_URL": model_url, "QUIRKS": '{"tools": "none"}'},
        "GONE": {"BASE_URL": "http://127.0.0.1:9/v1"},
    }
    settings = {
        f"TEAHOUSE_PROVIDERS__{name}__{key}": value
        for name, provider in providers.items()
        for key, value in {"WIRE": "openai_chat", **provider}.items()
    }
    teahouse = Teahouse(tmp_path_factory.mktemp("house") / "home", model_url, **settings)
    with teahouse.serving():
        yield teahouse


def test_two_models_that_do_the_same_are_alike(house: Teahouse) -> None:
    told = house.json("models", "check", "fake/fake", "twin/fake")

    assert told["alike"] is True
    assert [item["case"] for item in told["items"]] == list(CASES)
    assert told["items"][0]["a"]["said"] == "echo: Reply with one word: ready"


def test_it_says_so_in_words_and_tells_how_far_it_is_meanwhile(house: Teahouse) -> None:
    done = house("models", "check", "fake/fake", "twin/fake")

    assert done.returncode == 0
    assert done.stdout == f"fake/fake and twin/fake are alike in all {len(CASES)} questions.\n"
    assert done.stderr.splitlines()[0] == "plain: alike"


def test_models_that_differ_give_a_table_and_leave_with_1(house: Teahouse) -> None:
    done = house("models", "check", "fake/fake", "other/fake")

    assert done.returncode == 1, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows == [
        ["Question", "What", "fake/fake", "other/fake"],
        ["plain", "text", "latin", "digits"],
        ["english", "text", "latin", "chinese"],
    ]
    assert done.stderr.splitlines()[1:3] == ["english: they differ", "chinese: alike"]


@pytest.mark.parametrize("other", ["gone/fake", "wrong/fake", "nobody/fake", "no-such-alias"])
def test_a_model_that_cannot_be_asked_leaves_with_2(house: Teahouse, other: str) -> None:
    done = house("models", "check", "fake/fake", other)

    assert done.returncode == 2
    assert done.stdout == ""
    assert other.partition("/")[0] in done.stderr


def test_it_works_without_a_running_server(tmp_path: Path, model_url: str) -> None:
    teahouse = Teahouse(tmp_path / "home", model_url)

    assert teahouse("models", "check", "fake/fake", "fake/other").returncode == 0
