"""What the page says in each language, read from the same files as the page reads."""

from __future__ import annotations

from teahouse.core import i18n


def say(language: i18n.Language, key: str, /, **values: object) -> str:
    return i18n.text(language, f"page.{key}", **values)
