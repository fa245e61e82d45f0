"""Live events for readers: a bounded memory per conversation, and push to whoever listens.

Deltas are never rows. A reader that comes back with `after` gets what it missed from the ring; one
that was away too long gets a `resync`, and then each running answer as it stands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeAlias

from msgspec import Struct

from teahouse.core.clock import Clock
from teahouse.core.codec import encode
from teahouse.core.events import (
    Envelope,
    Event,
    PartDelta,
    Resync,
    RunEvent,
    StreamEnd,
    StreamStart,
    compact,
)
from teahouse.core.messages import ConversationId, RunId

RING_EVENTS = 4_096
RING_BYTES = 4 << 20
KEPT_S = 900.0  # how long the memory of a conversation outlives its last event and reader
KEPT_BYTES = 64 << 20  # of all conversations; past it those that nobody reads go sooner
COMPACT_EVERY = 256


class Frame(Struct, frozen=True):
    """An encoded envelope. A slow reader may lose those that are `droppable`, never others."""

    seq: int
    data: bytes
    droppable: bool
    run: RunId | None


Sink: TypeAlias = Callable[[Sequence[Frame]], None]


class Subscription:
    """A reader's place in a conversation. `close` is idempotent."""

    def __init__(self, channel: _Channel, sink: Sink) -> None:
        self._channel, self._sink = channel, sink

    def close(self) -> None:
        self._channel.sinks.pop(self, None)


class _Channel:
    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.ring: deque[Frame] = deque()
        self.ring_bytes = 0
        self.dropped = seq  # the highest seq that is no longer in the ring
        self.lasting = seq  # the highest seq of a frame that is no delta
        self.sinks: dict[Subscription, Sink] = {}
        self.running: dict[RunId, list[RunEvent]] = {}
        self.used = 0.0  # when something happened here last, by the monotonic clock


class Bus:
    """One per process. `boot` rises at each start, so that a `seq` is never used twice."""

    def __init__(self, clock: Clock, *, boot: int) -> None:
        self._clock = clock
        # Where a channel begins: behind every place of those that were let go.
        self._first = boot << 32  # below 2**53 for two million starts: exact in JavaScript
        self._channels: dict[ConversationId, _Channel] = {}  # the one used longest ago first
        self._bytes = 0  # of all rings

    def publish(
        self, conversation: ConversationId, run: RunId | None, events: Sequence[Event]
    ) -> None:
        """Give `events` their places and push them to every reader, as one batch."""
        channel = self._channel(conversation)
        frames = [self._frame(channel, conversation, run, event) for event in events]
        before = channel.ring_bytes
        for frame in frames:
            channel.ring.append(frame)
            channel.ring_bytes += len(frame.data)
            if not frame.droppable:
                channel.lasting = frame.seq
        while len(channel.ring) > RING_EVENTS or channel.ring_bytes > RING_BYTES:
            old = channel.ring.popleft()
            channel.ring_bytes -= len(old.data)
            channel.dropped = old.seq
        self._bytes += channel.ring_bytes - before
        if run is not None:
            _remember(channel.running, run, events)
        for sink in list(channel.sinks.values()):
            sink(frames)

    def subscribe(
        self,
        conversation: ConversationId,
        sink: Sink,
        *,
        after: int | None = None,
        latest: Sequence[Event] = (),
    ) -> tuple[Subscription, list[Frame]]:
        """Begin to listen; return also the frames that bring the reader up to date.

        Those are to be sent first. When the ring cannot tell what the reader missed they are a
        `resync`, the events of `latest`, and the story so far of each running answer.
        """
        channel = self._channel(conversation)
        subscription = Subscription(channel, sink)
        channel.sinks[subscription] = sink
        if after is not None and channel.dropped <= after <= channel.seq:
            return subscription, [frame for frame in channel.ring if frame.seq > after]
        backlog = self.frames(conversation, None, [Resync(), *latest])
        for run, events in channel.running.items():
            backlog += self.frames(conversation, run, compact(events))
        return subscription, backlog

    def frames(
        self, conversation: ConversationId, run: RunId | None, events: Sequence[Event]
    ) -> list[Frame]:
        """Give `events` their places without pushing them: for one reader alone."""
        channel = self._channel(conversation)
        return [self._frame(channel, conversation, run, event) for event in events]

    def lasting(self, conversation: ConversationId) -> int:
        """The `seq` of the newest frame that is no delta: it tells whether a read is stale."""
        channel = self._channels.get(conversation)
        return self._first if channel is None else channel.lasting

    def running(self, conversation: ConversationId) -> Sequence[RunId]:
        channel = self._channels.get(conversation)
        return () if channel is None else tuple(channel.running)

    def drop(self, conversation: ConversationId, run: RunId) -> None:
        """Forget what a run has said so far: nobody will tell its end."""
        channel = self._channels.get(conversation)
        if channel is not None:
            channel.running.pop(run, None)

    def forget(self, conversation: ConversationId) -> None:
        """Forget all that was said in a conversation: it is gone for good."""
        channel = self._channels.pop(conversation, None)
        if channel is not None:
            self._first = max(self._first, channel.seq)
            self._bytes -= channel.ring_bytes

    def _channel(self, conversation: ConversationId) -> _Channel:
        channel = self._channels.pop(conversation, None)
        if channel is None:
            channel = _Channel(self._first)
        self._channels[conversation] = channel
        channel.used = self._clock.monotonic()
        self._let_go(channel.used)
        return channel

    def _let_go(self, now: float) -> None:
        """Forget idle conversations. Those that somebody reads move up in the order instead."""
        others = min(2, len(self._channels) - 1)  # two at a time: more than ever come anew
        for conversation, channel in list(islice(self._channels.items(), others)):
            if now - channel.used < KEPT_S and self._bytes <= KEPT_BYTES:
                return
            if channel.sinks or channel.running:
                channel.used = now
                self._channels[conversation] = self._channels.pop(conversation)
            else:
                self.forget(conversation)

    def _frame(
        self, channel: _Channel, conversation: ConversationId, run: RunId | None, event: Event
    ) -> Frame:
        channel.seq += 1
        envelope = Envelope(
            seq=channel.seq, conversation=conversation, run=run, at=self._clock.now(), event=event
        )
        return Frame(channel.seq, encode(envelope), isinstance(event, PartDelta), run)


def _remember(running: dict[RunId, list[RunEvent]], run: RunId, events: Sequence[Event]) -> None:
    for event in events:
        if isinstance(event, StreamStart):
            running[run] = []
        if isinstance(event, StreamEnd):
            running.pop(run, None)
        elif run in running and isinstance(event, RunEvent):
            running[run].append(event)
            if len(running[run]) % COMPACT_EVERY == 0:
                running[run] = compact(running[run])
