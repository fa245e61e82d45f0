"""What a fake endpoint says in the Ollama dialect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from teahouse.testing.answers import Answer

HEADERS: Final = {"Content-Type": "application/x-ndjson"}


def line(content: str = "", *, done: str | None = None, **message: object) -> bytes:
    told: dict[str, Any] = {
        "model": "fake",
        "message": {"role": "assistant", "content": content, **message},
        "done": done is not None,
    }
    if done is not None:
        told |= {"done_reason": done, "prompt_eval_count": 5, "eval_count": 2}
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def text_answer(pieces: Sequence[str], *, thought: str = "") -> Answer:
    thoughts = [line(thinking=thought)] if thought else []
    said = [line(piece) for piece in pieces]
    return Answer(headers=HEADERS, steps=(*thoughts, *said, line(done="stop")))


def tool_answer(calls: Sequence[tuple[str, str, dict[str, Any]]]) -> Answer:
    asked = [{"id": ref, "function": {"name": name, "arguments": a}} for ref, name, a in calls]
    return Answer(headers=HEADERS, steps=(line(tool_calls=asked), line(done="stop")))
