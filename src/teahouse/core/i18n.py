"""Texts in the reader's language, from one set of locale files that page, CLI and prompts share.

`locales/LANGUAGE/AREA.json` holds flat keys; a full key is `AREA.KEY`, holes are `{name}`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Language: TypeAlias = Literal["en-US", "zh-CN", "zh-HK"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
DEFAULT: Language = "en-US"
FOLDER = Path(__file__).parents[1] / "locales"  # importlib.resources is slow to load
AREAS = ("errors", "cli", "page", "prompts")

# zh-HK falls back to plain zh, whose texts are those of zh-CN, and then to English
_CHAINS: dict[Language, tuple[Language, ...]] = {
    "en-US": ("en-US",),
    "zh-CN": ("zh-CN", "en-US"),
    "zh-HK": ("zh-HK", "zh-CN", "en-US"),
}


def text(language: Language, key: str, /, **values: object) -> str:
    """Return the text of `key`, its holes filled; raises `KeyError` when no language has it."""
    for candidate in _CHAINS[language]:
        found = texts(candidate).get(key)
        if found is not None:
            return fill(found, values)
    raise KeyError(key)


def has(key: str) -> bool:
    return key in texts(DEFAULT)


def fill(template: str, values: dict[str, object]) -> str:
    """Put `values` into the holes. A hole without a value stays as it is."""
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return template


@cache
def texts(language: Language) -> dict[str, str]:
    """All texts written in `language` itself, without fallback."""
    found: dict[str, str] = {}
    for area in AREAS:
        path = FOLDER / language / f"{area}.json"
        if path.is_file():
            read = json.loads(path.read_text(encoding="utf-8"))
            found |= {f"{area}.{key}": value for key, value in read.items()}
    return found


def match(tag: str | None) -> Language | None:
    """Find which of our languages a locale name (`zh_HK.UTF-8`, `zh-Hant`, `en`) means."""
    if not tag:
        return None
    parts = tag.split(".")[0].replace("_", "-").lower().split("-")
    if parts[0] == "en":
        return "en-US"
    if parts[0] == "zh":
        return "zh-HK" if {"hk", "tw", "mo", "hant"} & set(parts[1:]) else "zh-CN"
    return None


def resolve(environment: str | None, setting: str | None, system: str | None) -> Language:
    """The language to speak: environment before setting before system, else English."""
    return match(environment) or match(setting) or match(system) or DEFAULT
