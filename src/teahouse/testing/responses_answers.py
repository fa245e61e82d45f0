"""What a fake endpoint says in the OpenAI Responses dialect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from teahouse.testing.answers import Answer


def event(kind: str, **fields: object) -> bytes:
    data = json.dumps({"type": f"response.{kind}", **fields}, ensure_ascii=False)
    return f"event: response.{kind}\ndata: {data}\n\n".encode()


def response(status: str = "in_progress", **more: object) -> dict[str, object]:
    given = {"id": "resp_1", "object": "response", "status": status, "model": "fake"}
    return {**given, "output": [], "usage": None, **more}


def end(completion: int, prompt: int = 5, status: str = "completed") -> bytes:
    usage = {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return event(status, response=response(status, usage=usage))


def text(index: int, pieces: Sequence[str], **more: object) -> list[bytes]:
    """One message of one text; `more` is what else stands in it."""
    whole: dict[str, Any] = {"type": "output_text", "text": "".join(pieces), "annotations": []}
    item = {"id": f"msg_{index}", "type": "message", "role": "assistant", **more}
    place = {"output_index": index, "item_id": item["id"], "content_index": 0}
    began: dict[str, Any] = {**item, "status": "in_progress", "content": []}
    done = {**item, "status": "completed", "content": [whole]}
    return [
        event("output_item.added", output_index=index, item=began),
        *(event("output_text.delta", **place, delta=piece) for piece in pieces),
        event("output_text.done", **place, text=whole["text"]),
        event("output_item.done", output_index=index, item=done),
    ]


def reasoning(index: int, summary: str, sealed: str) -> list[bytes]:
    item = {"id": f"rs_{index}", "type": "reasoning"}
    place = {"output_index": index, "item_id": item["id"], "summary_index": 0}
    told = [{"type": "summary_text", "text": summary}]
    done = {**item, "summary": told, "encrypted_content": sealed}
    return [
        event("output_item.added", output_index=index, item={**item, "summary": []}),
        event("reasoning_summary_text.delta", **place, delta=summary),
        event("output_item.done", output_index=index, item=done),
    ]


def text_answer(pieces: Sequence[str], *, thought: str = "", sealed: str = "c2VhbA==") -> Answer:
    """A whole reply in pieces."""
    thoughts = reasoning(0, thought, sealed) if thought else []
    said = text(1 if thought else 0, pieces)
    began = event("created", response=response())
    return Answer(steps=(began, *thoughts, *said, end(len(pieces))))


def tool_answer(calls: Sequence[tuple[str, str, dict[str, Any]]]) -> Answer:
    """A reply that asks for tools: `(id, name, arguments)` each."""
    steps: list[bytes] = [event("created", response=response())]
    for index, (call, name, arguments) in enumerate(calls):
        item = {"id": f"fc_{index}", "type": "function_call", "call_id": call, "name": name}
        piece = json.dumps(arguments, ensure_ascii=False)
        place = {"output_index": index, "item_id": item["id"]}
        steps += [
            event("output_item.added", output_index=index, item={**item, "arguments": ""}),
            event("function_call_arguments.delta", **place, delta=piece),
            event("output_item.done", output_index=index, item={**item, "arguments": piece}),
        ]
    return Answer(steps=(*steps, end(len(calls))))
