"""Names that people give: cleaned when they are taken in, folded when they are compared."""

from __future__ import annotations

import unicodedata

from teahouse.core.errors import Invalid

MAX_NAME = 64


def clean_name(name: str) -> str:
    """Normalise a display name; raises `Invalid` for one that is empty, too long or unprintable."""
    cleaned = " ".join(unicodedata.normalize("NFC", name).split())
    if not cleaned:
        raise Invalid("name_empty")
    if len(cleaned) > MAX_NAME:
        raise Invalid("name_too_long", length=len(cleaned), limit=MAX_NAME)
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in cleaned):
        raise Invalid("name_unprintable", name=ascii(cleaned))
    return cleaned


def folded(name: str) -> str:
    """The form in which two names that read alike are the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
