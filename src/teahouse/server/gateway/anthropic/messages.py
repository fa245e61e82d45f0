"""Anthropic's Messages as a front dialect: every model of the house for clients that speak it."""

from __future__ import annotations

from typing import Final

import msgspec

from teahouse.core.codec import encode
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tokens import estimate, estimate_messages
from teahouse.server.gateway.anthropic.read import read_messages
from teahouse.server.gateway.anthropic.voice import MessagesVoice, refusal_body
from teahouse.server.gateway.dialect import Asked, Refusal

_PER_TOOL: Final = 10  # what stands around its name, description and schema


class Messages:
    """`POST /v1/messages`."""

    stream_type = "text/event-stream"

    def read(self, body: bytes, /) -> Asked:
        return read_messages(body)

    def read_to_count(self, body: bytes, /) -> Asked:
        """A request of `POST /v1/messages/count_tokens`, which is never made."""
        return read_messages(body, to_count=True)

    def voice(self, asked: Asked, model: str, /) -> MessagesVoice:
        return MessagesVoice(model, tokens_of(asked) if asked.stream else 0)

    def refuse(self, refusal: Refusal, /) -> bytes:
        return msgspec.json.encode(refusal_body(refusal))


def count(asked: Asked) -> bytes:
    """The answer of `count_tokens`: an estimate, as vendors count each in their own way."""
    return msgspec.json.encode({"input_tokens": tokens_of(asked)})


def tokens_of(asked: Asked) -> int:
    request = asked.request
    return estimate_messages(request.messages) + sum(map(_of_tool, request.tools))


def _of_tool(tool: ToolSpec) -> int:
    told = tool.name + tool.description + encode(tool.parameters).decode()
    return _PER_TOOL + estimate(told)
