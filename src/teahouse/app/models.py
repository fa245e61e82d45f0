"""Which models may be chosen, whether one answers, and where the embedded one stands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from typing import cast

from teahouse.app.endpoints import Endpoints
from teahouse.app.local import Embedded
from teahouse.app.prices import Prices
from teahouse.config.live import MASK, LiveSettings, same_address
from teahouse.core.errors import SettingsError, TeahouseError, told
from teahouse.core.events import PartDelta
from teahouse.core.messages import Message, Text
from teahouse.llm.client import Client, parse_model
from teahouse.llm.compare import CaseName, Comparison, compare
from teahouse.llm.errors import NoModelChosen, NoSuchModel, TimedOut
from teahouse.llm.local.provider import NAME as LOCAL
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider
from teahouse.llm.providers import WIRES
from teahouse.llm.retry import Retry
from teahouse.llm.settings import ProviderSettings, WireName
from teahouse.llm.usage import Caller, Ledger
from teahouse.server.ports import LocalStatus, ModelEntry, ProviderDraft, Trial

LISTING_S = 5.0
TRIAL_S = 60.0
FRESH_S = 300.0
ALIASES = "aliases"  # stands where the others have their provider
QUESTION = "Reply with one word: ready"


class HouseModels:
    def __init__(
        self,
        endpoints: Endpoints,
        settings: LiveSettings,
        local: Embedded,
        *,
        ledger: Ledger,
        prices: Prices,
    ) -> None:
        self._endpoints, self._settings, self._local = endpoints, settings, local
        self._ledger, self._prices = ledger, prices
        self._listed: dict[str, tuple[float, Provider, Sequence[ModelInfo]]] = {}

    async def list(self) -> Sequence[ModelEntry]:
        there = [item for item in self._endpoints.providers.items() if item[0] != LOCAL]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._of(name, provider)) for name, provider in there]
        local = await self._local.entries()
        found = [*local, *(entry for task in tasks for entry in task.result())]
        return [*found, *self._aliases(found)]

    def _aliases(self, found: Sequence[ModelEntry]) -> Sequence[ModelEntry]:
        """Names for several models; one is ready when any of its models is."""
        asleep = {entry.id for entry in found if not entry.ready}
        return [
            ModelEntry(id=name, provider=ALIASES, ready=not asleep.issuperset(models))
            for name, models in self._settings.config.aliases.items()
        ]

    async def _of(self, name: str, provider: Provider) -> Sequence[ModelEntry]:
        known = self._settings.config.providers.get(name)  # None: it is being removed
        configured = known.models if known else ()
        note: str | None = None
        found: Sequence[ModelInfo] = ()
        try:
            found = await self._ask_for_list(name, provider)
        except TeahouseError as error:
            note = error.problem(self._settings.language).message
        except TimeoutError:
            pass  # what is configured can still be chosen
        by_id = {info.id: info for info in found}
        default = self._settings.config.default_model or ""
        vendor, _, model = default.partition("/")
        offered = configured or by_id
        wanted = [*offered, *([model] if vendor == name and model else [])]
        facts = {one: self._prices.facts(f"{name}/{one}") for one in wanted}
        return [
            ModelEntry(
                id=f"{name}/{one}",
                provider=name,
                context_window=(by_id[one].context_window if one in by_id else None)
                or facts[one].window,
                input_price=facts[one].input,
                output_price=facts[one].output,
                vision=by_id[one].vision if one in by_id else None,
                ready=note is None,
                note=note,
            )
            for one in dict.fromkeys(wanted)
        ]

    async def _ask_for_list(self, name: str, provider: Provider) -> Sequence[ModelInfo]:
        now = _now()
        kept = self._listed.get(name)
        if kept is not None and kept[1] is provider and now - kept[0] < FRESH_S:
            return kept[2]
        async with asyncio.timeout(LISTING_S):
            found = await provider.models()
        self._listed[name] = (now, provider, found)
        return found

    async def test(self, model: str | None, draft: ProviderDraft | None, /) -> Trial:
        try:
            vendor, provider, name = await self._to_try(model, draft)
            try:
                return await self._try(provider, name, f"{vendor}/{name}")
            except TimeoutError as error:
                raise TimedOut(vendor, "total", TRIAL_S) from error
        except TeahouseError as error:
            problem = error.problem(self._settings.language)
            said = told(problem.message, problem.hint)
            return Trial(ok=False, model=model or "", problem=said)

    async def check(self, a: str, b: str, case: CaseName, /) -> Comparison:
        providers: dict[str, Provider] = {}
        names: list[str] = []
        for model in (a, b):
            vendor, providers[vendor], name = await self._to_try(model, None)
            names.append(f"{vendor}/{name}")
        client = Client(
            providers, retry=Retry(tries=2), ledger=self._ledger, facts=self._prices.facts
        )
        return await compare(case, partial(client.stream, caller=Caller(purpose="test")), *names)

    async def _to_try(
        self, model: str | None, draft: ProviderDraft | None
    ) -> tuple[str, Provider, str]:
        """The vendor's name, the provider, and the model's own name."""
        if draft is None:
            chosen = model or self._settings.config.default_model or self._local.default
            if not chosen:
                raise NoModelChosen
            aliases = self._settings.config.aliases
            chosen = next(iter(aliases.get(chosen, {})), chosen)
            vendor, name = parse_model(chosen)
            provider = self._endpoints.providers.get(vendor)
            if provider is None:
                raise NoSuchModel(chosen, ", ".join(sorted(self._endpoints.providers)))
            return vendor, provider, name
        if draft.wire is not None and draft.wire not in WIRES:
            known = ", ".join(WIRES)
            raise SettingsError("provider_wire", provider=draft.name, wire=draft.wire, known=known)
        kept = self._settings.providers.get(draft.name)
        masked = draft.api_key is not None and draft.api_key.startswith(MASK)
        vendor = draft.vendor or "custom"
        if kept and masked:
            moved = not same_address(kept.base_url, draft.base_url) or kept.vendor != vendor
            if moved:
                raise SettingsError("setting_key_for_new_address", provider=draft.name)
        settings = ProviderSettings(
            vendor=vendor,
            wire=cast("WireName | None", draft.wire),
            base_url=draft.base_url,
            api_key=kept.api_key if kept and masked else draft.api_key,
            headers=dict(draft.headers),
        )
        provider = self._endpoints.build(draft.name, settings)
        if model:
            return draft.name, provider, model.removeprefix(f"{draft.name}/")
        found = await provider.models()
        if not found:
            raise NoSuchModel(f"{draft.name}/?")
        return draft.name, provider, found[0].id

    async def _try(self, provider: Provider, name: str, full: str) -> Trial:
        question = Message(role="user", parts=(Text(text=QUESTION),))
        request = ModelRequest(model=name, messages=(question,), max_tokens=16)
        started, first, said = _now(), None, ""
        client = Client(
            {full.partition("/")[0]: provider},
            retry=Retry(tries=1),
            ledger=self._ledger,
            facts=self._prices.facts,
        )
        stream = client.stream(full, request, caller=Caller(purpose="test"))
        async with asyncio.timeout(TRIAL_S), aclosing(stream) as batches:
            async for batch in batches:
                if first is None:
                    first = round((_now() - started) * 1000)
                said += "".join(event.delta for event in batch if isinstance(event, PartDelta))
        total = round((_now() - started) * 1000)
        return Trial(ok=True, model=full, first_token_ms=first, total_ms=total, text=said.strip())

    async def status(self) -> LocalStatus:
        return await self._local.status()

    async def pull(self, name: str, /) -> None:
        await self._local.pull(name)


def _now() -> float:
    return asyncio.get_running_loop().time()
