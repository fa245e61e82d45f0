"""Replies of every kind, as a provider may stream them: parts side by side, in any batches."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from teahouse.core.events import PartDelta, PartDone, Reason, ReplyDone, StreamEvent
from teahouse.core.messages import Part, Text, Thinking, ToolCall, Usage

_texts = st.text('ab 好\u2028\x85\n"\\', min_size=1, max_size=12)
_opaque = st.fixed_dictionaries(
    {"origin": st.just("v/m"), "given": st.dictionaries(_texts, _texts)}
)
_arguments: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    _texts, st.none() | _texts | st.integers(-9, 9) | st.lists(_texts, max_size=2), max_size=2
)


class Told(Struct, frozen=True):
    events: list[StreamEvent]
    batches: list[list[StreamEvent]]
    reason: Reason


@st.composite
def replies(draw: st.DrawFn) -> Told:
    """A part begins after those before it, but may go on, end, or be signed long after them."""
    parts = [_part(draw, place) for place in range(draw(st.integers(0, 5)))]
    coming = [_events(draw, place, part) for place, part in enumerate(parts)]
    events: list[StreamEvent] = []
    begun = 0
    while any(coming):
        going_on = [queue for queue in coming[:begun] if queue]
        if begun < len(coming) and (not going_on or draw(st.booleans())):
            begun += 1
            events.append(coming[begun - 1].pop(0))
        else:
            events.append(draw(st.sampled_from(going_on)).pop(0))
    calls = any(isinstance(part, ToolCall) for part in parts)
    ends: list[Reason] = ["tool_calls"] if calls else ["stop", "length", "content_filter"]
    reason = draw(st.sampled_from(ends))
    events.append(ReplyDone(reason=reason, usage=Usage(input=9, output=3)))
    return Told(events, _batches(draw, events), reason)


def _part(draw: st.DrawFn, place: int) -> Part:
    match draw(st.sampled_from(["text", "thinking", "sealed", "call", "malformed"])):
        case "text":
            return Text(text=draw(_texts))
        case "thinking":
            return Thinking(text=draw(_texts), opaque=draw(st.none() | _opaque))
        case "sealed":
            return Thinking(text="", opaque=draw(_opaque))
        case "call":
            opaque = draw(st.none() | _opaque)
            return ToolCall(id=f"c{place}", name="f", arguments=draw(_arguments), opaque=opaque)
        case _:
            return ToolCall(id=f"c{place}", name="f", arguments={}, malformed='{"a": ')


def _events(draw: st.DrawFn, index: int, part: Part) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    if isinstance(part, ToolCall):
        events.append(PartDelta(index=index, kind="tool_call", delta="{"))
    elif isinstance(part, Text | Thinking) and part.text and draw(st.booleans()):
        middle = draw(st.integers(0, len(part.text)))
        kind = "text" if isinstance(part, Text) else "thinking"
        pieces = filter(None, (part.text[:middle], part.text[middle:]))
        events += [PartDelta(index=index, kind=kind, delta=piece) for piece in pieces]
    if isinstance(part, Thinking) and part.text and part.opaque and draw(st.booleans()):
        events.append(PartDone(index=index, part=Thinking(text=part.text)))
    return [*events, PartDone(index=index, part=part)]


def _batches(draw: st.DrawFn, events: list[StreamEvent]) -> list[list[StreamEvent]]:
    batches: list[list[StreamEvent]] = []
    rest = events
    while rest:
        length = draw(st.integers(1, len(rest)))
        batches.append(rest[:length])
        rest = rest[length:]
    return batches
