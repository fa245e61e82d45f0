"""Text that a person must be able to trust: what could hide or disguise something is spelt out."""

from __future__ import annotations

import json
import unicodedata
from typing import Final

from teahouse.core.messages import JsonObject

_SCRIPTS: Final = ("CJK ", "HIRAGANA ", "KATAKANA ", "HANGUL ", "BOPOMOFO ", "IDEOGRAPHIC ")
_PUNCTUATION: Final = "，。、：；？！（）《》〈〉「」『』【】〔〕“”‘’…—·～￥"
_EMOJI: Final = 0x1F300
_LATIN: Final = range(0xC0, 0x180)  # letters with marks, as one character


def visible(text: str) -> str:
    """The same text with every character as `\\u{…}` that is not plain ASCII, Chinese, Japanese or
    Korean: those that cannot be seen, turn the direction, or look like others."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if _is_plain(letter) else f"\\u{{{ord(letter):04x}}}" for letter in text)


def shown(arguments: JsonObject) -> list[str]:
    """The arguments of a call, each in one line; strings are quoted, so that nothing breaks out."""
    return [
        f"{visible(name)}: {visible(json.dumps(value, ensure_ascii=False))}"
        for name, value in arguments.items()
    ]


def _is_plain(letter: str) -> bool:
    if letter.isascii():
        return letter.isprintable()
    category = unicodedata.category(letter)
    if category == "So":
        return ord(letter) >= _EMOJI
    if category[0] != "L":
        return letter in _PUNCTUATION
    name = unicodedata.name(letter, "")
    cjk = name.startswith(_SCRIPTS) and "FILLER" not in name
    return cjk or ord(letter) in _LATIN
