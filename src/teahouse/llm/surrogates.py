"""Half characters: some servers cut an emoji's two escapes apart, or lose one of them."""

from __future__ import annotations

import re
from typing import Any, cast

HALF = re.compile("[\ud800-\udfff]")


def mend(value: Any) -> Any:
    """Join halves that belong together and replace lone ones, anywhere in a JSON value."""
    match value:
        case str():
            return mend_text(value)
        case list():
            return [mend(item) for item in cast("list[Any]", value)]
        case dict():
            return {mend_text(k): mend(v) for k, v in cast("dict[str, Any]", value).items()}
        case _:
            return value


def mend_text(text: str) -> str:
    if text.isascii() or HALF.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
