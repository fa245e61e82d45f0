from __future__ import annotations

import pytest

from teahouse.chat.scopes import may_use_api, may_use_metrics, may_use_model, parse
from teahouse.core.errors import Invalid

NAMES = (
    "openai/gpt",
    "openai/org/gpt",
    "ollama/qwen3:4b",
    "fast",
    "agent/Tea master",
    "agent/Cook",
)


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        ((), NAMES),
        (("api",), ()),
        (("metrics",), ()),
        (("models",), ("openai/gpt", "openai/org/gpt", "ollama/qwen3:4b", "fast")),
        (("agents",), ("agent/Tea master", "agent/Cook")),
        (("agent/Tea master",), ("agent/Tea master",)),
        (("agent/ＴＥＡ  Master",), ("agent/Tea master",)),
        (("openai/*",), ("openai/gpt", "openai/org/gpt")),
        (("openai/gpt",), ("openai/gpt",)),
        (("openai/org/gpt", "fast"), ("openai/org/gpt", "fast")),
        (("api", "agent/Cook"), ("agent/Cook",)),
    ],
)
def test_a_key_may_use_what_its_scopes_name_and_nothing_else(
    scopes: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    assert tuple(name for name in NAMES if may_use_model(parse(scopes), name)) == allowed
    assert may_use_api(scopes) == (not scopes or "api" in scopes)
    assert may_use_metrics(scopes) == (not scopes or "metrics" in scopes)


def test_no_other_spelling_of_an_agent_passes_for_a_model() -> None:
    for name in ("Agent/Cook", "agent/ cook", "ＡＧＥＮＴ/Cook"):
        assert not may_use_model(("models",), name)
        assert not may_use_model(("agent/*",), name)
        assert may_use_model(("agent/Cook",), name)


def test_nothing_is_no_model_and_a_word_of_ours_no_alias() -> None:
    assert not may_use_model(("agent/Cook", "openai/*"), "")
    assert not may_use_model(("openai/*",), "openai/")
    assert not may_use_model(("api", "agents", "metrics"), "api")
    assert may_use_model(("models",), "api")


@pytest.mark.parametrize(
    "scope",
    [
        "",
        " ",
        "*",
        "/",
        "/gpt",
        "openai/",
        "agent/",
        "*/gpt",
        "openai/gpt*",
        "x\ny",
        "a" * 201,
    ],
)
def test_what_is_no_scope_is_refused_with_what_may_be_written(scope: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(["models", scope])

    assert "PROVIDER/*" in (caught.value.problem().hint or "")
