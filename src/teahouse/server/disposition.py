"""Names of downloads in a header that takes only ASCII (RFC 6266)."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote


def attachment(name: str) -> str:
    return f"attachment; {_name(name)}"


def inline(name: str) -> str:
    return f"inline; {_name(name)}"


def _name(name: str) -> str:
    """Without path separators, and without the characters that turn or hide a name."""
    kept = "".join("_" if c in '/\\"' else c for c in name if unicodedata.category(c)[0] != "C")
    kept = kept.strip() or "file"
    plain = kept.encode("ascii", "replace").decode().replace("?", "_")
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(kept, safe='')}"
