"""The smallest interface of the gateway, `POST /chat`: three kinds of events, for a page or curl.

It always streams. What a program need not show (thoughts) is not told here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from teahouse.core.codec import encode
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent
from teahouse.core.messages import JsonObject, Message, Part, Text, ToolCall, ToolResult
from teahouse.llm.provider import ModelRequest
from teahouse.server.gateway.broken_call import arguments_of, read_arguments
from teahouse.server.gateway.carry import pack, unpack
from teahouse.server.gateway.dialect import Asked, Refusal
from teahouse.server.gateway.fields import Fields, read_object
from teahouse.server.gateway.vocabulary import tool_of
from teahouse.server.lines import one_line

_ROLES: Final = ("system", "user", "assistant", "tool")
_TOKEN: Final = b'data: {"type":"token","content":'
_TOKEN_END: Final = b"}\n\n"


class SeedChat:
    stream_type = "text/event-stream; charset=utf-8"

    def read(self, body: bytes, /) -> Asked:
        fields = read_object(body)
        messages = tuple(_message(message) for message in fields.objects("messages"))
        if not messages:
            fields.wrong("messages", "object[] (length ≥ 1)")
        request = ModelRequest(
            model="",
            messages=messages,
            tools=tuple(tool_of(tool) for tool in fields.objects("tools")),
            temperature=fields.number("temperature", least=0, most=2),
            max_tokens=fields.whole("maxTokens", least=1),
        )
        return Asked(model=fields.text("model") or None, request=request, stream=True)

    def voice(self, asked: Asked, model: str, /) -> SeedVoice:
        return SeedVoice()

    def refuse(self, refusal: Refusal, /) -> bytes:
        return encode(_error(refusal))


class SeedVoice:
    def __init__(self) -> None:
        self._told: dict[int, list[str]] = {}  # what of each part has been told

    def begin(self) -> bytes:
        return b""

    def beat(self) -> bytes:
        return b": ping\n\n"

    def fail(self, refusal: Refusal, /) -> bytes:
        return _event(_error(refusal))

    def tell(self, batch: Sequence[StreamEvent], /) -> bytes:
        said: list[bytes] = []
        for event in batch:
            match event:
                case PartDelta(kind="text"):
                    said.append(self._token(event.index, event.delta))
                case PartDone():
                    said += self._part(event.index, event.part)
                case ReplyDone():
                    said.append(_event(_done(event)))
                case _:
                    pass
        return b"".join(said)

    def whole(self, events: Sequence[StreamEvent], /) -> bytes:
        return self.tell(events)

    def _token(self, index: int, text: str) -> bytes:
        self._told.setdefault(index, []).append(text)
        return _TOKEN + one_line(encode(text)) + _TOKEN_END

    def _part(self, index: int, part: Part) -> Iterable[bytes]:
        """Whatever of the part has not been told yet: it need not have come in pieces."""
        had = "".join(self._told.get(index, ()))
        if isinstance(part, Text) and part.text != had and part.text.startswith(had):
            yield self._token(index, part.text[len(had) :])
        elif isinstance(part, ToolCall) and index not in self._told:
            self._told[index] = []
            yield _event({"type": "toolCall", "call": _call(part)})


def _event(value: JsonObject) -> bytes:
    return b"data: " + one_line(encode(value)) + b"\n\n"


def _call(call: ToolCall) -> JsonObject:
    """`carry` comes back with the call where its vendor wants something back."""
    told: JsonObject = {"id": call.id, "name": call.name, "arguments": arguments_of(call)}
    return told | ({"carry": pack(call.opaque)} if call.opaque else {})


def _done(done: ReplyDone) -> JsonObject:
    usage = {
        "input": done.usage.input,
        "output": done.usage.output,
        "total": done.usage.input + done.usage.output,
        "cached": done.usage.cached,
    }
    return {"type": "done", "usage": usage, "reason": done.reason}


def _error(refusal: Refusal) -> JsonObject:
    return {"type": "error", "error": {"code": refusal.code, "message": refusal.message}}


def _message(message: Fields) -> Message:
    role = message.choice("role", _ROLES) or message.missing("role")
    calls = [_called(call) for call in message.objects("toolCalls")]
    if not message.has("content") and not calls:
        message.missing("content")
    text = message.text("content")
    said = (Text(text=text),) if text else ()
    if role == "tool":
        result = ToolResult(call=message.need_text("toolCallId"), content=said)
        return Message(role="tool", parts=(result,))
    return Message(role=role, parts=(*said, *(calls if role == "assistant" else ())))


def _called(call: Fields) -> ToolCall:
    arguments, malformed = read_arguments(call.need_object("arguments").values)
    carried = call.text("carry")
    return ToolCall(
        id=call.need_text("id"),
        name=call.need_text("name"),
        arguments=arguments,
        malformed=malformed,
        opaque=unpack(carried) if carried else None,
    )
