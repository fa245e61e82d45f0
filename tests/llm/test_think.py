"""Thoughts in the text, and how many tokens a text has."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.messages import Message, Text, ToolCall
from teahouse.llm.surrogates import mend
from teahouse.llm.think import ThinkTags
from teahouse.llm.tokens import estimate, estimate_messages


def split(*pieces: str, inside: bool = False) -> tuple[str, str]:
    tags = ThinkTags(inside=inside)
    found = [item for piece in pieces for item in tags.feed(piece)] + tags.end()
    return (
        "".join(text for kind, text in found if kind == "thinking"),
        "".join(text for kind, text in found if kind == "text"),
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>a</think>b", ("a", "b")),
        ("\n <think>a</think>b", ("a", "b")),
        ("<think></think>b", ("", "b")),
        ("<think>a", ("a", "")),
        ("<think>a</thin", ("a</thin", "")),
        ("<thin", ("", "<thin")),
        ("  ", ("", "  ")),
        ("b <think>a</think>", ("", "b <think>a</think>")),
        ("<think>a</think>b</think>", ("a", "b</think>")),
        ("<think>a < b</think>c", ("a < b", "c")),
    ],
)
def test_a_tag_at_the_start_parts_thought_from_text(text: str, parts: tuple[str, str]) -> None:
    assert split(text) == parts
    assert split(*text) == parts


def test_a_template_may_have_opened_the_tag() -> None:
    assert split("a</thi", "nk>b", inside=True) == ("a", "b")


@given(
    text=st.lists(st.sampled_from(["<think>", "</think>", "<", "thi", "nk>", "a", "\n"])).map(
        "".join
    ),
    cuts=st.sets(st.integers(0, 40), max_size=8),
)
def test_any_cut_parts_the_same(text: str, cuts: set[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if 0 < cut < len(text)), len(text)]

    assert split(*[text[a:b] for a, b in itertools.pairwise(places)]) == split(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("你好", 2), ("你好abcd", 3), ("すし초밥", 4)],
)
def test_wide_characters_count_one_and_others_a_quarter(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_calls_and_texts_of_a_message_are_counted() -> None:
    call = ToolCall(id="k", name="f", arguments={"x": "y" * 400})
    message = Message(role="assistant", parts=(Text(text="a" * 40), call))

    assert 110 < estimate_messages([message]) < 130


def test_halves_of_a_character_are_joined_or_replaced_anywhere() -> None:
    assert mend({"a\ud83e": ["\ud83e\udd80", 1, None, "é"]}) == {"a\ufffd": ["🦀", 1, None, "é"]}
