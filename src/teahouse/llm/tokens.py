"""How many tokens a text has, roughly: for limits, and where an endpoint reports no usage.

CJK characters count one each, all others four to a token. Within a third of the vendors' counts
for prose; code and rare scripts have more tokens than this says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from teahouse.core.codec import encode
from teahouse.core.messages import Blob, Message, Part, Text, Thinking, ToolCall, ToolResult

_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_OTHERS_PER_TOKEN = 4
_IMAGE = 1000  # a picture of usual size, by the larger vendors' rules
_PER_MESSAGE = 4  # role and separators


def estimate(text: str) -> int:
    wide = len(_CJK.findall(text))
    return wide - (wide - len(text)) // _OTHERS_PER_TOKEN


def wide_and_other(text: str) -> tuple[int, int]:
    """How many CJK characters a text has, and how many others."""
    wide = len(_CJK.findall(text))
    return wide, len(text) - wide


def estimate_messages(messages: Iterable[Message]) -> int:
    return sum(_PER_MESSAGE + estimate_parts(message.parts) for message in messages)


def estimate_parts(parts: Iterable[Part]) -> int:
    return sum(map(_of_part, parts))


def _of_part(part: Part) -> int:
    match part:
        case Text() | Thinking():
            return estimate(part.text)
        case ToolCall():
            return estimate(part.name) + estimate(part.malformed or encode(part.arguments).decode())
        case ToolResult():
            return estimate_parts(part.content)
        case Blob():
            return _IMAGE
