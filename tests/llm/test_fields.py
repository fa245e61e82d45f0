"""Vendors' JSON is read for what it may hold, and for what it can mean."""

from __future__ import annotations

import math

import pytest

from teahouse.llm.wire.fields import as_count


@pytest.mark.parametrize("value", [-1, 0, 10**30, math.inf, math.nan, -math.inf, "7", None, [7]])
def test_what_no_call_can_come_to_is_no_count(value: object) -> None:
    assert as_count({"tokens": value, "other": 7}, "tokens", "other") == 7


def test_a_count_may_be_written_with_a_point() -> None:
    assert as_count({"tokens": 7.0}, "tokens") == 7
