"""Objects out of bytes, a line each or in an array, however they are cut."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.llm.sse import EventTooLong
from teahouse.llm.wire.json_objects import JsonObjects

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from('{}[]"\\,'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=5)


def read(pieces: list[bytes]) -> list[bytes]:
    parser = JsonObjects()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return [event.data for event in [*events, *parser.end()]]


@settings(deadline=None)  # the machine may be busy
@given(
    objects=OBJECTS,
    form=st.sampled_from(["lines", "crlf", "array", "pretty", "glued", "marked"]),
    ascii_only=st.booleans(),
    data=st.data(),
)
def test_every_form_in_every_cut_gives_the_same_objects(
    objects: list[dict[str, Any]], form: str, ascii_only: bool, data: st.DataObject
) -> None:
    indent = 2 if form == "pretty" else None
    texts = [json.dumps(value, ensure_ascii=ascii_only, indent=indent) for value in objects]
    whole = {
        "lines": "\n".join(texts),
        "crlf": "\r\n".join([*texts, ""]),
        "array": f"[{','.join(texts)}\n]",
        "pretty": f"[\n{chr(10).join(texts)}\n]",
        "glued": "".join(texts),
        "marked": "\ufeff" + "\n".join(texts),
    }[form].encode("utf-8", "surrogatepass")
    inner = st.integers(1, max(1, len(whole) - 1))
    places = [0, *sorted(data.draw(st.sets(inner, max_size=30))), len(whole)]

    found = read([whole[a:b] for a, b in itertools.pairwise(places)])

    assert [json.loads(item) for item in found] == objects


def test_what_is_no_object_comes_out_to_be_refused() -> None:
    assert read([b'{"a":1}\nupstream ', b'timed out\n{"b":2}']) == [
        b'{"a":1}',
        b"upstream timed out",
        b'{"b":2}',
    ]


def test_what_was_cut_comes_out_at_the_end() -> None:
    assert read([b'{"a":1}\n{"b', b'":']) == [b'{"a":1}', b'{"b":']


def test_an_object_without_end_is_refused() -> None:
    parser = JsonObjects(limit=10)

    with pytest.raises(EventTooLong):
        parser.feed(b'{"a":"' + b"x" * 20)
