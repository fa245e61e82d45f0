"""Requests of clients are read without guessing: what is wrong is named, the rest passes."""

from __future__ import annotations

import base64
import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject
from teahouse.server.gateway.dialect import Dialect
from teahouse.server.gateway.fields import Fields, read_object
from teahouse.server.gateway.openai.chat import OpenAIChat
from teahouse.server.gateway.pictures import Media
from teahouse.server.gateway.seed_chat import SeedChat

PNG = b"\x89PNG\r\n\x1a\n and more"


def refused(error: pytest.ExceptionInfo[Invalid]) -> tuple[str, dict[str, str]]:
    return error.value.code, error.value.values


def test_a_wrong_value_is_named_with_its_path_and_what_would_be_right() -> None:
    fields = read_object(b'{"messages": [{"role": "user"}, {"role": 7}]}')
    _, second = fields.objects("messages")
    with pytest.raises(Invalid) as error:
        second.text("role")
    assert refused(error) == (
        "field_wrong",
        {"field": "messages[1].role", "value": "7", "right": "string"},
    )


@pytest.mark.parametrize("value", [10**19, -(10**19), 10**400, 1e300])
def test_a_whole_number_is_one_that_everybody_can_hold(value: float) -> None:
    with pytest.raises(Invalid, match="integer ≤ 9223372036854775807"):
        Fields({"n": value}).whole("n")


@pytest.mark.parametrize("value", ["1", True, 1.5, 0, [1], {}])
def test_a_whole_number_is_neither_a_text_nor_a_flag_nor_too_small(value: object) -> None:
    with pytest.raises(Invalid, match="integer ≥ 1"):
        Fields({"n": value}).whole("n", least=1)


def test_numbers_choices_flags_and_lists_take_only_what_they_may() -> None:
    assert Fields({"n": 3.0}).whole("n") == 3
    assert Fields({"t": 1}).number("t", least=0, most=2) == 1.0
    assert Fields({"stop": "x"}).texts("stop") == ("x",)
    for wrong in (
        lambda: Fields({"t": 3}).number("t", least=0, most=2),
        lambda: Fields({"t": "1"}).number("t", least=0, most=2),
        lambda: Fields({"c": "b"}).choice("c", ("a",)),
        lambda: Fields({"c": ["a"]}).choice("c", ("a",)),
        lambda: Fields({"f": 1}).flag("f"),
        lambda: Fields({"s": ["a", 1]}).texts("s"),
        lambda: Fields({"o": []}).object("o"),
        lambda: list(Fields({"l": {}}).objects("l")),
        lambda: list(Fields({"l": ["a"]}).objects("l")),
        lambda: Fields({}).need_text("m"),
        lambda: Fields({"m": ""}).need_text("m"),
        lambda: Fields({}).need_object("m"),
    ):
        with pytest.raises(Invalid):
            wrong()


def test_half_characters_are_mended_and_do_not_cost_a_conversation() -> None:
    assert read_object(rb'{"a": "x\ud83d", "b": "\ud83d\ude00"}').values == {
        "a": "x\ufffd",
        "b": "😀",
    }


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"a"', b'{"a": NaN}', b'{"a": Infinity}', b"[" * 100_000],
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid) as error:
        read_object(body)
    assert error.value.code == "not_json"


def test_broken_utf8_is_refused_with_its_place() -> None:
    with pytest.raises(Invalid) as error:
        read_object(b'{"a": "\xff"}')
    assert refused(error) == ("not_utf8", {"position": "7"})


@given(st.binary(max_size=200))
def test_no_body_raises_anything_but_invalid(body: bytes) -> None:
    with contextlib.suppress(Invalid):
        read_object(body)


@given(st.binary(min_size=1, max_size=100), st.booleans(), st.booleans(), st.booleans())
def test_every_way_to_write_base64_gives_the_same_bytes(
    content: bytes, urlsafe: bool, bare: bool, broken: bool
) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    text = encode(content).decode()
    text = text.rstrip("=") if bare else text
    text = "\r\n".join(text[at : at + 8] for at in range(0, len(text), 8)) if broken else text
    media = Media()
    blob = media.add_data_url(f"data:application/x;base64,{text}", "f")
    assert media.media == {blob.file: content}
    assert blob.size == len(content)


def test_a_picture_is_what_its_bytes_say() -> None:
    media = Media()
    url = "data:image/jpeg;base64," + base64.b64encode(PNG).decode()
    blob = media.add_url(url, "f")
    assert (blob.media_type, blob.name) == ("image/png", "image.png")
    assert media.add_url(url, "f") == blob  # the same bytes are kept once
    assert len(media.media) == 1


@pytest.mark.parametrize("data", ["%%%", "A", "AAAA=AAA", "", "ä"])
def test_broken_base64_is_refused(data: str) -> None:
    with pytest.raises(Invalid) as error:
        Media().add_data_url(f"data:image/png;base64,{data}", "messages[0].content[1]")
    assert error.value.code == "media_base64"
    assert error.value.values["field"] == "messages[0].content[1]"


def test_an_address_stays_one() -> None:
    media = Media()
    blob = media.add_url("https://example.com/a/cat%20one.webp?x=1", "f")
    assert (blob.file, blob.media_type, blob.name) == (
        "https://example.com/a/cat%20one.webp?x=1",
        "image/webp",
        "cat one.webp",
    )
    assert media.media == {}


@pytest.mark.parametrize(
    "url",
    [
        "f_123",
        "inline:abc",
        "file:///etc/passwd",
        "https://",
        "",
        "http://[::1",
        "data:x",
        "\0http://a",
        "http://a b",
        "ht\ntp://a",
    ],
)
def test_no_client_names_a_file_of_the_house(url: str) -> None:
    with pytest.raises(Invalid) as error:
        Media().add_url(url, "f")
    assert error.value.code == "media_address"


_NAMES = (
    *("messages", "role", "content", "type", "text", "image_url", "url", "file", "file_data"),
    *("input_audio", "data", "format", "tool_calls", "toolCalls", "function", "name", "arguments"),
    *("id", "tools", "tool_choice", "parameters", "response_format", "json_schema", "schema"),
    *("reasoning", "reasoning_details", "extra_content", "teahouse", "stop", "n", "stream"),
    *("stream_options", "metadata", "user", "allowed_tools", "function_call", "max_tokens"),
)
_WORDS = ("user", "assistant", "tool", "function", "text", "image_url", "teahouse", "th1.e30=", "[")
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(_WORDS) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip
_spoken = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "function"])},
    optional={name: _values for name in _NAMES if name not in {"role", "messages"}},
)


@pytest.mark.parametrize("dialect", [OpenAIChat(), SeedChat()])
@settings(max_examples=30)
@given(st.lists(_spoken, max_size=2), st.dictionaries(st.sampled_from(_NAMES), _values))
def test_no_request_raises_anything_but_invalid(
    dialect: Dialect, messages: list[JsonObject], fields: JsonObject
) -> None:
    for body in ({"messages": messages} | fields, fields | {"messages": messages}):
        with contextlib.suppress(Invalid):
            dialect.read(json.dumps(body).encode())
