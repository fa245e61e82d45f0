"""Names that people give: cleaned when they are taken in, folded when they are compared."""

from __future__ import annotations

import unicodedata

from teahouse.core.errors import Invalid

MAX_NAME = 64

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_VIRAMA = 9  # the combining class of those signs
_EMOJI_MODIFIERS = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and signs that show nothing


def clean_name(name: str) -> str:
    """Normalise a display name; raises `Invalid` for one that is empty, too long or unprintable."""
    cleaned = " ".join(unicodedata.normalize("NFC", name).split())
    if not cleaned:
        raise Invalid("name_empty")
    if len(cleaned) > MAX_NAME:
        raise Invalid("name_too_long", length=len(cleaned), limit=MAX_NAME)
    if not any(_is_visible(character) for character in cleaned):
        raise Invalid("name_empty")
    if any(_hides(cleaned, place) for place in range(len(cleaned))):
        raise Invalid("name_unprintable", name=ascii(cleaned))
    return cleaned


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNPS" and character not in _BLANKS


def _hides(name: str, place: int) -> bool:
    """Whether the character there cannot be seen: so two names could look alike, or turn round.

    Joiners are allowed where they do show: between emoji, and in scripts that are spelt with them
    (RFC 5892, appendix A).
    """
    character = name[place]
    if character not in (_ZWNJ, _ZWJ):
        return unicodedata.category(character) in ("Cc", "Cf", "Cs")
    before, after = name[:place].rstrip(_EMOJI_MODIFIERS)[-1:], name[place + 1 : place + 2]
    if not before or not after:
        return True
    if unicodedata.combining(name[place - 1]) == _VIRAMA:
        return False
    if character == _ZWJ:
        return not unicodedata.category(before) == unicodedata.category(after) == "So"
    return not unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"


def folded(name: str) -> str:
    """The form in which two names that read alike are the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
