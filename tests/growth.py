"""How much more work a longer input makes: counted in calls, since no test measures time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_of(work: Callable[[], object]) -> int:
    """Calls of functions, Python's own too, that `work` makes."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[int], Callable[[], object]], *, size: int = 200) -> float:
    """How many times the calls for `size` are those for four times as much; 4 is linear."""
    for each in (work(size), work(4 * size)):
        each()  # what is made once is made now
    return calls_of(work(4 * size)) / calls_of(work(size))
