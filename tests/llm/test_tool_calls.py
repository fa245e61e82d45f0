"""Tool calls put together from whatever vendors stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.messages import ToolCall
from teahouse.llm.tool_calls import ToolCallAssembler


def assemble(*fragments: dict[str, Any], cut: bool = False) -> list[ToolCall]:
    assembler = ToolCallAssembler()
    for fragment in fragments:
        assembler.add(fragment)
    return [call for _, call in assembler.finish(cut=cut)[0]]


def fragment(arguments: object = "", **fields: Any) -> dict[str, Any]:
    function = {"arguments": arguments}
    if "name" in fields:
        function["name"] = fields.pop("name")
    return {"function": function, **fields}


def seen(calls: list[ToolCall]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(call.id, call.name, call.arguments) for call in calls]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=4), json_values, min_size=1, max_size=3)


@given(
    wanted=st.lists(objects, min_size=1, max_size=3),
    style=st.sampled_from(["index", "index and id", "id", "id and name", "index, id and name"]),
    data=st.data(),
)
def test_any_cut_and_order_of_fragments_gives_the_same_calls(
    wanted: list[dict[str, Any]], style: str, data: st.DataObject
) -> None:
    texts = [json.dumps(arguments) for arguments in wanted]
    fragments = [
        fragment(index=n, id=f"c{n}", name=f"f{n}") if "index" in style else
        fragment(id=f"c{n}", name=f"f{n}")
        for n in range(len(texts))
    ]  # fmt: skip
    while any(texts):
        n = data.draw(st.sampled_from([n for n, text in enumerate(texts) if text]))
        size = data.draw(st.integers(1, len(texts[n])))
        more: dict[str, Any] = {"index": n} if "index" in style else {}
        more |= {"id": f"c{n}"} if "id" in style else {}
        more |= {"name": f"f{n}"} if "name" in style else {}
        fragments.append(fragment(texts[n][:size], **more))
        texts[n] = texts[n][size:]

    assert seen(assemble(*fragments)) == [
        (f"c{n}", f"f{n}", arguments) for n, arguments in enumerate(wanted)
    ]


@given(wanted=st.lists(objects, min_size=1, max_size=4), data=st.data())
def test_calls_without_ids_that_come_glued_are_parted(
    wanted: list[dict[str, Any]], data: st.DataObject
) -> None:
    glued = "".join(json.dumps(arguments) for arguments in wanted)
    cut = data.draw(st.integers(0, len(glued)))

    calls = assemble(fragment(glued[:cut], index=0, name="f"), fragment(glued[cut:], index=0))

    assert [(call.name, call.arguments) for call in calls] == [("f", one) for one in wanted]
    assert len({call.id for call in calls}) == len(wanted)


@pytest.mark.parametrize("arguments", ["", None, " ", "null", "[]", "{}", {}])
def test_a_tool_without_parameters_may_be_called_with_anything_empty(arguments: object) -> None:
    assert seen(assemble(fragment(arguments, id="a", name="f"))) == [("a", "f", {})]


@pytest.mark.parametrize("arguments", ['{"x"', '{"x": 1} and so on', "[1]", "1", '"x"', "x"])
def test_what_is_no_object_is_kept_as_it_came_and_never_run(arguments: str) -> None:
    (call,) = assemble(fragment(arguments, id="a", name="f"))

    assert call.malformed == arguments
    assert call.arguments == {}


def test_arguments_cut_by_length_give_no_call() -> None:
    assembler = ToolCallAssembler()
    assembler.add(fragment('{"x"', id="a", name="f"))

    assert assembler.finish(cut=True) == ([], True)


def test_half_characters_in_arguments_are_mended() -> None:
    (call,) = assemble(fragment('{"x": ["a\\ud83e", "\\ud83e\\udd80"]}', id="a", name="f"))

    assert call.arguments == {"x": ["a\ufffd", "🦀"]}


def test_a_name_repeated_with_the_last_empty_fragment_begins_no_call() -> None:
    calls = assemble(
        fragment('{"x": 1}', index=0, name="f"),
        fragment("", index=0, name="f"),
    )

    assert [(call.name, call.arguments) for call in calls] == [("f", {"x": 1})]


def test_what_the_vendor_wants_back_stays_with_its_own_call() -> None:
    calls = assemble(
        fragment("{}", index=0, id="a", name="f", extra_content={"google": {"s": "1"}}),
        fragment("{}", index=1, id="b", name="g"),
    )

    assert [call.opaque for call in calls] == [{"extra_content": {"google": {"s": "1"}}}, None]
