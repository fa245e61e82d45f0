"""An OpenTelemetry collector on loopback: OTLP over HTTP, kept to be looked at."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec import Struct, field
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Span(Struct, frozen=True, kw_only=True):
    name: str
    kind: int
    trace: bytes
    id: bytes
    parent: bytes
    begun: int
    ended: int
    status: int
    attributes: dict[str, Any]


class Collected(Struct, kw_only=True):
    """`raw` is every byte that came, headers besides."""

    url: str = ""
    spans: list[Span] = field(default_factory=list[Span])
    metrics: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, Any])
    raw: list[bytes] = field(default_factory=list[bytes])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    resource: dict[str, Any] = field(default_factory=dict[str, Any])

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


@asynccontextmanager
async def collecting() -> AsyncIterator[Collected]:
    found = Collected()

    async def take(request: web.Request) -> web.Response:
        body = await request.read()
        if body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        found.raw.append(body)
        found.headers.append({name.lower(): value for name, value in request.headers.items()})
        (_take_spans if request.path.endswith("traces") else _take_metrics)(found, body)
        return web.Response(content_type="application/x-protobuf")

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/{what}", take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield found
    finally:
        async with asyncio.timeout(10):
            await runner.cleanup()


def _take_spans(found: Collected, body: bytes) -> None:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        found.resource = _attributes(resource.resource.attributes)
        for scope in resource.scope_spans:
            found.spans += [
                Span(
                    name=span.name,
                    kind=span.kind,
                    trace=span.trace_id,
                    id=span.span_id,
                    parent=span.parent_span_id,
                    begun=span.start_time_unix_nano,
                    ended=span.end_time_unix_nano,
                    status=span.status.code,
                    attributes=_attributes(span.attributes),
                )
                for span in scope.spans
            ]


def _take_metrics(found: Collected, body: bytes) -> None:
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                points = metric.histogram.data_points
                found.metrics[metric.name] = [
                    {"sum": point.sum, "count": point.count, **_attributes(point.attributes)}
                    for point in points
                ]


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
