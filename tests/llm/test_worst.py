"""No request costs more than was put aside for it, whatever it is made of."""

from __future__ import annotations

import pytest

from teahouse.core.messages import Blob, Message, Part, Text, Thinking, ToolCall, ToolResult
from teahouse.llm.provider import ModelRequest
from teahouse.llm.tokens import estimate
from teahouse.llm.worst import at_worst, worst_of


def asked(*parts: Part, **more: object) -> int:
    message = Message(role="user", parts=parts)
    return worst_of(ModelRequest(model="m", messages=(message,), **more)).input  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["\U0001f9ff" * 100, "\u12a0" * 100, "\u0f40" * 100])
def test_each_byte_of_a_rare_sign_may_be_a_token(text: str) -> None:
    assert at_worst(text) >= 3 * len(text)


@pytest.mark.parametrize("text", ["1234567890" * 10, "{[(;,:)]}" * 10])
def test_each_digit_and_sign_may_be_a_token(text: str) -> None:
    assert at_worst(text) >= len(text)


@pytest.mark.parametrize("text", ["A cup of green tea, please. " * 20, "请给我一杯绿茶。" * 20])
def test_prose_is_put_aside_little_more_than_twice(text: str) -> None:
    assert 2 * estimate(text) <= at_worst(text) <= 2.3 * estimate(text)


def test_a_long_pdf_is_more_than_a_picture() -> None:
    pdf = Blob(file="f_1", media_type="application/pdf", name="a.pdf", size=200_000)
    far = Blob(file="https://a.example/a.pdf", media_type="application/pdf", name="a", size=0)
    sound = Blob(file="f_2", media_type="audio/mp3", name="a.mp3", size=3_200_000)

    assert asked(pdf) >= 300_000
    assert asked(far) >= 300_000
    assert asked(sound) >= 100_000
    assert asked(ToolResult(call="c", content=(pdf,))) >= 300_000


def test_what_goes_along_unseen_counts_too() -> None:
    long = {"is": "word " * 1000}
    bare = asked(Text(text="hi"))

    for more in (
        asked(Text(text="hi"), schema=long),
        asked(Text(text="hi"), own={"openai_chat": {"prediction": long}}),
        asked(Text(text="hi"), Thinking(text="", opaque=long)),
        asked(Text(text="hi"), ToolCall(id="c", name="n", arguments={}, opaque=long)),
    ):
        assert more > bare + 2000
