"""A person sees what is there, and nothing that was made to mislead them."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from teahouse.core.visible import shown, visible


@pytest.mark.parametrize(
    "text", ["git commit -m 'tea'", "写入 茶单.md，共 3 行。", "é", "🍵", "かな"]
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    "letter",
    ["\x1b", "\n", "\t", "\x9b", "\u202e", "\u2066", "\u200b", "\u3164", "\u00a0", "с", "ａ"],
)
def test_what_hides_turns_or_looks_alike_is_spelt_out(letter: str) -> None:
    assert visible(f"a{letter}b") == f"a\\u{{{ord(letter):04x}}}b"


def test_no_character_gets_through_that_moves_the_cursor_or_cannot_be_seen() -> None:
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        if unicodedata.category(letter)[0] in "CMZ" and letter != " ":
            assert visible(letter) == f"\\u{{{code:04x}}}"


def test_an_argument_stays_in_its_line() -> None:
    lines = shown({"command": "ls\nrm -rf x\x1b[2J\u2028", "n": [1, "\u202e"]})

    assert lines == [
        'command: "ls\\nrm -rf x\\u001b[2J\\u{2028}"',
        'n: [1, "\\u{202e}"]',
    ]
