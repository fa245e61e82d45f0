"""Leads many turns past every fault: none may be stuck, end without a name, or leave anything open.

`python -m teahouse.testing.faults --turns 100000 --seed 1`. A turn is the whole way of an answer:
the tool-call loop over a client with retries, sometimes with a circuit breaker that trips early or
a second model to fall back to. Most meet faults of a provider's events (`stream_faults`); a share
goes over real sockets, to a `FaultyEndpoint`. Pauses between tries are not slept, and the clocks of
the wire are set short where a fault is silent.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import resource
import sys
from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

from msgspec import Struct, field

from teahouse.core.errors import ProviderError, ToolFailed
from teahouse.core.events import ReplyDone, RunEvent
from teahouse.core.messages import JsonObject, Message, Text, ToolCall
from teahouse.llm.breaker import Breakers
from teahouse.llm.client import Client
from teahouse.llm.loop import Limits, run_loop
from teahouse.llm.provider import ModelRequest, Provider, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.retry import Retry
from teahouse.llm.route import Routes
from teahouse.llm.settings import BreakerSettings, ProviderSettings, Timeouts
from teahouse.llm.tool import Content, ToolContext
from teahouse.llm.transport import Transport
from teahouse.testing.answers import Answer, text_answer, tool_answer
from teahouse.testing.clock import FakeClock
from teahouse.testing.fault_kinds import WireFault
from teahouse.testing.faulty_endpoint import WIRE_FAULTS, FaultyEndpoint, nobody_listens
from teahouse.testing.providers import FaultyProvider, Script, ScriptedProvider
from teahouse.testing.stream_faults import STREAM_FAULTS, StreamFault

STUCK_S = 60.0  # no turn needs a tenth of it, whatever else the machine does
WALL_S = 0.2  # of a turn whose provider is silent for ever
SETTLE_S = 10.0  # how long what has been closed may take to be gone
MOST_GROWTH = 96 << 20  # bytes that the process may grow by once it is warm
WARM = 2000  # turns
_AT_ONCE = 48
_QUICK = Timeouts(connect_s=5, first_event_s=0.1, idle_s=0.1, total_s=0.3)
_PATIENT = Timeouts(connect_s=20, first_event_s=20, idle_s=20, total_s=30)
_QUESTION = Message(role="user", parts=(Text(text="what time is it?"),))
_SOUND_ENDINGS = {"stop", "length", "content_filter"}

Fault = StreamFault | WireFault


class Turn(Struct, frozen=True, kw_only=True):
    """What one turn meets: its faults, one for each call of the model, and what stands around."""

    number: int
    faults: Sequence[Fault | None]
    fallback: bool
    breaker: bool

    @property
    def silent(self) -> bool:
        return any(fault is not None and fault.silent for fault in self.faults)


class Report(Struct, kw_only=True):
    """What came of all turns: outcomes by fault, those that must not be, and what was left over."""

    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bad: list[str] = field(default_factory=list[str])
    turns: int = 0
    over_sockets: int = 0
    calls: int = 0
    growth: int = 0

    @property
    def clean(self) -> bool:
        return not self.bad

    def table(self) -> str:
        width = max(len(name) for name in self.outcomes)
        rows = (
            f"{name:{width}}  " + ", ".join(f"{what} {count}" for what, count in met.most_common())
            for name, met in sorted(self.outcomes.items())
        )
        return "\n".join(rows)


class _Tool:
    def __init__(self, name: str) -> None:
        self.spec = ToolSpec(name=name, description="", parameters={"type": "object"})
        self.repeatable = True

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        if self.spec.name == "fail":
            raise ToolFailed("it always does")
        return (Text(text="12:34"),)


TOOLS: Final[Mapping[str, _Tool]] = {name: _Tool(name) for name in ("now", "fail")}


def turns(count: int, seed: int, sockets: float) -> Iterator[Turn]:
    """Every fault first once, then by lot; the same turns for the same seed."""
    chance = random.Random(seed)  # noqa: S311  a repeatable choice, no secret
    streams, wires = tuple(STREAM_FAULTS.values()), tuple(WIRE_FAULTS.values())
    brisk = tuple(one for one in wires if not one.silent and one.at == "endpoint")
    pending: deque[Fault] = deque((*wires, *streams))
    for number in range(count):
        first: Fault
        if pending:
            first = pending.popleft()
        elif chance.random() >= sockets:
            first = chance.choice(streams)
        else:  # silence costs real time: it comes less often
            first = chance.choice(wires if chance.random() < 0.2 else brisk)
        pool: Sequence[Fault] = streams if isinstance(first, StreamFault) else brisk
        more = [chance.choice(pool) if chance.random() < 0.4 else None for _ in range(5)]
        if first.name == "call_for_ever":
            more = [first] * 8
        fallback, breaker = chance.random() < 0.2, chance.random() < 0.2
        yield Turn(number=number, faults=(first, *more), fallback=fallback, breaker=breaker)


class Ground:
    """What all turns of a run share: the endpoint, one pool of connections, and the report."""

    def __init__(
        self, endpoint: FaultyEndpoint, transport: Transport, nobody: str, stuck_s: float
    ) -> None:
        self.report = Report()
        self._stuck_s = stuck_s
        self.endpoint = endpoint
        self._wires = {
            (at, quick): build_provider(
                "faulty",
                ProviderSettings(
                    base_url=endpoint.url_for(WireFault(name="", about="", ends=(), at=at), nobody),
                    timeouts=_QUICK if quick else _PATIENT,
                ),
                "key",
                transport,
            )
            for at in ("endpoint", "closed", "tls")
            for quick in (False, True)
        }

    async def play(self, turn: Turn) -> None:
        first = turn.faults[0]
        assert first is not None
        report = self.report
        report.turns += 1
        provider, model = self._provider(turn, first)
        try:
            async with asyncio.timeout(self._stuck_s):
                outcome = await self._turn(turn, provider, model)
        except TimeoutError:
            outcome = "STUCK"
        except ProviderError as error:
            outcome = error.code
        except Exception as error:  # this is what the run looks for
            outcome = f"UNNAMED {type(error).__name__}: {error}"
        self.endpoint.plans.pop(model, None)
        report.outcomes[_name(first)][outcome] += 1
        if outcome.startswith(("STUCK", "UNNAMED")):
            met = [fault.name if fault else "-" for fault in turn.faults]
            report.bad.append(f"turn {turn.number}: {outcome} ({', '.join(met)})")

    def _provider(self, turn: Turn, first: Fault) -> tuple[Provider, str]:
        if isinstance(first, WireFault):
            self.report.over_sockets += 1
            model = f"turn-{turn.number}"
            plan = [fault for fault in turn.faults if not isinstance(fault, StreamFault)]
            self.endpoint.plans[model] = deque(plan)
            return self._wires[first.at, turn.silent], model
        spoilt = [fault for fault in turn.faults if not isinstance(fault, WireFault)]
        return FaultyProvider(ScriptedProvider(default=_sound), spoilt), "m"

    async def _turn(self, turn: Turn, provider: Provider, model: str) -> str:
        clock = FakeClock()
        name = f"faulty/{model}"
        routes = Routes(fallbacks={name: ["sound/m"]} if turn.fallback else {})
        failures = 2 if turn.breaker else 1000
        client = Client(
            {"faulty": provider, "sound": ScriptedProvider(default=_sound)},
            retry=Retry(tries=3),
            sleep=_no_sleep,
            clock=clock,
            routes=lambda: routes,
            breakers=Breakers(clock, lambda: BreakerSettings(failures=failures)),
        )
        silent = turn.silent and not isinstance(turn.faults[0], WireFault)
        result = await run_loop(
            partial(client.ask, name),
            ModelRequest(model=name, messages=(_QUESTION,)),
            TOOLS,
            ToolContext(),
            self._emit,
            limits=Limits(steps=6, repeats=2, wall_s=WALL_S if silent else STUCK_S),
        )
        if result.reason in _SOUND_ENDINGS:
            return "answer" if result.reason == "stop" else f"answer, {result.reason}"
        return f"limit: {result.limit}"

    async def _emit(self, events: Sequence[RunEvent]) -> None:
        self.report.calls += sum(isinstance(event, ReplyDone) for event in events)


def _sound(request: ModelRequest) -> Script:
    """A tool call at first, and words once its result is there."""
    if request.messages[-1].role == "tool":
        return "a sound reply"
    return [ToolCall(id="call_1", name="now", arguments={})]


def _sound_answer(body: dict[str, Any]) -> Answer:
    """The same over a socket."""
    if body["messages"][-1]["role"] == "tool":
        return text_answer(["a sound ", "reply"])
    return tool_answer([("call_1", "now", {})])


async def _no_sleep(_: float) -> None:
    await asyncio.sleep(0)


def _name(fault: Fault) -> str:
    return f"{'wire' if isinstance(fault, WireFault) else 'stream'} {fault.name}"


@asynccontextmanager
async def ground(
    stuck_s: float = STUCK_S, settle_s: float = SETTLE_S
) -> AsyncGenerator[Ground, None]:
    """Checks at its end that no connection and no task is left."""
    before = len(asyncio.all_tasks())
    with nobody_listens() as nobody:
        async with FaultyEndpoint(sound=_sound_answer) as endpoint:
            async with Transport() as transport:
                shared = Ground(endpoint, transport, nobody, stuck_s)
                yield shared
            if not await _settles(lambda: endpoint.open_connections == 0, settle_s):
                shared.report.bad.append(f"{endpoint.open_connections} connections left open")
    if not await _settles(lambda: len(asyncio.all_tasks()) <= before, settle_s):
        shared.report.bad.append(f"{len(asyncio.all_tasks()) - before} tasks left running")


async def _settles(holds: Callable[[], bool], settle_s: float) -> bool:
    deadline = asyncio.get_running_loop().time() + settle_s
    while not holds():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def play(count: int, seed: int, *, sockets: float = 0.4, told: bool = False) -> Report:
    """Play `count` turns, many at once. `sockets` is the share of those that use real ones."""
    plan = turns(count, seed, sockets)
    warm: int | None = None
    async with ground() as shared:

        async def worker() -> None:
            nonlocal warm
            for turn in plan:
                await shared.play(turn)
                shared.endpoint.requests.clear()  # it remembers each, which nobody asks for here
                if shared.report.turns == WARM:
                    warm = _peak()
                if told and shared.report.turns % 10_000 == 0:
                    print(f"{shared.report.turns} turns", flush=True)

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(worker())
    report = shared.report
    report.growth = 0 if warm is None else _peak() - warm
    if report.growth > MOST_GROWTH:
        report.bad.append(f"the process grew by {report.growth >> 20} MiB")
    return report


def _peak() -> int:
    """Bytes of memory at the highest."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m teahouse.testing.faults")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sockets", type=float, default=0.4, help="share over real sockets")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    report = asyncio.run(play(options.turns, options.seed, sockets=options.sockets, told=True))
    print(report.table())
    print(
        f"{report.turns} turns past {len(report.outcomes)} kinds of fault, "
        f"{report.over_sockets} of them over sockets; {report.calls} replies; "
        f"grew by {report.growth >> 20} MiB"
    )
    for problem in report.bad[:50]:
        print(problem)
    print("none stuck, none without a name" if report.clean else f"{len(report.bad)} are wrong")
    sys.exit(0 if report.clean else 1)


if __name__ == "__main__":
    main()
