"""The models and agents of the house as Ollama's clients list them, and what they ask besides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from teahouse.chat.scopes import AGENT
from teahouse.core.messages import JsonObject
from teahouse.server.gateway.fields import read_object
from teahouse.server.ports import ModelEntry

SPOKEN: Final = "0.12.6"
"""The version of Ollama whose interface this is: clients refuse to talk to an old one."""

_KEPT: Final = timedelta(hours=1)


def version() -> bytes:
    return msgspec.json.encode({"version": SPOKEN})


def tags(rows: Iterable[ModelEntry], at: datetime) -> bytes:
    """`at`: a time for clients that show when a model was changed; nobody knows it."""
    models = [_head(row) | {"modified_at": _time(at)} for row in rows if row.ready]
    return msgspec.json.encode({"models": models})


def ps(rows: Iterable[ModelEntry], at: datetime) -> bytes:
    """The models that lie in this machine and are ready: those that could be in its memory."""
    times = {"expires_at": _time(at + _KEPT), "size_vram": 0}
    models = [
        _head(row) | times | {"context_length": row.context_window or 0}
        for row in rows
        if row.local and row.ready
    ]
    return msgspec.json.encode({"models": models})


def read_show(body: bytes) -> str:
    """The name of the model that a request of `/api/show` asks about."""
    given = read_object(body)
    return given.text("model") or given.need_text("name")


def show(row: ModelEntry, at: datetime) -> bytes:
    """Nobody says of a model that it calls tools; most do, and clients offer none otherwise. An
    agent has its own."""
    family = _family(row)
    info: JsonObject = {"general.architecture": family, "general.basename": row.id}
    if row.context_window is not None:
        info[f"{family}.context_length"] = row.context_window
    able = ["completion"]
    able += [] if row.id.startswith(AGENT) else ["tools"]
    able += ["vision"] if row.vision else []
    return msgspec.json.encode(
        {
            "modelfile": f"FROM {row.id}",
            "parameters": "",
            "template": "{{ .Prompt }}",
            "license": "",
            "details": _details(row),
            "model_info": info,
            "capabilities": able,
            "modified_at": _time(at),
        }
    )


def _head(row: ModelEntry) -> JsonObject:
    return {
        "name": row.id,
        "model": row.id,
        "size": 0,
        "digest": hashlib.sha256(row.id.encode()).hexdigest(),
        "details": _details(row),
    }


def _details(row: ModelEntry) -> JsonObject:
    family = _family(row)
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "",
        "quantization_level": "",
    }


def _family(row: ModelEntry) -> str:
    """A dot would be taken for the end of the architecture's name."""
    return row.provider.replace(".", "_")


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
