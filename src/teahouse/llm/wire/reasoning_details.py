"""OpenRouter's `reasoning_details`: thoughts and signatures, given back as they came."""

from __future__ import annotations

from teahouse.core.messages import JsonObject

_GROWING = ("text", "summary", "data", "signature")


def merge_details(known: list[JsonObject], fragments: list[JsonObject]) -> None:
    """Add streamed fragments to `known`: those of one type and index that follow are one block."""
    for new in fragments:
        last = known[-1] if known else None
        if last is None or any(last.get(key) != new.get(key) for key in ("type", "index")):
            known.append(dict(new))
            continue
        for key, value in new.items():
            grows = key in _GROWING and isinstance(value, str) and isinstance(last.get(key), str)
            if grows:
                last[key] += value
            elif value is not None:
                last[key] = value
