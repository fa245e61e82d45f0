"""The way to a model by name: finds its provider, retries what nobody has seen yet, folds replies.

client = Client({"deepseek": provider})
async for batch in client.stream("deepseek/deepseek-chat", request): …
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing

import msgspec

from teahouse.core.clock import Clock, SystemClock
from teahouse.core.errors import Invalid, ProviderError
from teahouse.core.events import Emit, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message
from teahouse.llm.breaker import Breakers
from teahouse.llm.budget import Budgets
from teahouse.llm.calibration import Calibration
from teahouse.llm.catalog import FactsOf, nothing_known
from teahouse.llm.errors import (
    BudgetSpent,
    BudgetUnpriced,
    ContentFiltered,
    NoSuchModel,
    Resting,
    StreamCut,
)
from teahouse.llm.gates import Gates, no_limits
from teahouse.llm.meter import Meter
from teahouse.llm.pipeline import Call, Pipeline, empty_pipeline
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.repair import repair
from teahouse.llm.resume import may_resume, resumed
from teahouse.llm.retry import Retry
from teahouse.llm.route import Routes, no_routes
from teahouse.llm.usage import NOBODY, Caller, Ledger

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]


def parse_model(name: str) -> tuple[str, str]:
    """Split `provider/model`. The provider is always written out, it is never guessed.

    The model's own name may hold further slashes. Raises `Invalid`.
    """
    provider, slash, model = name.strip().partition("/")
    if not (provider and slash and model):
        raise Invalid("model_name", model=name)
    return provider, model


def falls_over(error: ProviderError) -> bool:
    """Whether another model may do what this one did not. What one vendor refuses for its content
    is not carried to the next, and a budget is not dodged."""
    return not isinstance(error, ContentFiltered | BudgetSpent | BudgetUnpriced)


class Client:
    """Routes each call to the provider that its model names.

    A call is made again only while none of its events has been passed on: what a person has seen
    begin is never begun anew behind their back. Each attempt is noted in the `ledger`, with its
    cost where `facts` know the price.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider],
        *,
        retry: Retry | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock | None = None,
        ledger: Ledger | None = None,
        facts: FactsOf = nothing_known,
        routes: Callable[[], Routes] = no_routes,
        breakers: Breakers | None = None,
        gates: Gates | None = None,
        budgets: Budgets | None = None,
        pipeline: Callable[[], Pipeline] = empty_pipeline,
    ) -> None:
        self.providers = providers  # read at each call: settings may change it
        self.calibration = Calibration()  # what the models' own counts have taught so far
        self._retry = retry or Retry()
        self._sleep = sleep
        self._clock = clock or SystemClock()
        self._ledger, self._facts, self._routes = ledger, facts, routes
        self._breakers = breakers or Breakers(self._clock)
        self._gates = gates or Gates(self._clock, no_limits)
        self._budgets, self._pipeline = budgets, pipeline

    async def stream(
        self, model: str, request: ModelRequest, *, caller: Caller = NOBODY
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """Stream one reply of `model`. Raises `ProviderError`; ends after one `ReplyDone`.

        Close it (`contextlib.aclosing`) when you leave early: that closes the socket.
        """
        call, pipeline = Call(model=model, request=request, caller=caller), self._pipeline()
        stream = self._routed(call) if pipeline.empty else pipeline.run(call, self._routed)
        async with aclosing(stream) as batches:
            async for batch in batches:
                yield batch

    async def _routed(self, call: Call) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """Try one model after the other, until one has begun to answer."""
        candidates = self._routes().candidates(call.model, call.caller)
        for model in candidates:
            shown = False
            try:
                async with aclosing(self._tried(call, model)) as batches:
                    async for batch in batches:
                        shown = True
                        yield batch if model == call.model else _signed(batch, model)
            except ProviderError as error:
                if shown or model == candidates[-1] or not falls_over(error):
                    raise
                log.warning("%s failed (%s), the next model is asked", model, error.code)
            else:
                return

    async def _tried(self, call: Call, model: str) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """Ask one model, again while it fails in a way that may pass."""
        provider, name = self._find(model)
        history = repair(call.request.messages)  # after the stages, which may have changed it
        request = msgspec.structs.replace(call.request, model=name, messages=history)
        if self._budgets is not None:
            request = self._budgets.bounded(request, call.caller)
        failures = 0
        before: ProviderError | None = None
        while True:
            shown = False
            try:
                attempt = self._from(provider, request, call.caller, model, failures + 1)
                async with aclosing(attempt) as batches:
                    async for batch in batches:
                        shown = True
                        yield batch
            except ProviderError as error:
                if isinstance(error, Resting) and before is not None:
                    raise before from error  # what made it rest says more
                before, failures = error, failures + 1
                delay = None if shown else self._retry.delay_s(error, failures)
                if delay is not None:
                    delay = await self._pipeline().pause(call, error, delay)
                if delay is None:
                    raise
                log.info("%s failed (%s), again in %.1f s", model, error.code, delay)
            else:
                return
            await self._sleep(delay)

    def _from(
        self, provider: Provider, request: ModelRequest, caller: Caller, model: str, number: int
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """One attempt, and where the model can do that, those that go on with it when it is cut."""

        def attempt(asked: ModelRequest, nth: int) -> AsyncGenerator[Sequence[StreamEvent], None]:
            return self._attempt(provider, asked, caller, model, nth)

        if not may_resume(provider, request):
            return attempt(request, number)
        return resumed(attempt, request, number, model, self.calibration)

    async def _attempt(
        self, provider: Provider, request: ModelRequest, caller: Caller, model: str, number: int
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """One attempt: let in, paid for, noted and settled however it ends."""
        self._breakers.admit(model, provider)
        error: BaseException | None = None
        try:
            async with self._gates.pass_through(model.partition("/")[0]):
                reserved = None
                if self._budgets is not None:
                    reserved = await self._budgets.reserve(model, request, caller)
                meter = Meter(
                    model,
                    request,
                    caller,
                    attempt=number,
                    facts=self._facts(model),
                    clock=self._clock,
                    calibration=self.calibration,
                )
                try:
                    async with aclosing(provider.stream(request)) as batches:
                        async for batch in batches:
                            meter.saw(batch)
                            yield batch
                except BaseException as caught:
                    error = caught
                    raise
                finally:
                    record = meter.end(error, self._ledger)
                    if self._budgets is not None:
                        self._budgets.settle(reserved, record.cost)
        except BaseException as caught:
            error = caught
            raise
        finally:
            self._breakers.settle(model, provider, error)

    async def ask(
        self, model: str, request: ModelRequest, emit: Emit, *, caller: Caller = NOBODY
    ) -> tuple[Message, ReplyDone]:
        """Stream one reply to `emit` and return it whole."""
        events: list[StreamEvent] = []
        async with aclosing(self.stream(model, request, caller=caller)) as batches:
            async for batch in batches:
                events += batch
                await emit(batch)
        if not events or not isinstance(events[-1], ReplyDone):
            raise StreamCut(model)
        return fold(events), events[-1]

    def _find(self, model: str) -> tuple[Provider, str]:
        vendor, name = parse_model(model)
        provider = self.providers.get(vendor)
        if provider is None:
            raise NoSuchModel(model, ", ".join(sorted(self.providers)))
        return provider, name


def _signed(batch: Sequence[StreamEvent], model: str) -> Sequence[StreamEvent]:
    """Say which model answered, where it is another than was asked."""
    done = batch[-1] if batch else None
    if not isinstance(done, ReplyDone):
        return batch
    return [*batch[:-1], msgspec.structs.replace(done, model=model)]
