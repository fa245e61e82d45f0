"""What clients of a crashing server were told, and the promises that this must keep.

`Witness` collects while the server is killed again and again; `broken` then compares it with what
the server holds in the end. A promise that is broken comes back as one line that names the ids.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from teahouse.agent.participant import ReplyStep, Step
from teahouse.chat.ports import Run
from teahouse.core.codec import decode_envelope
from teahouse.core.events import (
    Envelope,
    RunEvent,
    StreamEnd,
    StreamStart,
    ToolFinished,
    ToolStarted,
    unfinished,
)
from teahouse.core.messages import Part, Post, Text, ToolCall, ToolResult, text_of

PROMISES = (
    "acknowledged posts lost",
    "messages doubled",
    "replies doubled or missing",
    "runs stuck",
    "finished tool calls repeated",
    "answers that are not whole",
    "sequence numbers reused",
    "readers with another text",
)


class Ack(Struct, frozen=True, kw_only=True):
    """A 202 for one `client_id`. `expected` is how the whole reply must end."""

    client_id: str
    text: str
    expected: str
    conversation: str
    post: str
    runs: tuple[str, ...]


class Told(Struct, frozen=True, kw_only=True):
    """How a run ended on one reader's screen."""

    reader: str
    run: str
    post: str
    parts: tuple[Part, ...]


class Stored(Struct, frozen=True, kw_only=True):
    """What the server holds when all is over."""

    posts: Mapping[str, Sequence[Post]]  # by conversation
    runs: Mapping[str, Run]
    steps: Mapping[str, Sequence[Step]]  # by run


class Broken(Struct, frozen=True):
    promise: str
    what: str


class Witness(Struct, kw_only=True):
    acks: list[Ack] = field(default_factory=list[Ack])
    stops: set[str] = field(default_factory=set[str])  # runs that somebody asked to stop
    told: list[Told] = field(default_factory=list[Told])
    frames: int = 0
    results: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    started: set[str] = field(default_factory=set[str])  # tool calls, whose ids are unique
    disorder: list[str] = field(default_factory=list[str])
    numbers: dict[tuple[str, int], bytes] = field(default_factory=dict[tuple[str, int], bytes])

    @property
    def work(self) -> int:
        """How much has been done so far; frames are no measure, since reloads repeat them."""
        return len(self.acks) + len(self.results) + len(self.told)

    def frame(self, envelope: Envelope, data: bytes) -> None:
        """A frame with this number reached somebody. Others who get the number get the same."""
        self.frames += 1
        place = (envelope.conversation, envelope.seq)
        digest = hashlib.blake2b(data, digest_size=8).digest()
        if self.numbers.setdefault(place, digest) != digest:
            self.disorder.append(f"{place[0]} has two frames {place[1]}")

    def result(self, call: str, text: str) -> None:
        """Somebody was told that this call is finished, with this result."""
        self.results[call].add(text)


class Reader:
    """Follows the reader's law: what a page would show, from one connection after another."""

    def __init__(self, name: str, witness: Witness) -> None:
        self.name, self._witness = name, witness
        self.seq: int | None = None
        self._live: dict[str, list[RunEvent]] = {}

    def reset(self) -> None:
        """The page was reloaded: it knows nothing any more."""
        self.seq, self._live = None, {}

    def read(self, data: bytes) -> Envelope:
        envelope = decode_envelope(data)
        self._witness.frame(envelope, data)
        if self.seq is not None and envelope.seq <= self.seq:
            self._witness.disorder.append(
                f"{self.name} got {envelope.seq} after {self.seq} in {envelope.conversation}"
            )
        self.seq = envelope.seq
        if envelope.run is not None and isinstance(envelope.event, RunEvent):
            self._run(envelope.run, envelope.event)
        return envelope

    def _run(self, run: str, event: RunEvent) -> None:
        witness = self._witness
        if isinstance(event, StreamStart):
            self._live[run] = []
        live = self._live.get(run)
        if live is None:
            return  # it joined in the middle, without a resync: nothing to say of this run
        match event:
            case ToolStarted():
                witness.started.add(event.call)
            case ToolFinished():
                witness.result(event.result.call, said(event.result))
            case StreamEnd():
                parts = unfinished(self._live.pop(run))
                told = Told(reader=self.name, run=run, post=event.post_id, parts=parts)
                witness.told.append(told)
                return
            case _:
                pass
        live.append(event)


def broken(witness: Witness, stored: Stored) -> list[Broken]:
    """Every promise that was not kept."""
    return [
        *(Broken(PROMISES[0], what) for what in _lost(witness, stored)),
        *(Broken(PROMISES[1], what) for what in _doubled_messages(witness, stored)),
        *(Broken(PROMISES[2], what) for what in _replies(witness, stored)),
        *(Broken(PROMISES[3], what) for what in _stuck(witness, stored)),
        *(Broken(PROMISES[4], what) for what in _repeated(witness, stored)),
        *(Broken(PROMISES[5], what) for what in _not_whole(witness, stored)),
        *(Broken(PROMISES[6], what) for what in witness.disorder),
        *(Broken(PROMISES[7], what) for what in _other_text(witness, stored)),
    ]


