"""The SSE parser: the same events, however the network cut the bytes."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.llm.sse import EventTooLong, SseEvent, SseParser


def parse(*reads: bytes, limit: int = 1 << 20) -> list[SseEvent]:
    parser = SseParser(limit)
    events = [event for read in reads for event in parser.feed(read)]
    return events + parser.end()


def data(*reads: bytes) -> list[bytes]:
    return [event.data for event in parse(*reads)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_kind_of_line_end_ends_a_line(end: bytes) -> None:
    assert data(b"data: a" + end + b"data: b" + end + end + b"data: c" + end + end) == [
        b"a\nb",
        b"c",
    ]


def test_a_line_end_cut_between_its_two_characters_is_one_line_end() -> None:
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [b"a\nb"]


def test_unicode_separators_are_text_and_end_no_line() -> None:
    text = "x\u2028y\u2029z\u0085w".encode()

    assert data(b"data: " + text + b"\n\n") == [text]


def test_one_bom_is_dropped_and_a_second_one_is_not() -> None:
    assert data(b"\xef", b"\xbb", b"\xbfdata: a\n\n") == [b"a"]
    assert data(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n") == [b"b"]


def test_events_without_data_are_left_out() -> None:
    assert data(b"retry: 3000\n\nid: 7\n\nevent: ping\n\ndata:\n\ndata: \n\ndata: a\n\n") == [b"a"]


def test_comments_are_counted_and_never_become_events() -> None:
    parser = SseParser()

    assert parser.feed(b"id: 1\ndata: a\n\n: ping\n\n:\n\n") == [SseEvent("", b"a")]
    assert parser.comments == 2


def test_a_name_belongs_to_its_own_event_only() -> None:
    assert parse(b"event: error\ndata: a\n\ndata: b\n\n") == [
        SseEvent("error", b"a"),
        SseEvent("", b"b"),
    ]


def test_exactly_one_space_after_the_colon_is_dropped() -> None:
    assert data(b"data:a\n\ndata: b\n\ndata:  c\n\n") == [b"a", b"b", b" c"]


def test_the_last_event_needs_no_blank_line() -> None:
    assert data(b"data: a\n\ndata: [DONE]") == [b"a", b"[DONE]"]


def test_a_stream_shorter_than_a_bom_still_ends() -> None:
    assert data(b"\xef") == []
    assert data() == []


@pytest.mark.parametrize("reads", [1, 7, 64])
def test_an_event_without_end_is_refused_before_it_fills_the_memory(reads: int) -> None:
    piece = b"x" * (2048 // reads + 1)

    with pytest.raises(EventTooLong, match="1000 bytes"):
        parse(b"data: ", *[piece] * reads, limit=1000)


def test_many_lines_of_one_event_count_together() -> None:
    with pytest.raises(EventTooLong):
        parse(b"data: 0123456789\n" * 100, limit=1000)


def test_the_limit_is_for_one_event_and_not_for_the_stream() -> None:
    assert len(parse(b"data: 0123456789\n\n" * 1000, limit=1000)) == 1000


lines = st.sampled_from(
    [b"data: a", b"data:b", b"data", b"data: ", b": c", b"event: e", b"id: 1", b"", b"", b"x: y"]
) | st.binary(max_size=6).map(lambda raw: b"data: " + raw)
ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
streams = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\xef"]),
    st.lists(st.tuples(lines, ends).map(b"".join), max_size=12).map(b"".join),
).map(b"".join)


@given(stream=streams, cuts=st.lists(st.integers(0, 200), max_size=12))
def test_any_cut_of_a_stream_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[a:b] for a, b in itertools.pairwise(places)]

    assert parse(*pieces) == parse(stream)
    assert parse(*[stream[n : n + 1] for n in range(len(stream))]) == parse(stream)
