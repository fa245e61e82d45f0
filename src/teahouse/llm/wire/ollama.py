"""Ollama's own dialect: `POST /api/chat`, streamed line by line."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from teahouse.core.errors import ProviderError
from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.transport import Exchange
from teahouse.llm.wire.fields import as_object
from teahouse.llm.wire.http import Asked, Framing
from teahouse.llm.wire.json_objects import JsonObjects
from teahouse.llm.wire.ollama_body import ollama_body
from teahouse.llm.wire.ollama_media import OllamaMedia
from teahouse.llm.wire.ollama_stream import OllamaStream

_OTHER_DOORS: Final = re.compile(r"/(v1|api)$")
_SHOWN_S: Final = 2.0  # what may be spent on asking about each model of the list
_WINDOW: Final = ".context_length"  # behind the name of the model's architecture


class Ollama(OllamaMedia):
    models_path = "/api/tags"
    accept = "application/x-ndjson"
    _thoughtless: frozenset[str] = frozenset()
    """Models of the list that cannot think: they refuse to be told to."""

    async def _ask(self, request: ModelRequest, profile: Profile, input_estimate: int) -> Asked:
        origin = f"{self.name}/{request.model}"
        if request.model in self._thoughtless:
            profile = replace(profile, thinks=False)
        body = await ollama_body(request, profile, origin=origin, files=self._files)
        reply = OllamaStream(self.name, request.model, profile, input_estimate=input_estimate)
        return Asked("/api/chat", body, reply)

    def _base(self, base_url: str) -> str:
        return _OTHER_DOORS.sub("", base_url)

    def _framing(self, exchange: Exchange, data: bytes) -> Framing:
        if data.lstrip()[:1] in {b"{", b"[", b"\xef"}:
            return JsonObjects()
        return super()._framing(exchange, data)  # some proxies make events of the lines

    async def models(self) -> Sequence[ModelInfo]:
        """The list does not say what a model can do; asking for each is cheap, it is read from
        the head of its file."""
        found = list(await super().models())
        thoughtless: set[str] = set()
        try:
            async with asyncio.timeout(_SHOWN_S):
                for place, info in enumerate(found):
                    told = as_object(await self._fetch(self._call("/api/show", {"model": info.id})))
                    able = _able(told)
                    if able and "thinking" not in able:
                        thoughtless.add(info.id)
                    found[place] = _told_of(info, told)
        except (TimeoutError, ProviderError):
            pass  # then the rest stays unknown
        self._thoughtless = frozenset(thoughtless)
        return found

    def _info(self, row: JsonObject) -> ModelInfo:
        return ModelInfo(id=str(row.get("model") or row.get("name") or row.get("id") or ""))


def _told_of(info: ModelInfo, told: JsonObject) -> ModelInfo:
    facts = as_object(told.get("model_info"))
    window = next((v for k, v in facts.items() if k.endswith(_WINDOW) and isinstance(v, int)), None)
    able = _able(told)
    vision = None if able is None else "vision" in able
    return replace(info, context_window=window, vision=vision)


def _able(told: JsonObject) -> list[Any] | None:
    able = told.get("capabilities")
    return cast("list[Any]", able) if isinstance(able, list) else None
