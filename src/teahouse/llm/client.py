"""The way to a model by name: finds its provider, retries what nobody has seen yet, folds replies.

client = Client({"deepseek": provider})
async for batch in client.stream("deepseek/deepseek-chat", request): …
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from msgspec.structs import replace

from teahouse.core.clock import Clock, SystemClock
from teahouse.core.errors import Invalid, ProviderError
from teahouse.core.events import Emit, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message
from teahouse.llm.breaker import Breakers
from teahouse.llm.budget import Budgets
from teahouse.llm.calibration import Calibration
from teahouse.llm.catalog import FactsOf, nothing_known
from teahouse.llm.embedding import Embedded, EmbedRequest
from teahouse.llm.errand import Errand, Item, Talk
from teahouse.llm.errand_media import (
    Answer,
    MediaErrand,
    Port,
    Request,
    embedding,
    painting,
    speaking,
    transcribing,
)
from teahouse.llm.errors import (
    BudgetSpent,
    ContentFiltered,
    NoSuchModel,
    Resting,
    StreamCut,
)
from teahouse.llm.gates import Gates, no_limits
from teahouse.llm.meter import Meter
from teahouse.llm.pictures import Painted, PictureRequest
from teahouse.llm.pipeline import Call, Pipeline, empty_pipeline
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.repair import repair
from teahouse.llm.retry import Retry
from teahouse.llm.route import Routes, no_routes
from teahouse.llm.speech import Sound, SpeechRequest, Transcribed, TranscriptionRequest
from teahouse.llm.usage import NOBODY, Caller, Ledger

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]
_LEADS_UP: Final = frozenset({".", ".."})


def parse_model(name: str) -> tuple[str, str]:
    """Split `provider/model`. The provider is always written out, it is never guessed.

    The model's own name may hold further slashes, but nothing that leads up where it becomes part
    of an address. Raises `Invalid`.
    """
    provider, slash, model = name.strip().partition("/")
    if not (provider and slash and model) or _LEADS_UP.intersection(model.split("/")):
        raise Invalid("model_name", model=name)
    return provider, model


def falls_over(error: ProviderError) -> bool:
    """Whether another model may do what this one did not. What one vendor refuses for its content
    is not carried to the next, and a budget that is spent is not dodged."""
    return not isinstance(error, ContentFiltered | BudgetSpent)


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
        stream = self._talk(call) if pipeline.empty else pipeline.run(call, self._talk)
        async with aclosing(stream) as batches:
            async for batch in batches:
                yield batch

    async def embed(
        self, model: str, request: EmbedRequest, *, caller: Caller = NOBODY
    ) -> Embedded:
        """One vector for each input. Raises `ProviderError`, `NotOffered` where the vendor has no
        embeddings; so do the three that follow."""
        return await self._once(model, embedding(request), caller)

    async def speak(
        self, model: str, request: SpeechRequest, *, caller: Caller = NOBODY
    ) -> AsyncGenerator[Sound, None]:
        """Have a text read aloud. Close it when you leave early."""
        errand = speaking(request)
        caller = replace(caller, purpose=errand.purpose)
        async with aclosing(self._routed(model, errand, caller)) as sounds:
            async for sound in sounds:
                yield sound

    async def transcribe(
        self, model: str, request: TranscriptionRequest, *, caller: Caller = NOBODY
    ) -> Transcribed:
        """Have a recording written down."""
        return await self._once(model, transcribing(request), caller)

    async def paint(
        self, model: str, request: PictureRequest, *, caller: Caller = NOBODY
    ) -> Painted:
        """Have pictures made after a description."""
        return await self._once(model, painting(request), caller)

    async def _once(
        self, model: str, errand: MediaErrand[Request, Port, Answer], caller: Caller
    ) -> Answer:
        caller = replace(caller, purpose=errand.purpose)
        async with aclosing(self._routed(model, errand, caller)) as answers:
            found = [answer async for answer in answers]
        return found[-1]

    def _talk(self, call: Call) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """What the stages have made of a call; they may have changed its messages."""
        request = replace(call.request, messages=repair(call.request.messages))
        if self._budgets is not None:
            request = self._budgets.bounded(request, call.caller)
        return self._routed(call.model, Talk(request, self.calibration), call.caller, call)

    async def _routed(
        self, asked: str, errand: Errand[Item], caller: Caller, call: Call | None = None
    ) -> AsyncGenerator[Item, None]:
        """Try one model after the other, until one has begun to answer."""
        candidates = self._routes().candidates(asked.strip(), caller)  # prices go by the name too
        for model in candidates:
            shown = False
            provider, name = self._find(model)
            here = errand.to(model, name)
            by = caller if model == candidates[0] else replace(caller, instead_of=candidates[0])
            try:
                async with aclosing(self._tried(provider, model, here, by, call)) as items:
                    async for item in items:
                        shown = True
                        yield item if model == asked else here.signed(item)
            except ProviderError as error:
                if shown or model == candidates[-1] or not falls_over(error):
                    raise
                log.warning("%s failed (%s), the next model is asked", model, error.code)
            else:
                return

    async def _tried(
        self,
        provider: Provider,
        model: str,
        errand: Errand[Item],
        caller: Caller,
        call: Call | None,
    ) -> AsyncGenerator[Item, None]:
        """Ask one model, again while it fails in a way that may pass."""

        def attempt(one: Errand[Item], number: int) -> AsyncGenerator[Item, None]:
            return self._attempt(provider, model, one, caller, number)

        failures = 0
        before: ProviderError | None = None
        while True:
            shown = False
            try:
                async with aclosing(errand.run(provider, attempt, failures + 1)) as items:
                    async for item in items:
                        shown = True
                        yield item
            except ProviderError as error:
                if isinstance(error, Resting) and before is not None:
                    raise before from error  # what made it rest says more
                before, failures = error, failures + 1
                delay = None if shown else self._retry.delay_s(error, failures)
                if delay is not None and call is not None:
                    delay = await self._pipeline().pause(call, error, delay)
                if delay is None:
                    raise
                log.info("%s failed (%s), again in %.1f s", model, error.code, delay)
            else:
                return
            await self._sleep(delay)

    async def _attempt(
        self, provider: Provider, model: str, errand: Errand[Item], caller: Caller, number: int
    ) -> AsyncGenerator[Item, None]:
        """One attempt: let in, paid for, noted and settled however it ends."""
        self._breakers.admit(model, provider)
        error: BaseException | None = None
        try:
            async with self._gates.pass_through(model.partition("/")[0]):
                reserved = None
                if self._budgets is not None:
                    reserved = await self._budgets.reserve(model, errand.worst, caller)
                facts, count = self._facts(model), errand.count()
                meter = Meter(model, count, caller, attempt=number, facts=facts, clock=self._clock)
                try:
                    async with aclosing(errand.ask(provider)) as items:
                        async for item in items:
                            meter.saw(item)
                            yield item
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
