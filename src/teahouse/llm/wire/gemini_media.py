"""Embeddings of Google's dialect: `POST /models/MODEL:batchEmbedContents`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from teahouse.core.events import Usage
from teahouse.core.messages import JsonObject
from teahouse.llm.embedding import Embedded, EmbedRequest, Input, estimate_inputs
from teahouse.llm.wire.fields import as_count, as_object, as_objects
from teahouse.llm.wire.http import HttpWire
from teahouse.llm.wire.vectors import given, read_vectors, text_of

_MOST = 100  # contents in one request


class GeminiMedia(HttpWire):
    async def embed(self, request: EmbedRequest) -> Embedded:
        """A long list goes in several requests, one after the other."""
        found: list[Any] = []
        counted = 0
        for start in range(0, len(request.inputs), _MOST):
            told = await self._embed(request, request.inputs[start : start + _MOST])
            found += [row.get("values") for row in as_objects(told.get("embeddings"))]
            counted += as_count(as_object(told.get("usageMetadata")), "promptTokenCount")
        guess = Usage(input=estimate_inputs(request.inputs), estimated=True)
        return Embedded(
            vectors=read_vectors(self.name, found, len(request.inputs)),
            usage=Usage(input=counted) if counted else guess,
        )

    async def _embed(self, request: EmbedRequest, inputs: Sequence[Input]) -> JsonObject:
        model = request.model if "/" in request.model else f"models/{request.model}"
        rows = [
            {
                "model": model,
                "content": {"parts": [{"text": text_of(self.name, one)}]},
                **given(outputDimensionality=request.dimensions),
                **request.fields("gemini"),
            }
            for one in inputs
        ]
        call = self._call(f"/{quote(model)}:batchEmbedContents", {"requests": rows})
        body, _ = await self._whole(call)
        return as_object(self._decoded(body))
