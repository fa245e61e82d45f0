"""Embeddings in OpenAI's words and in Ollama's: a client's request in ours, and the answer back."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from teahouse.core.messages import JsonObject
from teahouse.llm.embedding import Embedded, EmbedRequest, Input, Vector, floats, packed
from teahouse.server.gateway.reading import Fields, read_object

_KNOWN = frozenset({"model", "input", "dimensions", "encoding_format"})
_INPUT = "string | string[] | integer[] | integer[][], not empty"


class EmbedAsked(Struct, frozen=True, kw_only=True):
    """`model` is the name as the client wrote it; `request.model` is not read."""

    model: str
    request: EmbedRequest


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


def read_ollama_embed(body: bytes) -> EmbedAsked:
    """Of `POST /api/embed`. Raises `Invalid`."""
    fields = read_object(body)
    texts = fields.texts("input") if fields.has("input") else fields.missing("input")
    return _ollama_asked(fields, texts or fields.wrong("input", "string | string[], not empty"))


def ollama_embed_answer(asked: EmbedAsked, embedded: Embedded, took_s: float) -> bytes:
    return msgspec.json.encode(
        {
            "model": asked.model,
            "embeddings": [_numbers(vector) for vector in embedded.vectors],
            "total_duration": round(took_s * 1e9),
            "load_duration": 0,
            "prompt_eval_count": embedded.usage.input,
        }
    )


def read_ollama_embedding(body: bytes) -> EmbedAsked:
    """Of the older `POST /api/embeddings`, which takes one text. Raises `Invalid`."""
    fields = read_object(body)
    return _ollama_asked(fields, (fields.need_text("prompt"),))


def ollama_embedding_answer(embedded: Embedded) -> bytes:
    return msgspec.json.encode({"embedding": _numbers(embedded.vectors[0])})


def _ollama_asked(fields: Fields, inputs: tuple[str, ...]) -> EmbedAsked:
    own = ("truncate", "options", "keep_alive")
    rest: JsonObject = {name: fields.raw(name) for name in own if fields.has(name)}
    return EmbedAsked(
        model=fields.need_text("model"),
        request=EmbedRequest(
            inputs=inputs,
            dimensions=fields.whole("dimensions", least=1),
            own={"ollama": rest} if rest else {},
        ),
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
