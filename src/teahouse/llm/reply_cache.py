"""A middleware that answers a request which was answered before, word for word, without a call.

A person gets only what was said to that person. Nothing is kept that calls a tool or broke off.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from teahouse.core.clock import SystemClock
from teahouse.core.codec import encode
from teahouse.core.events import ReplyDone, StreamEvent, Usage
from teahouse.llm.pipeline import Answer, Batch, Call, Stages

NOTE = "cache"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    entries: Annotated[int, Meta(ge=1, le=100_000)] = 256
    seconds: Annotated[float, Meta(gt=0)] = 3600


def cache(options: Mapping[str, Any]) -> Stages:
    given, clock = msgspec.convert(options, Options), SystemClock()
    kept: OrderedDict[bytes, tuple[float, list[StreamEvent]]] = OrderedDict()

    async def before_call(call: Call) -> Call | Answer:
        name = _name(call)
        at, events = kept.get(name, (0.0, []))
        if events and clock.monotonic() - at < given.seconds:
            kept.move_to_end(name)
            return Answer(events)
        call.notes[NOTE] = name, list[StreamEvent]()
        return call

    def on_event(call: Call) -> Any:
        name, events = call.notes.get(NOTE, (None, []))

        def seen(batch: Batch) -> Batch:
            if name is not None:
                events.extend(batch)
            return batch

        return seen

    def on_finish(call: Call, error: BaseException | None) -> None:
        name, events = call.notes.get(NOTE, (None, []))
        done = events[-1] if events else None
        if name is None or not isinstance(done, ReplyDone) or done.reason != "stop":
            return
        kept[name] = clock.monotonic(), [*events[:-1], replace(done, usage=Usage())]
        kept.move_to_end(name)
        while len(kept) > given.entries:
            kept.popitem(last=False)

    return Stages(before_call=before_call, on_event=on_event, on_finish=on_finish)


def _name(call: Call) -> bytes:
    """Of all that was asked; files that came along count by their bytes."""
    request = call.request
    brought = {file: hashlib.sha256(data).hexdigest() for file, data in request.media.items()}
    asked = call.model, replace(request, media={}), sorted(brought.items()), call.caller.person
    return hashlib.sha256(encode(asked)).digest()
