from __future__ import annotations

import pytest

from teahouse.core.errors import Invalid
from teahouse.core.names import clean_name, folded

HIDDEN = [
    "Ho\u200dst",
    "Ho\u200cst",
    "\u200dHost",
    "Host\u200d",
    "茶\u200d馆",
    "🍵\u200d",
    "a\u200b",
]
FAMILY, FLAG = "👨\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈"


@pytest.mark.parametrize("name", [FAMILY, FLAG, "🧑🏽\u200d🍳", "می\u200cخواهم", "क्\u200dष"])
def test_joiners_that_show_are_part_of_a_name(name: str) -> None:
    assert clean_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "x" * 65,
        "a\u202eb",
        "a\x00b",
        "\ud800",
        "\u3164",
        "\u2800 \u2800",
        "\u0301",
        *HIDDEN,
    ],
)
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(Invalid):
        clean_name(name)


def test_names_that_read_alike_are_the_same() -> None:
    assert folded("ＡＮＮ  Lee ") == folded("ann lee")
