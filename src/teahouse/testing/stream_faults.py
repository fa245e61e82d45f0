"""How a provider's stream of events is spoilt, each way once: faults for tests of what stands above
the wire (retries, fallbacks, the tool-call loop) that need no socket.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, Usage
from teahouse.core.messages import Part, Text, Thinking, ToolCall
from teahouse.llm.errors import (
    AuthenticationFailed,
    Busy,
    ContentFiltered,
    ContextTooLong,
    EndpointError,
    Malformed,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    Resting,
    StreamCut,
    TimedOut,
    Unreachable,
)

Batches: TypeAlias = AsyncGenerator[Sequence[StreamEvent], None]
Spoil: TypeAlias = Callable[[Batches, random.Random], Batches]


class StreamFault(Struct, frozen=True, kw_only=True):
    """`spoil` takes a sound stream and gives the spoilt one. `ends` as of a `WireFault`, for one
    attempt; `silent`: it is over only when somebody's deadline is."""

    name: str
    about: str
    ends: tuple[type[ProviderError] | None, ...]
    spoil: Spoil
    silent: bool = False


def fails(error: ProviderError, *, after: int | None = 0, name: str = "") -> StreamFault:
    """Raises `error` after so many events of the sound stream; None: at a place drawn by lot."""

    async def spoil(sound: Batches, chance: random.Random) -> Batches:
        left = chance.randrange(4) if after is None else after
        async with aclosing(sound) as batches:
            if left == 0:
                raise _again(error)
            async for batch in batches:
                if len(batch) >= left:
                    yield batch[:left]
                    raise _again(error)
                yield batch
                left -= len(batch)
        raise _again(error)

    return StreamFault(
        name=name or error.code,
        about=f"raises {type(error).__name__}",
        ends=(type(error),),
        spoil=spoil,
    )


def _again(error: ProviderError) -> ProviderError:
    """The same error without the traceback of its last time, which would grow for ever."""
    return error.with_traceback(None)


def _waiting(error: EndpointError, seconds: float) -> EndpointError:
    error.retry_after_s = seconds
    return error


_ERRORS: Final[Mapping[str, ProviderError]] = {
    "authentication": AuthenticationFailed("faulty"),
    "quota": QuotaExceeded("faulty"),
    "rate_limited": RateLimited("faulty"),
    "rate_limited_briefly": _waiting(RateLimited("faulty"), 0.5),
    "rate_limited_for_long": _waiting(RateLimited("faulty"), 1e9),
    "overloaded": Overloaded("faulty"),
    "context_too_long": ContextTooLong("faulty"),
    "content_filtered": ContentFiltered("faulty"),
    "refused_request": RequestRefused("faulty"),
    "malformed": Malformed("faulty"),
    "late_connect": TimedOut("faulty", "connect", 1),
    "late_first_event": TimedOut("faulty", "first_event", 1),
    "late_idle": TimedOut("faulty", "idle", 1),
    "late_total": TimedOut("faulty", "total", 1),
    "cut": StreamCut("faulty"),
    "unreachable": Unreachable("faulty"),
    "busy": Busy("faulty", 1),
    "resting": Resting("faulty/m", 30),
}


async def _no_end(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound) as batches:
        async for batch in batches:
            yield [event for event in batch if not isinstance(event, ReplyDone)]


async def _nothing(sound: Batches, _: random.Random) -> Batches:
    await sound.aclose()
    return
    yield  # a generator needs one


async def _hang_first(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound):
        await asyncio.Event().wait()
    yield []


async def _hang_mid(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound) as batches:
        async for batch in batches:
            yield batch[:1]
            await asyncio.Event().wait()


async def _endless(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound):
        while True:
            yield [PartDelta(index=0, kind="text", delta="tea ")]
            await asyncio.sleep(0.005)


async def _one_by_one(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound) as batches:
        async for batch in batches:
            for event in batch:
                yield [event]
                await asyncio.sleep(0)


async def _at_once(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound) as batches:
        yield [event async for batch in batches for event in batch]


