"""One endpoint with several keys: each call takes the next, and a key that is refused rests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from teahouse.core.events import StreamEvent
from teahouse.llm.errors import AuthenticationFailed, EndpointError, QuotaExceeded, RateLimited
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider
from teahouse.llm.reach import Ask, Item
from teahouse.llm.resume import Continuing

log = logging.getLogger(__name__)

REFUSED_S = 600.0  # a wrong key or an empty account is looked at again after this
LIMITED_S = 20.0


class KeyPool:
    """A provider made of one for each key; `providers` are called as their keys are."""

    def __init__(self, providers: Mapping[str, Provider]) -> None:
        self._providers = dict(providers)
        self._resting: dict[str, float] = {}  # until when
        self._turn = 0

    def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]:
        return self.through(lambda one: one.stream(request))

    async def through(self, ask: Ask[Item], /) -> AsyncGenerator[Item, None]:
        names = self._order()
        for name in names:
            shown = False
            try:
                async with aclosing(ask(self._providers[name])) as items:
                    async for item in items:
                        shown = True
                        yield item
            except (AuthenticationFailed, QuotaExceeded, RateLimited) as error:
                self._rest(name, error)
                if shown or name == names[-1]:
                    raise
                log.info("Key %s is refused (%s), the next one is taken", name, error.code)
            else:
                self._resting.pop(name, None)
                return

    def continues(self, model: str) -> bool:
        """As `llm.resume` asks; the keys are all to one endpoint."""
        one = next(iter(self._providers.values()))
        return isinstance(one, Continuing) and one.continues(model)

    async def models(self) -> Sequence[ModelInfo]:
        return await self._providers[self._order()[0]].models()

    def _order(self) -> list[str]:
        """From the one whose turn it is; those that rest come last, the most rested first."""
        names = list(self._providers)
        start = self._turn % len(names)
        self._turn += 1
        now = asyncio.get_running_loop().time()
        turns = names[start:] + names[:start]
        return sorted(turns, key=lambda name: max(self._resting.get(name, 0.0) - now, 0.0))

    def _rest(self, name: str, error: EndpointError) -> None:
        usual = LIMITED_S if isinstance(error, RateLimited) else REFUSED_S
        pause = usual if error.retry_after_s is None else error.retry_after_s
        self._resting[name] = asyncio.get_running_loop().time() + pause
