"""Embeddings of Ollama's dialect: `POST /api/embed`."""

from __future__ import annotations

from typing import Any, cast

from teahouse.core.events import Usage
from teahouse.core.messages import JsonObject
from teahouse.llm.embedding import Embedded, EmbedRequest, estimate_inputs
from teahouse.llm.wire.fields import as_count, as_object
from teahouse.llm.wire.http import HttpWire
from teahouse.llm.wire.vectors import given, read_vectors, text_of


class OllamaMedia(HttpWire):
    async def embed(self, request: EmbedRequest) -> Embedded:
        asked: JsonObject = {
            "model": request.model,
            "input": [text_of(self.name, one) for one in request.inputs],
            **given(dimensions=request.dimensions),
            **request.fields("ollama"),
        }
        body, _ = await self._whole(self._call("/api/embed", asked))
        told = as_object(self._decoded(body))
        found = told.get("embeddings")
        rows = cast("list[Any]", found) if isinstance(found, list) else []
        counted = as_count(told, "prompt_eval_count")
        guess = Usage(input=estimate_inputs(request.inputs), estimated=True)
        return Embedded(
            vectors=read_vectors(self.name, rows, len(request.inputs)),
            usage=Usage(input=counted) if counted else guess,
        )
