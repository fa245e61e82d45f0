"""What a fake endpoint says in the Anthropic dialect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from teahouse.testing.answers import Answer


def event(kind: str, **fields: object) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def start(prompt: int = 5) -> bytes:
    usage = {"input_tokens": prompt, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake"}
    return event("message_start", message={**message, "content": [], "usage": usage})


def block(index: int, given: dict[str, Any], *deltas: dict[str, Any]) -> list[bytes]:
    """One block: as it begins, what is added, its end."""
    return [
        event("content_block_start", index=index, content_block=given),
        *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
        event("content_block_stop", index=index),
    ]


def end(reason: str, completion: int) -> list[bytes]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    usage = {"output_tokens": completion}
    return [event("message_delta", delta=delta, usage=usage), event("message_stop")]


def text(index: int, pieces: Sequence[str]) -> list[bytes]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def thinking(index: int, thought: str, signature: str) -> list[bytes]:
    return block(
        index,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": thought},
        {"type": "signature_delta", "signature": signature},
    )


def text_answer(pieces: Sequence[str], *, thought: str = "", signature: str = "c2ln") -> Answer:
    """A whole reply in pieces."""
    thoughts = thinking(0, thought, signature) if thought else []
    said = text(1 if thought else 0, pieces)
    return Answer(steps=(start(), *thoughts, *said, *end("end_turn", len(pieces))))


def tool_answer(calls: Sequence[tuple[str, str, dict[str, Any]]]) -> Answer:
    """A reply that asks for tools: `(id, name, arguments)` each."""
    steps: list[bytes] = []
    for index, (call, name, arguments) in enumerate(calls):
        head: dict[str, Any] = {"type": "tool_use", "id": call, "name": name, "input": {}}
        piece = json.dumps(arguments, ensure_ascii=False)
        steps += block(index, head, {"type": "input_json_delta", "partial_json": piece})
    return Answer(steps=(start(), *steps, *end("tool_use", len(calls))))