async def _empty_batches(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound) as batches:
        async for batch in batches:
            yield []
            yield batch


async def _no_deltas(sound: Batches, _: random.Random) -> Batches:
    async with aclosing(sound) as batches:
        async for batch in batches:
            yield [event for event in batch if not isinstance(event, PartDelta)]


def _says(*parts: Part, done: ReplyDone | None = None) -> Spoil:
    """Another reply in the place of the sound one."""
    calls = any(isinstance(part, ToolCall) for part in parts)
    end = done or ReplyDone(
        reason="tool_calls" if calls else "stop", usage=Usage(input=5, output=5)
    )

    async def spoil(sound: Batches, _: random.Random) -> Batches:
        await sound.aclose()
        yield [*(PartDone(index=n, part=part) for n, part in enumerate(parts)), end]

    return spoil


def _ends_so(**changes: object) -> Spoil:
    """The sound reply, with another end."""

    async def spoil(sound: Batches, _: random.Random) -> Batches:
        async with aclosing(sound) as batches:
            async for batch in batches:
                yield [replace(e, **changes) if isinstance(e, ReplyDone) else e for e in batch]

    return spoil


def _call(name: str = "now", ref: str = "call_1", *, malformed: str | None = None) -> ToolCall:
    return ToolCall(id=ref, name=name, arguments={}, malformed=malformed)


_STREAMS: Final[Mapping[str, tuple[str, type[ProviderError] | None, Spoil]]] = {
    "no_end": ("ends without a `ReplyDone`", StreamCut, _no_end),
    "nothing": ("ends before any event", StreamCut, _nothing),
    "one_by_one": ("brings each event alone", None, _one_by_one),
    "at_once": ("brings all events at once", None, _at_once),
    "empty_batches": ("reads that brought nothing", None, _empty_batches),
    "no_deltas": ("brings parts that were never streamed", None, _no_deltas),
    "empty_reply": ("says nothing", None, _says()),
    "only_thinking": ("thinks and says nothing", None, _says(Thinking(text="hm"))),
    "long_text": ("says 1 MiB", None, _says(Text(text="t" * (1 << 20)))),
    "unknown_tool": ("calls a tool that is not there", None, _says(_call("brew"))),
    "failing_tool": ("calls a tool that fails", None, _says(_call("fail"))),
    "broken_arguments": ("calls with broken arguments", None, _says(_call(malformed='{"zo'))),
    "same_ids": ("two calls with one id", None, _says(_call(), _call())),
    "call_for_ever": ("makes the same call again and again", None, _says(_call())),
    "many_calls": ("makes 50 calls", None, _says(*(_call(ref=f"call_{n}") for n in range(50)))),
    "length": ("is cut by length", None, _ends_so(reason="length")),
    "cut_arguments": (
        "loses a call to the length",
        None,
        _says(done=ReplyDone(reason="length", problem="invalid_tool_args")),
    ),
    "filtered": ("is stopped by a filter", None, _ends_so(reason="content_filter")),
    "no_usage": ("counts nothing", None, _ends_so(usage=Usage())),
    "huge_usage": ("counts beyond all measure", None, _ends_so(usage=Usage(input=1 << 53))),
    "calls_denied": ("finishes for calls that are none", None, _ends_so(reason="tool_calls")),
}
_SILENT: Final[Mapping[str, tuple[str, Spoil]]] = {
    "hang_first": ("never begins", _hang_first),
    "hang_mid": ("stalls in the middle", _hang_mid),
    "endless": ("never comes to an end", _endless),
}


def _made() -> Iterator[StreamFault]:
    for name, error in _ERRORS.items():
        yield fails(error, name=name)
        yield fails(error, name=f"{name}_mid", after=None)
    for name, (about, end, spoil) in _STREAMS.items():
        yield StreamFault(name=name, about=about, ends=(end,), spoil=spoil)
    for name, (about, spoil) in _SILENT.items():
        yield StreamFault(name=name, about=about, ends=(), spoil=spoil, silent=True)


STREAM_FAULTS: Final[Mapping[str, StreamFault]] = {fault.name: fault for fault in _made()}
