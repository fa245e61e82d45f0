"""Embeddings in Ollama's words, of its interface of now and the one before, there and back."""

from __future__ import annotations

import msgspec

from teahouse.core.messages import JsonObject
from teahouse.llm.embedding import Embedded, EmbedRequest, Vector, floats
from teahouse.server.gateway.dialect import EmbedAsked
from teahouse.server.gateway.fields import Fields, read_object


def read_embed(body: bytes) -> EmbedAsked:
    """Of `POST /api/embed`. Raises `Invalid`."""
    fields = read_object(body)
    texts = fields.texts("input") if fields.has("input") else fields.missing("input")
    return _asked(fields, texts or fields.wrong("input", "string | string[], not empty"))


def embed_answer(asked: EmbedAsked, embedded: Embedded, took_s: float) -> bytes:
    return msgspec.json.encode(
        {
            "model": asked.model,
            "embeddings": [_numbers(vector) for vector in embedded.vectors],
            "total_duration": round(took_s * 1e9),
            "load_duration": 0,
            "prompt_eval_count": embedded.usage.input,
        }
    )


def read_embedding(body: bytes) -> EmbedAsked:
    """Of the older `POST /api/embeddings`, which takes one text. Raises `Invalid`."""
    fields = read_object(body)
    return _asked(fields, (fields.need_text("prompt"),))


def embedding_answer(embedded: Embedded) -> bytes:
    return msgspec.json.encode({"embedding": _numbers(embedded.vectors[0])})


def _asked(fields: Fields, inputs: tuple[str, ...]) -> EmbedAsked:
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
