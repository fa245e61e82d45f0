from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.codec import decode_envelope, decode_event, encode
from teahouse.core.events import (
    Envelope,
    PartDelta,
    PartDone,
    ReplyDone,
    RunEvent,
    StreamStart,
    ToolFinished,
    Unknown,
    Usage,
    compact,
    fold,
    unfinished,
)
from teahouse.core.messages import Text, Thinking, ToolCall, ToolResult

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
parts = st.one_of(
    st.builds(Text, text=texts),
    st.builds(Thinking, text=texts, opaque=st.none() | st.just({"signature": "AB=="})),
    st.builds(ToolCall, id=texts, name=texts, arguments=st.just({"x": [1, "二"]})),
)


@st.composite
def reply(draw: st.DrawFn) -> list[RunEvent]:
    events: list[RunEvent] = []
    for index, part in enumerate(draw(st.lists(parts, max_size=3))):
        kind = {Text: "text", Thinking: "thinking", ToolCall: "tool_call"}[type(part)]
        events += [PartDelta(index=index, kind=kind, delta=d) for d in draw(st.lists(texts))]
        events.append(PartDone(index=index, part=part))
    events.append(ReplyDone(reason="stop", usage=Usage(input=1, output=2)))
    results = st.builds(ToolResult, call=texts, content=st.tuples(st.builds(Text, text=texts)))
    events += [ToolFinished(result=r) for r in draw(st.lists(results, max_size=2))]
    return events


@st.composite
def runs(draw: st.DrawFn) -> list[RunEvent]:
    events: list[RunEvent] = [StreamStart(author="a_1", attempt=1)]
    for events_of_reply in draw(st.lists(reply(), max_size=3)):
        events += events_of_reply
    return events[: draw(st.integers(1, len(events)))]


@given(runs())
def test_a_shortened_run_means_the_same(events: list[RunEvent]) -> None:
    assert fold(compact(events)) == fold(events)
    assert unfinished(compact(events)) == unfinished(events)
    assert compact(compact(events)) == compact(events)


@given(runs())
def test_folding_survives_json(events: list[RunEvent]) -> None:
    assert fold(decode_event(encode(event)) for event in events) == fold(events)


@given(runs())
def test_a_late_reader_sees_every_character_that_was_streamed(events: list[RunEvent]) -> None:
    def open_text(stream: list[RunEvent]) -> str:
        return "".join(event.delta for event in stream if isinstance(event, PartDelta))

    cut = [event for event in events if not isinstance(event, PartDone)]
    assert open_text(compact(cut)).translate({}) in _concatenations(cut)


def _concatenations(events: list[RunEvent]) -> list[str]:
    by_place: dict[tuple[int, int], str] = {}
    reply_number = 0
    for event in events:
        if isinstance(event, ReplyDone):
            reply_number += 1
        if isinstance(event, PartDelta):
            key = (reply_number, event.index)
            by_place[key] = by_place.get(key, "") + event.delta
    return ["".join(by_place.values())]


def test_a_new_attempt_voids_the_one_before() -> None:
    first = [StreamStart(author="a", attempt=1), PartDone(index=0, part=Text(text="old"))]
    again = [StreamStart(author="a", attempt=2), PartDone(index=0, part=Text(text="new"))]

    assert fold([*first, *again]).text == "new"
    assert compact([*first, *again]) == again


def test_a_cut_run_keeps_what_had_come_but_no_half_tool_call() -> None:
    events: list[RunEvent] = [
        PartDelta(index=0, kind="thinking", delta="hm"),
        PartDelta(index=1, kind="text", delta="你"),
        PartDelta(index=1, kind="text", delta="好"),
        PartDelta(index=2, kind="tool_call", delta='{"x":'),
    ]

    assert unfinished(events) == (Thinking(text="hm"), Text(text="你好"))


def test_an_event_of_a_newer_version_is_kept_with_its_bytes() -> None:
    data = b'{"type":"hologram","depth":3}'

    assert decode_event(data) == Unknown(type="hologram", raw=data)


def test_an_envelope_survives_json() -> None:
    envelope = Envelope(
        seq=7,
        conversation="c_1",
        run="r_1",
        at=datetime(2026, 1, 2, tzinfo=UTC),
        event=PartDelta(index=0, kind="text", delta="茶"),
    )

    assert decode_envelope(encode(envelope)) == envelope
