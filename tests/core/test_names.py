from __future__ import annotations

import pytest

from teahouse.core.errors import Invalid
from teahouse.core.names import clean_name, folded


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\u202eb", "a\x00b", "\ud800"])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(Invalid):
        clean_name(name)


def test_names_that_read_alike_are_the_same() -> None:
    assert folded("ＡＮＮ  Lee ") == folded("ann lee")
