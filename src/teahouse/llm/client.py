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
from teahouse.llm.catalog import FactsOf, nothing_known
from teahouse.llm.errors import NoSuchModel, StreamCut
from teahouse.llm.meter import Meter
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider
from teahouse.llm.repair import repair
from teahouse.llm.retry import Retry
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
    ) -> None:
        self.providers = providers  # read at each call: settings may change it
        self._retry = retry or Retry()
        self._sleep = sleep
        self._clock = clock or SystemClock()
        self._ledger, self._facts = ledger, facts

    async def stream(
        self, model: str, request: ModelRequest, *, caller: Caller = NOBODY
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """Stream one reply of `model`. Raises `ProviderError`; ends after one `ReplyDone`.

        Close it (`contextlib.aclosing`) when you leave early: that closes the socket.
        """
        provider, name = self._find(model)
        history = repair(request.messages)
        request = msgspec.structs.replace(request, model=name, messages=history)
        failures = 0
        while True:
            shown = False
            meter = self._meter(model, request, caller, attempt=failures + 1)
            try:
                async with aclosing(provider.stream(request)) as batches:
                    async for batch in batches:
                        shown = True
                        meter.saw(batch)
                        yield batch
            except ProviderError as error:
                meter.end(error, self._ledger)
                failures += 1
                delay = None if shown else self._retry.delay_s(error, failures)
                if delay is None:
                    raise
                log.info("%s failed (%s), again in %.1f s", model, error.code, delay)
            except BaseException as error:  # left, stopped, or a bug: it was a call all the same
                meter.end(error, self._ledger)
                raise
            else:
                meter.end(None, self._ledger)
                return
            await self._sleep(delay)

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

    async def models(self, provider: str) -> Sequence[ModelInfo]:
        """Ask a provider which models it serves; raises `ProviderError`."""
        found = self.providers.get(provider)
        if found is None:
            raise NoSuchModel(provider, ", ".join(sorted(self.providers)))
        return await found.models()

    def _meter(self, model: str, request: ModelRequest, caller: Caller, *, attempt: int) -> Meter:
        facts, clock = self._facts(model), self._clock
        return Meter(model, request, caller, attempt=attempt, facts=facts, clock=clock)

    def _find(self, model: str) -> tuple[Provider, str]:
        vendor, name = parse_model(model)
        provider = self.providers.get(vendor)
        if provider is None:
            raise NoSuchModel(model, ", ".join(sorted(self.providers)))
        return provider, name
