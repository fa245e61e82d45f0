"""Embeddings in OpenAI's words (`POST /v1/embeddings`), there and back."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from teahouse.llm.embedding import Embedded, EmbedRequest, Input, Vector, floats, packed
from teahouse.server.gateway.dialect import EmbedAsked
from teahouse.server.gateway.fields import Fields, read_object

_KNOWN = frozenset({"model", "input", "dimensions", "encoding_format"})
_INPUT = "string | string[] | integer[] | integer[][], not empty"


def read_embeddings(body: bytes) -> EmbedAsked:
    """Raises `Invalid`. Fields that nobody here knows go to endpoints that are like OpenAI's."""
    fields = read_object(body)
    packed = fields.choice("encoding_format", ("float", "base64")) == "base64"
    rest = {name: value for name, value in fields.values.items() if name not in _KNOWN}
    return EmbedAsked(
        model=fields.need_text("model"),
        request=EmbedRequest(
            inputs=_inputs(fields),
            dimensions=fields.whole("dimensions", least=1),
            packed=packed,
            own={"openai_chat": rest} if rest else {},
        ),
    )


def embeddings_answer(asked: EmbedAsked, embedded: Embedded) -> bytes:
    """Numbers or base64, as was asked, whichever the vendor gave."""
    form = packed if asked.request.packed else _numbers
    count = embedded.usage.input
    rows = [
        {"object": "embedding", "index": place, "embedding": form(vector)}
        for place, vector in enumerate(embedded.vectors)
    ]
    return msgspec.json.encode(
        {
            "object": "list",
            "data": rows,
            "model": asked.model,
            "usage": {"prompt_tokens": count, "total_tokens": count},
        }
    )


def _numbers(vector: Vector) -> list[float]:
    return list(floats(vector))


def _inputs(fields: Fields) -> tuple[Input, ...]:
    value = fields.raw("input")
    if value is None:
        fields.missing("input")
    if isinstance(value, str):
        return (value,)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    if items and all(isinstance(one, str) for one in items):
        return tuple(items)
    if _are_tokens(items):
        return (tuple(items),)
    if items and all(_are_tokens(one) for one in items):
        return tuple(tuple(one) for one in items)
    return fields.wrong("input", _INPUT)


def _are_tokens(value: object) -> bool:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return bool(items) and all(type(one) is int for one in items)
