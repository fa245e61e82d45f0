"""The items of the OpenAI Responses dialect: what was said, thought and called, as clients keep it.

What a vendor wants back of a thought travels as the `encrypted_content` of its reasoning item. That
of a call has a reasoning item of its own before the call: some clients give back no field of a call
but its id, name and arguments, yet all give back reasoning items. So has what comes only after its
thought was told to the end.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from teahouse.core.messages import JsonObject, ToolCall
from teahouse.llm.any_history import as_json
from teahouse.server.gateway import carry

Kind: TypeAlias = Literal["text", "thinking"]
CALL: Final = "call"  # the id of the call whose opaque lies beside it
THOUGHT: Final = "thought"  # that of the reasoning item
OPAQUE: Final = "opaque"


class Words(Struct, frozen=True):
    """How an item of one kind is told: the events of its part and of its text."""

    prefix: str
    part: str
    text: str
    place: JsonObject
    extra: JsonObject  # of the events of the text


WORDS: Final[dict[Kind, Words]] = {
    "text": Words(
        "msg",
        "response.content_part",
        "response.output_text",
        {"content_index": 0},
        {"logprobs": []},
    ),
    "thinking": Words(
        "rs",
        "response.reasoning_summary_part",
        "response.reasoning_summary_text",
        {"summary_index": 0},
        {},
    ),
}


class Spoken(Struct):
    """An item of text or thought on its way; `delta` is the event of a piece up to that piece."""

    id: str
    kind: Kind
    place: int
    delta: bytes = b""  # empty as long as nothing of it was told
    pieces: list[str] = field(default_factory=list[str])
    opaque: JsonObject | None = None
    closed: bool = False


def message_item(identity: str, text: str, status: str = "completed") -> JsonObject:
    return {
        "id": identity,
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [text_content(text)],
    }


def text_content(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def summary(text: str) -> JsonObject:
    return {"type": "summary_text", "text": text}


def reasoning_item(
    identity: str, text: str, opaque: JsonObject | None, status: str = "completed"
) -> JsonObject:
    return {
        "id": identity,
        "type": "reasoning",
        "summary": [summary(text)] if text else [],
        "encrypted_content": carry.pack(opaque) if opaque else None,
        "status": status,
    }


def seal_of_call(identity: str, call: str, opaque: JsonObject) -> JsonObject:
    """What stands before the call and bears its `opaque`."""
    return reasoning_item(identity, "", {CALL: call, OPAQUE: opaque})


def seal_of_thought(identity: str, thought: str, opaque: JsonObject) -> JsonObject:
    """What comes after the reasoning item of the id `thought` and bears its `opaque`."""
    return reasoning_item(identity, "", {THOUGHT: thought, OPAQUE: opaque})


def call_item(identity: str, call: ToolCall) -> JsonObject:
    return {
        "id": identity,
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": as_json(call.arguments) if call.malformed is None else call.malformed,
        "status": "completed",
    }


def place_of(item: Spoken) -> JsonObject:
    return {"item_id": item.id, "output_index": item.place} | WORDS[item.kind].place


def content_of(kind: Kind, text: str) -> JsonObject:
    return text_content(text) if kind == "text" else summary(text)


def item_of(item: Spoken, text: str, status: str) -> JsonObject:
    if item.kind == "text":
        return message_item(item.id, text, status)
    return reasoning_item(item.id, text, item.opaque, status)
