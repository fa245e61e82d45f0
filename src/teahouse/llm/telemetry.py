"""Calls to models as OpenTelemetry spans and metrics, with the names of its GenAI conventions.

A ledger like any other: `Client(…, ledger=Telemetry(tracer_provider, meter_provider))`. Needs the
extra `otel`, and is imported only where somebody wants it. It sees no word of what was said.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.util.types import AttributeValue

from teahouse.llm.figures import FIRST_SECONDS, SECONDS, TOKENS, KnownModels, operation
from teahouse.llm.usage import CallRecord, Ledger

SCOPE: Final = "teahouse"
SCHEMA: Final = "https://opentelemetry.io/schemas/1.41.0"
MOST_RUNS = 1024  # whose span calls are still hung below, after they have ended too

Attributes = Mapping[str, AttributeValue | None]

_VENDORS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "xai": "x_ai",
}
"""Where the conventions call a vendor otherwise than we do."""


class Telemetry(Ledger):
    """`vendor_of` tells the vendor behind a provider's name, where that is a name of its own."""

    def __init__(
        self,
        tracers: TracerProvider,
        meters: MeterProvider,
        *,
        vendor_of: Callable[[str], str] = str,
    ) -> None:
        self.tracer = tracers.get_tracer(SCOPE, schema_url=SCHEMA)
        self._vendor_of, self._models = vendor_of, KnownModels()
        self._runs: OrderedDict[str, Context] = OrderedDict()
        meter = meters.get_meter(SCOPE, schema_url=SCHEMA)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of input and output.",
            explicit_bucket_boundaries_advisory=TOKENS,
        )
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="How long a call took.",
            explicit_bucket_boundaries_advisory=SECONDS,
        )
        self._first = meter.create_histogram(
            "gen_ai.client.operation.time_to_first_chunk",
            unit="s",
            description="How long the first piece of an answer took.",
            explicit_bucket_boundaries_advisory=FIRST_SECONDS,
        )

    def note(self, call: CallRecord, /) -> None:
        vendor = self._vendor_of(call.provider)
        common: dict[str, AttributeValue] = {
            "gen_ai.operation.name": operation(call),
            "gen_ai.provider.name": _VENDORS.get(vendor, vendor),
        }
        self._trace(call, common)
        self._measure(call, {**common, "gen_ai.request.model": self._models.named(call)})

    def below(self, run: str, context: Context) -> None:
        """Hang all calls that are made for `run` below this span from now on."""
        self._runs[run] = context
        while len(self._runs) > MOST_RUNS:
            self._runs.popitem(last=False)

    def of_run(self, run: str | None) -> Context | None:
        return self._runs.get(run) if run is not None else None

    def _trace(self, call: CallRecord, common: Mapping[str, AttributeValue]) -> None:
        caller, name = call.caller, call.model.partition("/")[2]
        answered, begun = call.outcome == "answered", nanoseconds(call.at)
        attributes: Attributes = {
            **common,
            "gen_ai.request.model": name,
            "gen_ai.response.model": name if answered else None,
            "gen_ai.response.finish_reasons": (call.code,) if answered and call.code else None,
            "gen_ai.response.time_to_first_chunk": _seconds(call.first_token_ms),
            "gen_ai.usage.input_tokens": call.input,
            "gen_ai.usage.output_tokens": call.output,
            "gen_ai.usage.cache_read.input_tokens": call.cached or None,
            "gen_ai.usage.cache_creation.input_tokens": call.written or None,
            "gen_ai.usage.cache_write.input_tokens": call.written or None,
            "gen_ai.conversation.id": caller.conversation,
            "gen_ai.agent.id": caller.agent,
            "teahouse.call": call.id,
            "teahouse.run": caller.run,
            "teahouse.key": caller.key,
            "teahouse.person": caller.person,
            "teahouse.provider": call.provider,
            "teahouse.purpose": caller.purpose,
            "teahouse.attempt": call.attempt,
            "teahouse.instead_of": caller.instead_of,
            "teahouse.outcome": call.outcome,
            "teahouse.cost_usd": call.cost,
            "teahouse.usage.estimated": call.estimated or None,
        }
        span = self.tracer.start_span(
            f"{common['gen_ai.operation.name']} {name}",
            context=self.of_run(caller.run) or Context(),
            kind=SpanKind.CLIENT,
            attributes=there(attributes),
            start_time=begun,
        )
        if call.outcome == "failed":
            mark_failed(span, call.code or "internal")
        span.end(begun + call.total_ms * 1_000_000)

    def _measure(self, call: CallRecord, labels: dict[str, AttributeValue]) -> None:
        if call.input or call.output:
            self._tokens.record(call.input, {**labels, "gen_ai.token.type": "input"})
            self._tokens.record(call.output, {**labels, "gen_ai.token.type": "output"})
        if call.first_token_ms is not None:
            self._first.record(call.first_token_ms / 1000, labels)
        if call.outcome != "answered":
            labels = {**labels, "error.type": call.code or call.outcome}
        self._duration.record(call.total_ms / 1000, labels)


def mark_failed(span: Span, code: str) -> None:
    """By its code alone: an endpoint's own words may hold anything."""
    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR, code))


def there(attributes: Attributes) -> dict[str, AttributeValue]:
    return {name: value for name, value in attributes.items() if value is not None}


def nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1000


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
