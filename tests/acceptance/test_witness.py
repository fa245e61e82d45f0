"""The crash harness must be able to see each broken promise, and must not cry wolf."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from msgspec import structs

from teahouse.agent.participant import ReplyStep, ResultStep
from teahouse.chat.ports import Run
from teahouse.core.codec import encode
from teahouse.core.events import (
    Envelope,
    PartDelta,
    PartDone,
    PostAdded,
    ReplyDone,
    StreamEnd,
    StreamStart,
    ToolFinished,
    ToolStarted,
    Usage,
)
from teahouse.core.messages import Message, Post, Text, ToolCall, ToolResult
from teahouse.testing.witness import PROMISES, Ack, Reader, Stored, Witness, broken

AT = datetime(2026, 1, 1, tzinfo=UTC)
CALL = ToolCall(id="k_1", name="now", arguments={})
RESULT = ToolResult(call="k_1", content=(Text(text="noon"),))
ASKED = Post(
    id="p_1",
    conversation="c",
    parent=None,
    author="u",
    parts=(Text(text="tag-1"),),
    at=AT,
    client_id="m1",
)
REPLY = Post(
    id="p_2",
    conversation="c",
    parent="p_1",
    author="a",
    parts=(CALL, RESULT, Text(text="<tag-1 0 1>")),
    at=AT,
    run="r",
    ending="stop",
)
RUN = Run(
    id="r",
    conversation="c",
    trigger="p_1",
    participant="a",
    person="u",
    model=None,
    status="done",
    attempt=2,
    stop_asked=False,
    post="p_2",
    usage=Usage(),
    problem=None,
    created_at=AT,
    started_at=AT,
    ended_at=AT,
)
STEPS = (
    ReplyStep(
        message=Message(role="assistant", parts=(CALL,)),
        reason="tool_calls",
        usage=Usage(),
        model="fake",
    ),
    ResultStep(result=RESULT),
)
STORED = Stored(posts={"c": (ASKED, REPLY)}, runs={"r": RUN}, steps={"r": STEPS})
STREAM = (
    StreamStart(author="a", attempt=1),
    PartDone(index=0, part=CALL),
    ReplyDone(reason="tool_calls"),
    ToolStarted(call="k_1", name="now", arguments={}),
    ToolFinished(result=RESULT),
    PartDelta(index=0, kind="text", delta="<tag-1 0"),
    PartDelta(index=0, kind="text", delta=" 1>"),
    PartDone(index=0, part=Text(text="<tag-1 0 1>")),
    ReplyDone(reason="stop"),
    PostAdded(post=REPLY),
    StreamEnd(post_id="p_2", reason="stop"),
)


def frame(seq: int, event: object) -> bytes:
    return encode(Envelope(seq=seq, conversation="c", run="r", at=AT, event=event))  # type: ignore[arg-type]


def witnessed(stream: tuple[object, ...] = STREAM) -> Witness:
    witness = Witness()
    witness.acks.append(
        Ack(
            client_id="m1",
            text="tag-1",
            expected="<tag-1 0 1>",
            conversation="c",
            post="p_1",
            runs=("r",),
        )
    )
    reader = Reader("page", witness)
    for seq, event in enumerate(stream, start=1):
        reader.read(frame(seq, event))
    return witness


def promises(witness: Witness, stored: Stored) -> set[str]:
    return {one.promise for one in broken(witness, stored)}


def with_posts(*posts: Post) -> Stored:
    return structs.replace(STORED, posts={"c": posts})


def test_a_house_that_kept_its_promises_is_believed() -> None:
    assert not broken(witnessed(), STORED)


@pytest.mark.parametrize(
    ("promise", "stored"),
    [
        ("acknowledged posts lost", with_posts()),
        (
            "acknowledged posts lost",
            with_posts(structs.replace(ASKED, parts=(Text(text="tag"),)), REPLY),
        ),
        (
            "messages doubled",
            with_posts(ASKED, structs.replace(ASKED, id="p_3"), REPLY),
        ),
        (
            "replies doubled or missing",
            with_posts(ASKED, REPLY, structs.replace(REPLY, id="p_3")),
        ),
        ("replies doubled or missing", with_posts(ASKED)),
        ("runs stuck", structs.replace(STORED, runs={"r": structs.replace(RUN, status="running")})),
        ("runs stuck", structs.replace(STORED, runs={})),
        (
            "finished tool calls repeated",
            structs.replace(STORED, steps={"r": (*STEPS, ResultStep(result=RESULT))}),
        ),
        (
            "finished tool calls repeated",
            with_posts(ASKED, structs.replace(REPLY, parts=(Text(text="<tag-1 0 1>"),))),
        ),
        (
            "answers that are not whole",
            with_posts(ASKED, structs.replace(REPLY, parts=(CALL, RESULT, Text(text="<tag-1 0")))),
        ),
        (
            "answers that are not whole",
            with_posts(
                ASKED,
                structs.replace(REPLY, parts=(CALL, RESULT, Text(text="<tag-1 0 1>" * 2))),
            ),
        ),
        ("answers that are not whole", with_posts(ASKED, structs.replace(REPLY, ending="failed"))),
    ],
)
def test_what_is_wrong_in_the_house_is_seen(promise: str, stored: Stored) -> None:
    assert promise in promises(witnessed(), stored)


def told_another_result() -> Witness:
    witness = witnessed()
    witness.result("k_1", "one minute past noon")
    return witness


def began_a_call_that_is_not_recorded() -> Witness:
    return witnessed((*STREAM[:3], ToolStarted(call="k_0", name="now", arguments={})))


def acknowledged_twice_as_different_posts() -> Witness:
    witness = witnessed()
    witness.acks.append(structs.replace(witness.acks[0], post="p_9"))
    return witness


def used_a_number_twice() -> Witness:
    witness = witnessed()
    Reader("another page", witness).read(frame(3, ReplyDone(reason="length")))
    return witness


def went_back_in_number() -> Witness:
    witness = witnessed()
    reader = Reader("another page", witness)
    for seq in (2, 1):
        reader.read(frame(seq, STREAM[seq - 1]))
    return witness


def showed_another_text() -> Witness:
    return witnessed((*STREAM[:5], PartDelta(index=0, kind="text", delta="<tag-1"), STREAM[-1]))


@pytest.mark.parametrize(
    ("promise", "see"),
    [
        ("finished tool calls repeated", told_another_result),
        ("finished tool calls repeated", began_a_call_that_is_not_recorded),
        ("messages doubled", acknowledged_twice_as_different_posts),
        ("sequence numbers reused", used_a_number_twice),
        ("sequence numbers reused", went_back_in_number),
        ("readers with another text", showed_another_text),
    ],
)
def test_what_somebody_was_wrongly_told_is_seen(promise: str, see: Callable[[], Witness]) -> None:
    assert promise in promises(see(), STORED)


def test_every_promise_is_tried_here() -> None:
    tried = {
        mark.args[1][i][0]
        for test in (
            test_what_is_wrong_in_the_house_is_seen,
            test_what_somebody_was_wrongly_told_is_seen,
        )
        for mark in test.pytestmark  # type: ignore[attr-defined]
        for i in range(len(mark.args[1]))
    }

    assert tried == set(PROMISES)


def test_a_stopped_run_need_not_be_whole() -> None:
    witness = witnessed(STREAM[:1])
    witness.stops.add("r")
    cut = structs.replace(REPLY, parts=(CALL, RESULT, Text(text="<tag-1")), ending="stopped")

    assert not broken(witness, with_posts(ASKED, cut))


def test_a_second_attempt_voids_what_a_reader_had() -> None:
    second = (StreamStart(author="a", attempt=2), *STREAM[1:])

    assert not broken(witnessed((*STREAM[:7], *second)), STORED)
