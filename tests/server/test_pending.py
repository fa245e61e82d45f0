"""What waits for a reader is bounded: deltas give way first, then the reader goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.bus import Frame
from teahouse.server.pending import Pending


def frame(seq: int, size: int = 1, *, delta: bool = False) -> Frame:
    return Frame(seq, b"x" * size, delta, None)


def taken(pending: Pending) -> list[int]:
    seqs: list[int] = []
    while pending:
        seqs.append(pending.take().seq)
    return seqs


def test_past_the_soft_limit_deltas_are_left_out_and_facts_are_not() -> None:
    pending = Pending(soft=10, hard=100)
    pending.add([frame(1, 11), frame(2, delta=True), frame(3), frame(4, delta=True)])

    assert taken(pending) == [1, 3]


def test_past_the_hard_limit_the_reader_is_given_up_and_nothing_is_kept() -> None:
    pending = Pending(soft=10, hard=100)

    assert pending.add([frame(1, 100)])
    assert not pending.add([frame(2)])
    assert not pending


def test_a_backlog_however_long_does_not_count_against_its_reader() -> None:
    pending = Pending(soft=10, hard=100)

    assert pending.add([frame(1, 500), frame(2, 500, delta=True)], owed=True)
    assert pending.add([frame(3, 5, delta=True)])
    assert taken(pending) == [1, 2, 3]
    assert not pending.add([frame(4, 101)])


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.booleans())))
def test_what_is_kept_is_in_order_and_bounded(given_frames: list[tuple[int, bool, bool]]) -> None:
    pending, facts, kept = Pending(soft=20, hard=60), [], []
    for seq, (size, delta, read) in enumerate(given_frames):
        if not pending.add([frame(seq, size, delta=delta)]):
            return
        if not delta:
            facts.append(seq)
        if read and pending:
            kept.append(pending.take().seq)
    kept += taken(pending)

    assert kept == sorted(kept)
    assert set(facts) <= set(kept)
