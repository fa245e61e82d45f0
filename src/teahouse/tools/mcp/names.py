"""What models call a server's tool: `mcp__SERVER__TOOL`, in signs that every vendor takes."""

from __future__ import annotations

import hashlib
import re
from typing import Final

LONGEST: Final = 64
_PREFIX: Final = "mcp__"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")
_HASH: Final = 8


def tool_name(server: str, tool: str) -> str:
    """One name for each pair, whatever else is there: where the plain form is too long or might be
    another pair's too, a hash of the pair stands at its end."""
    plain = f"{_PREFIX}{server}__{tool}"
    parted = "__" not in server and not server.endswith("_")
    if len(plain) <= LONGEST and parted and tool and not _UNFIT.search(plain):
        return plain
    mark = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    fit = _UNFIT.sub("_", plain)[: LONGEST - _HASH - 1]
    return f"{fit}_{mark}"