def _all_posts(stored: Stored) -> Iterator[Post]:
    for posts in stored.posts.values():
        yield from posts


def _lost(witness: Witness, stored: Stored) -> Iterator[str]:
    posts = {post.id: post for post in _all_posts(stored)}
    for ack in witness.acks:
        post = posts.get(ack.post)
        if post is None:
            yield f"{ack.post} ({ack.client_id}) is gone"
        elif post.text != ack.text:
            yield f"{ack.post} ({ack.client_id}) says {post.text!r}, not {ack.text!r}"


def _doubled_messages(witness: Witness, stored: Stored) -> Iterator[str]:
    answers = defaultdict[str, set[tuple[str, tuple[str, ...]]]](set)
    for ack in witness.acks:
        answers[ack.client_id].add((ack.post, ack.runs))
    for client_id, different in answers.items():
        if len(different) > 1:
            yield f"{client_id} was acknowledged as {sorted(different)}"
    times = Counter(post.client_id for post in _all_posts(stored) if post.client_id)
    for client_id, count in times.items():
        if count > 1:
            yield f"{client_id} stands {count} times"


def _replies(witness: Witness, stored: Stored) -> Iterator[str]:
    times = Counter(post.run for post in _all_posts(stored) if post.run)
    for ack in witness.acks:
        if len(ack.runs) != 1:
            yield f"{ack.post} woke {len(ack.runs)} runs"
        for run in ack.runs:
            if times[run] != 1:
                yield f"{run} has {times[run]} replies"
    for conversation, posts in stored.posts.items():
        asked = sum(1 for post in posts if post.run is None)
        if len(posts) != 2 * asked:
            yield f"{conversation} has {asked} messages and {len(posts) - asked} replies"


def _stuck(witness: Witness, stored: Stored) -> Iterator[str]:
    for run in {run for ack in witness.acks for run in ack.runs}:
        found = stored.runs.get(run)
        if found is None or found.status in {"queued", "running"} or found.post is None:
            yield f"{run} is {found.status if found else 'gone'}"


def _repeated(witness: Witness, stored: Stored) -> Iterator[str]:
    """A call that began stands in its run's post, once, with the one result that all were told."""
    results = {call: set(seen) for call, seen in witness.results.items()}
    begun, posted = set(witness.started), set[str]()
    for run, steps in stored.steps.items():
        recorded = [part for step in steps for part in _parts(step)]
        yield from _held_twice(run, recorded)
        begun |= _calls(recorded, results)
    for post in _all_posts(stored):
        if post.run:
            yield from _held_twice(post.run, post.parts)
            posted |= _calls(post.parts, results)
    for call, seen in results.items():
        if len(seen) > 1:
            yield f"{call} was made {len(seen)} times: {sorted(seen)}"
    for call in begun - posted:
        yield f"{call} had begun, and no answer knows of it: it was made anew"


def _parts(step: Step) -> tuple[Part, ...]:
    return step.message.parts if isinstance(step, ReplyStep) else (step.result,)


def _held_twice(run: str, parts: Sequence[Part]) -> Iterator[str]:
    times = Counter(part.call for part in parts if isinstance(part, ToolResult))
    yield from (f"{run} holds {call} {count} times" for call, count in times.items() if count > 1)


def _calls(parts: Sequence[Part], results: dict[str, set[str]]) -> set[str]:
    """The calls among `parts`; what their results say is added to `results`."""
    for part in parts:
        if isinstance(part, ToolResult):
            results.setdefault(part.call, set()).add(said(part))
    return {part.id for part in parts if isinstance(part, ToolCall)}


def _not_whole(witness: Witness, stored: Stored) -> Iterator[str]:
    replies = {post.run: post for post in _all_posts(stored) if post.run}
    for ack in witness.acks:
        for run in ack.runs:
            reply = replies.get(run)
            if reply is None or run in witness.stops:
                continue
            if reply.ending != "stop" or reply.text.count(ack.expected) != 1:
                problem = reply.problem.message if reply.problem else ""
                yield f"{run} ended ({reply.ending}) with {reply.text[-200:]!r} {problem}"


def _other_text(witness: Witness, stored: Stored) -> Iterator[str]:
    posts = {post.id: post for post in _all_posts(stored)}
    for told in witness.told:
        post = posts.get(told.post)
        if post is None:
            yield f"{told.reader} was shown {told.post}, which is gone"
        elif text_of(told.parts) != post.text:
            yield f"{told.reader} shows {text_of(told.parts)!r} for {post.id}: {post.text!r}"


def said(result: ToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, Text))
