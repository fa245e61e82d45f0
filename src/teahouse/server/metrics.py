"""What a house does, counted in memory, in the form that Prometheus reads.

One of the takers of `CallRecord`. The names are those that OpenTelemetry's would have there, so
that the same dashboards fit. Imported only where there is a server: the library takes a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from msgspec import Struct, field
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from teahouse.llm.figures import FIRST_SECONDS, SECONDS, TOKENS, KnownModels, operation
from teahouse.llm.usage import CallRecord, Ledger

Runs: TypeAlias = Callable[[], Awaitable[Mapping[str, int]]]
_Group: TypeAlias = tuple[str, str, str]  # operation, provider, model
_MODEL = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")


class _Series(Struct, kw_only=True):
    """What one model comes to. Bound once: looking a label up costs more than counting.

    There is no `cost` while no price was known: an unknown one must not read as zero.
    """

    input: Histogram
    output: Histogram
    first: Histogram
    cached: Counter
    written: Counter
    cost: Counter | None = None
    unpriced: Counter | None = None
    endings: dict[tuple[str, str], tuple[Counter, Histogram]] = field(
        default_factory=dict[tuple[str, str], tuple[Counter, Histogram]]
    )


class Metrics(Ledger):
    """`runs` counts the runs by their status, whenever somebody looks."""

    def __init__(self, version: str, runs: Runs) -> None:
        disable_created_metrics()
        self._registry = registry = CollectorRegistry()
        self._models, self._runs = KnownModels(), runs
        self._series: dict[_Group, _Series] = {}
        self._tokens = Histogram(
            "gen_ai_client_token_usage",
            "Tokens of one call, by kind.",
            (*_MODEL, "gen_ai_token_type"),
            registry=registry,
            buckets=TOKENS,
        )
        self._duration = Histogram(
            "gen_ai_client_operation_duration_seconds",
            "How long one call took.",
            (*_MODEL, "error_type"),
            registry=registry,
            buckets=SECONDS,
        )
        self._first = Histogram(
            "gen_ai_client_operation_time_to_first_chunk_seconds",
            "How long the first piece of an answer took.",
            _MODEL,
            registry=registry,
            buckets=FIRST_SECONDS,
        )
        of_model = ("provider", "model")
        self._calls = Counter(
            "teahouse_calls",
            "Attempts at a model, by how they ended.",
            (*of_model, "outcome", "code"),
            registry=registry,
        )
        self._cached = Counter(
            "teahouse_cached_input_tokens",
            "Tokens of input that the vendor had in its cache.",
            of_model,
            registry=registry,
        )
        self._written = Counter(
            "teahouse_cache_write_input_tokens",
            "Tokens of input that the vendor put into its cache.",
            of_model,
            registry=registry,
        )
        self._cost = Counter(
            "teahouse_cost_dollars", "What calls of known price cost.", of_model, registry=registry
        )
        self._unpriced = Counter(
            "teahouse_unpriced_calls",
            "Calls whose price nobody knows.",
            of_model,
            registry=registry,
        )
        self._runs_now = Gauge("teahouse_runs", "Runs now.", ("status",), registry=registry)
        info = Gauge("teahouse_info", "The version at work.", ("version",), registry=registry)
        info.labels(version).set(1)
        ProcessCollector(registry=registry)

    def watch(self, name: str, what: str, count: Callable[[], int]) -> None:
        """Have `count` asked whenever somebody looks."""
        Gauge(name, what, registry=self._registry).set_function(count)

    def note(self, call: CallRecord, /) -> None:
        group = operation(call), call.provider, self._models.named(call)
        series = self._series.get(group)
        if series is None:
            series = self._series[group] = self._bound(group)
        ending = call.outcome, call.code or ""
        ended = series.endings.get(ending)
        if ended is None:
            ended = series.endings[ending] = self._ended(group, *ending)
        calls, duration = ended
        calls.inc()
        duration.observe(call.total_ms / 1000)
        if call.first_token_ms is not None:
            series.first.observe(call.first_token_ms / 1000)
        if call.input or call.output:
            series.input.observe(call.input)
            series.output.observe(call.output)
        if call.cached:
            series.cached.inc(call.cached)
        if call.written:
            series.written.inc(call.written)
        self._add_cost(group, series, call.cost)

    async def exposition(self) -> bytes:
        counts = await self._runs()
        for status in ("queued", "running"):
            self._runs_now.labels(status).set(counts.get(status, 0))
        return await asyncio.to_thread(generate_latest, self._registry)  # 0.1 s for 200 models

    def _add_cost(self, group: _Group, series: _Series, cost: float | None) -> None:
        if cost is None:
            series.unpriced = series.unpriced or self._unpriced.labels(*group[1:])
            series.unpriced.inc()
        else:
            series.cost = series.cost or self._cost.labels(*group[1:])
            series.cost.inc(cost)

    def _bound(self, group: _Group) -> _Series:
        of_model = group[1:]
        return _Series(
            input=self._tokens.labels(*group, "input"),
            output=self._tokens.labels(*group, "output"),
            first=self._first.labels(*group),
            cached=self._cached.labels(*of_model),
            written=self._written.labels(*of_model),
        )

    def _ended(self, group: _Group, outcome: str, code: str) -> tuple[Counter, Histogram]:
        error = "" if outcome == "answered" else code or outcome
        calls = self._calls.labels(*group[1:], outcome, code)
        return calls, self._duration.labels(*group, error)
