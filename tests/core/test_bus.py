from __future__ import annotations

from collections.abc import Sequence

import pytest

from teahouse.core import bus as bus_module
from teahouse.core.bus import Bus, Frame
from teahouse.core.clock import SystemClock
from teahouse.core.codec import decode_envelope
from teahouse.core.events import Event, PartDelta, PostAdded, Resync, StreamEnd, StreamStart
from teahouse.testing.clock import FakeClock

RUN = "r_1"


def delta(text: str) -> PartDelta:
    return PartDelta(index=0, kind="text", delta=text)


def events(frames: Sequence[Frame]) -> list[Event]:
    return [decode_envelope(frame.data).event for frame in frames]


def make(boot: int = 1) -> Bus:
    return Bus(SystemClock(), boot=boot)


def test_a_reader_that_comes_back_gets_just_what_it_missed() -> None:
    bus, seen = make(), list[Frame]()
    subscription, _ = bus.subscribe("c", seen.extend)
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1), delta("one")])
    subscription.close()
    bus.publish("c", RUN, [delta("two")])

    _, missed = bus.subscribe("c", seen.extend, after=seen[-1].seq)

    assert events(missed) == [delta("two")]


def test_a_reader_without_a_place_gets_the_running_answer_in_one_piece() -> None:
    bus = make()
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1), delta("one "), delta("two")])

    _, backlog = bus.subscribe("c", lambda _: None)

    assert events(backlog) == [Resync(), StreamStart(author="a", attempt=1), delta("one two")]


def test_a_reader_from_before_a_restart_is_brought_up_to_date_in_full() -> None:
    old, new = make(boot=1), make(boot=2)
    old.publish("c", RUN, [delta("x")] * 10)

    _, backlog = new.subscribe("c", lambda _: None, after=(1 << 32) + 10)

    assert events(backlog) == [Resync()]


def test_a_place_never_returns_even_after_a_restart() -> None:
    seen: list[Frame] = []
    for boot in (1, 2, 3):
        bus = make(boot)
        _, backlog = bus.subscribe("c", seen.extend)
        seen += backlog
        bus.publish("c", RUN, [delta("x"), delta("y")])
        seen += bus.frames("c", None, [Resync()])

    places = [frame.seq for frame in seen]
    assert places == sorted(set(places))


def test_an_ended_run_is_not_told_to_late_readers() -> None:
    bus = make()
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1), delta("one")])
    bus.publish("c", RUN, [StreamEnd(post_id="p", reason="stop")])

    _, backlog = bus.subscribe("c", lambda _: None)

    assert events(backlog) == [Resync()]
    assert bus.running("c") == ()


def test_the_memory_of_a_conversation_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_module, "RING_EVENTS", 10)
    bus = make()
    first = bus.frames("c", None, [Resync()])[0].seq
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1)])
    for number in range(1_000):
        bus.publish("c", RUN, [delta(str(number % 10))])

    _, backlog = bus.subscribe("c", lambda _: None, after=first)

    start, text = events(backlog)[1:]
    assert isinstance(start, StreamStart)
    assert text == delta("0123456789" * 100)


def test_only_deltas_may_be_dropped_for_a_slow_reader() -> None:
    bus, seen = make(), list[Frame]()
    bus.subscribe("c", seen.extend)
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1), delta("x")])

    assert [frame.droppable for frame in seen] == [False, True]


def test_an_idle_conversation_is_forgotten_and_its_places_never_return() -> None:
    clock = FakeClock()
    bus, seen = Bus(clock, boot=1), list[Frame]()
    reading, _ = bus.subscribe("read", lambda _: None)
    bus.subscribe("c", seen.extend)[0].close()
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1), delta("secret")])
    bus.publish("c", RUN, [StreamEnd(post_id="p", reason="stop")])
    before, latest = bus.lasting("c"), bus.subscribe("c", seen.extend)
    latest[0].close()

    clock.advance(bus_module.KEPT_S)
    for number in range(4):
        bus.publish(f"other {number}", None, [Resync()])
    bus.publish("read", None, [Resync()])
    _, backlog = bus.subscribe("c", seen.extend, after=before - 1)
    _, kept = bus.subscribe("read", lambda _: None, after=(1 << 32) + 1)

    assert events(backlog) == [Resync()]
    assert backlog[0].seq > latest[1][-1].seq
    assert events(kept) == [Resync()], "a conversation that somebody reads is kept"
    reading.close()


def test_all_conversations_together_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_module, "KEPT_BYTES", 10_000)
    bus = make()
    bus.subscribe("read", lambda _: None)
    for number in range(200):
        bus.publish("read", None, [Resync()])
        bus.publish(f"c_{number}", None, [Resync()])

    kept = [channel for channel in bus._channels.values() if channel.ring]  # pyright: ignore[reportPrivateUsage]
    assert sum(channel.ring_bytes for channel in kept) <= 10_000 + (200 * 150)
    assert len(kept) < 100
    assert "read" in bus._channels  # pyright: ignore[reportPrivateUsage]


def test_asking_about_a_conversation_takes_no_memory() -> None:
    bus = make()
    for number in range(100):
        bus.lasting(f"c_{number}")
        bus.running(f"c_{number}")
        bus.drop(f"c_{number}", RUN)

    assert not bus._channels  # pyright: ignore[reportPrivateUsage]


def test_what_a_dropped_run_said_is_not_told_to_late_readers() -> None:
    bus = make()
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1), delta("one")])
    bus.drop("c", RUN)

    _, backlog = bus.subscribe("c", lambda _: None)

    assert events(backlog) == [Resync()]


def test_the_newest_lasting_place_tells_whether_a_read_is_stale() -> None:
    bus = make()
    before = bus.lasting("c")
    bus.publish("c", RUN, [delta("x")])
    assert bus.lasting("c") == before

    bus.publish("c", RUN, [StreamStart(author="a", attempt=1)])
    assert bus.lasting("c") > before


def test_latest_posts_stand_between_the_resync_and_the_running_answers() -> None:
    bus = make()
    bus.publish("c", RUN, [StreamStart(author="a", attempt=1)])
    latest = [Resync()]

    _, backlog = bus.subscribe("c", lambda _: None, latest=latest)

    assert [type(event) for event in events(backlog)] == [Resync, Resync, StreamStart]
    assert not any(isinstance(event, PostAdded) for event in events(backlog))
