"""What a fake endpoint says in the Gemini dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teahouse.testing.answers import Answer, frame


def chunk(parts: Sequence[dict[str, Any]], finish: str | None = None, **counts: int) -> bytes:
    """One event; `counts` are `prompt=`, `candidates=`, `thoughts=`."""
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    told: dict[str, Any] = {"candidates": [candidate], "modelVersion": "fake"}
    if counts:
        told["usageMetadata"] = {f"{name}TokenCount": n for name, n in counts.items()}
    return frame(told)


def text_answer(pieces: Sequence[str], *, thought: str = "") -> Answer:
    parts = [{"text": thought, "thought": True}] if thought else []
    said = [chunk([*parts, {"text": piece}]) for piece in pieces]
    return Answer(steps=(*said, chunk([], "STOP", prompt=5, candidates=len(pieces))))


def tool_answer(calls: Sequence[tuple[str, str, dict[str, Any]]]) -> Answer:
    parts = [{"functionCall": {"id": ref, "name": name, "args": a}} for ref, name, a in calls]
    return Answer(steps=(chunk(parts, "STOP", prompt=5, candidates=len(calls)),))
