"""The most tokens that a request may come to: what a budget puts aside before it is made.

An estimate is right for prose. Here counts what a request could be made of so that it costs more:
signs and rare scripts, of which each byte may be a token, long files, schemas, and what goes along
unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from teahouse.core.codec import encode
from teahouse.core.events import Usage
from teahouse.core.messages import Blob, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.errors import TierUnpriced
from teahouse.llm.media import PDF, SOUNDS, is_address
from teahouse.llm.provider import ModelRequest
from teahouse.llm.tokens import estimate, estimate_parts, wide_and_other
from teahouse.llm.wire.effort import most_thoughts

ANSWER_TOKENS: Final = 8192  # the longest answer, where a request names none and a budget is set
_AT_WORST: Final = 2  # prose has at most this times its estimated tokens
_PER_MESSAGE: Final = 8
_PDF: Final = 300_000  # a hundred pages, which is what vendors take, each read and seen
_PDF_PER_BYTE: Final = 2
_BYTES_PER_SOUND: Final = 32  # at the lowest rate of bits in use

_TIERS: Final = frozenset({"service_tier", "serviceTier"})
_USUAL_TIERS: Final = frozenset({"auto", "default", "flex", "standard", "standard_only"})

_SIGNS = re.compile(r"[0-9!-/:-@\[-`{-~]")
_TWO_BYTES = re.compile("[\u0080-\u07ff]")
_MORE_BYTES = re.compile("[\u0800-\U0010ffff]")


def worst_of(request: ModelRequest) -> Usage:
    asked = sum(_PER_MESSAGE + _parts(message.parts) for message in request.messages)
    for beside in (request.tools, request.schema, request.own, request.extra):
        asked += at_worst(encode(beside).decode()) if beside else 0
    output = (request.max_tokens or ANSWER_TOKENS) + most_thoughts(request)
    return Usage(input=asked, written=asked, output=output)  # what a cache is given costs most


def refuse_dear_tier(request: ModelRequest) -> None:
    """Raises `TierUnpriced` where tokens may cost more than prices say."""
    for fields in (request.extra, *request.own.values()):
        for name in _TIERS & fields.keys():
            tier = fields[name]
            if not (tier is None or (isinstance(tier, str) and tier in _USUAL_TIERS)):
                raise TierUnpriced(tier)


def _parts(parts: Iterable[Part]) -> int:
    return sum(map(_part, parts))


def _part(part: Part) -> int:
    match part:
        case Text():
            return at_worst(part.text)
        case Thinking():
            return at_worst(part.text) + _unseen(part.opaque)
        case ToolCall():
            told = part.malformed or encode(part.arguments).decode()
            return at_worst(part.name) + at_worst(told) + _unseen(part.opaque)
        case ToolResult():
            return _parts(part.content)
        case Blob():
            return max(_AT_WORST * estimate_parts((part,)), _file(part))


def _unseen(opaque: object) -> int:
    return at_worst(encode(opaque).decode()) if opaque else 0


def _file(blob: Blob) -> int:
    if blob.media_type == PDF:
        return _PDF if is_address(blob) else min(_PDF, _PDF_PER_BYTE * blob.size)
    return blob.size // _BYTES_PER_SOUND if blob.media_type in SOUNDS else 0


def at_worst(text: str) -> int:
    """Tokens of a text."""
    most = _AT_WORST * estimate(text) + len(_SIGNS.findall(text))
    if text.isascii():
        return most
    wide, _ = wide_and_other(text)
    rare = len(_MORE_BYTES.findall(text)) - wide
    return most + 3 * rare + len(_TWO_BYTES.findall(text)) // 2
