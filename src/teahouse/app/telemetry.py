"""Sends what happens in a house to an OpenTelemetry collector; imported only where one is named."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span, set_span_in_context

from teahouse.agent.participant import Journal, Participant, Participants, Reply, ResultStep, Turn
from teahouse.config.tree import Telemetry as Wanted
from teahouse.core.codec import encode
from teahouse.core.errors import TeahouseError
from teahouse.core.events import Emit, RunEvent, ToolFinished, ToolStarted
from teahouse.core.messages import JsonObject, Message, Part, ParticipantId, PersonId, Text
from teahouse.llm.telemetry import Telemetry, mark_failed, there

EXPORT_S: Final = 3.0  # tries included; a collector that is down must not hold up the end

NameOf = Callable[[ParticipantId], Awaitable[str]]


class Collector:
    """The way to the collector; `telemetry` is the taker of calls. `close` sends what is left."""

    def __init__(
        self,
        wanted: Wanted,
        headers: Mapping[str, str],
        *,
        version: str,
        vendor_of: Callable[[str], str],
    ) -> None:
        assert wanted.otlp_endpoint is not None
        base, sent = wanted.otlp_endpoint.rstrip("/"), dict(headers)
        resource = Resource.create({"service.name": "teahouse", "service.version": version})
        self._content = wanted.content
        self._tracers = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(wanted.sample)),
            resource=resource,
            shutdown_on_exit=False,
        )
        spans = OTLPSpanExporter(f"{base}/v1/traces", headers=sent, timeout=EXPORT_S)
        self._tracers.add_span_processor(BatchSpanProcessor(spans))
        figures = OTLPMetricExporter(f"{base}/v1/metrics", headers=sent, timeout=EXPORT_S)
        reader = PeriodicExportingMetricReader(figures)
        self._meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self.telemetry = Telemetry(self._tracers, self._meters, vendor_of=vendor_of)

    def traced(self, participants: Participants, name_of: NameOf) -> Participants:
        return TracedParticipants(participants, self.telemetry, name_of, content=self._content)

    async def close(self) -> None:
        async with asyncio.TaskGroup() as group:  # each may have to wait for its last try
            group.create_task(asyncio.to_thread(self._tracers.shutdown))
            group.create_task(asyncio.to_thread(self._meters.shutdown, EXPORT_S * 1000))


class TracedParticipants(Participants):
    """Whoever they find leaves a span for each turn and each tool call. `content`: with what was
    said in it."""

    def __init__(
        self, inner: Participants, telemetry: Telemetry, name_of: NameOf, *, content: bool
    ) -> None:
        self._inner, self._telemetry = inner, telemetry
        self._name_of, self._content = name_of, content

    async def find(
        self, participant: ParticipantId, /, *, person: PersonId, model: str | None
    ) -> Participant:
        found = await self._inner.find(participant, person=person, model=model)
        name = await self._name_of(participant)
        return _Traced(found, self._telemetry, participant, name, content=self._content)


class _Traced(Participant):
    def __init__(
        self,
        inner: Participant,
        telemetry: Telemetry,
        agent: ParticipantId,
        name: str,
        *,
        content: bool,
    ) -> None:
        self._inner, self._telemetry = inner, telemetry
        self._agent, self._name, self._content = agent, name, content

    async def respond(self, turn: Turn, journal: Journal, emit: Emit, /) -> Reply:
        span = self._begin(turn)
        context = set_span_in_context(span, Context())
        self._telemetry.below(turn.run, context)
        tools = _Tools(self._telemetry, context, turn, content=self._content)

        async def watched(events: Sequence[RunEvent]) -> None:
            tools.saw(events)
            await emit(events)

        try:
            reply = await self._inner.respond(turn, journal, watched)
            self._ended(span, reply)
        except TeahouseError as error:
            mark_failed(span, error.code)
            raise
        except asyncio.CancelledError:
            span.set_attribute("teahouse.outcome", "cancelled")
            raise
        except BaseException:
            mark_failed(span, "internal")
            raise
        else:
            return reply
        finally:
            tools.end()
            span.end()

    def _begin(self, turn: Turn) -> Span:
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": self._agent,
            "gen_ai.agent.name": self._name,
            "gen_ai.conversation.id": turn.conversation or turn.caller.conversation,
            "gen_ai.input.messages": _told(turn.messages) if self._content else None,
            "teahouse.run": turn.run,
            "teahouse.person": turn.person,
        }
        name = f"invoke_agent {self._name}"
        return self._telemetry.tracer.start_span(name, Context(), attributes=there(attributes))

    def _ended(self, span: Span, reply: Reply) -> None:
        said = Message(role="assistant", parts=reply.parts)
        attributes = {
            "gen_ai.response.finish_reasons": (reply.ending,),
            "gen_ai.usage.input_tokens": reply.usage.input,
            "gen_ai.usage.output_tokens": reply.usage.output,
            "gen_ai.output.messages": _told((said,)) if self._content else None,
            "error.type": reply.problem.code if reply.problem is not None else None,
        }
        span.set_attributes(there(attributes))


class _Tools:
    """The tool calls of one turn, each a span. What an earlier attempt had done is only shown
    again."""

    def __init__(
        self, telemetry: Telemetry, context: Context, turn: Turn, *, content: bool
    ) -> None:
        self._telemetry, self._context, self._run = telemetry, context, turn.run
        self._content = content
        self._done = {step.result.call for step in turn.steps if isinstance(step, ResultStep)}
        self._open: dict[str, tuple[Span, int]] = {}

    def saw(self, events: Sequence[RunEvent]) -> None:
        for event in events:
            if isinstance(event, ToolStarted) and event.call not in self._done:
                self._begin(event)
            elif isinstance(event, ToolFinished) and event.result.call in self._open:
                self._finish(event)

    def end(self) -> None:
        for span, _ in self._open.values():
            mark_failed(span, "cancelled")
            span.end()

    def _begin(self, event: ToolStarted) -> None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.name,
            "gen_ai.tool.call.id": event.call,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": _json(event.arguments) if self._content else None,
            "teahouse.run": self._run,
        }
        name = f"execute_tool {event.name}"
        span = self._telemetry.tracer.start_span(name, self._context, attributes=there(attributes))
        self._open[event.call] = span, getattr(span, "start_time", None) or 0

    def _finish(self, event: ToolFinished) -> None:
        """Results are told in the order of the calls, so how long each took counts, not when it
        was told."""
        span, begun = self._open.pop(event.result.call)
        if self._content:
            span.set_attribute("gen_ai.tool.call.result", _text(event.result.content))
        if event.result.is_error:
            mark_failed(span, "tool_failed")
        span.end(begun + event.elapsed_ms * 1_000_000 if begun else None)


def _told(messages: Sequence[Message]) -> str:
    """In the form of the conventions; of what is no text its kind alone."""
    return encode([{"role": one.role, "parts": _parts(one.parts)} for one in messages]).decode()


def _parts(parts: Sequence[Part]) -> list[JsonObject]:
    return [
        {"type": "text", "content": part.text}
        if isinstance(part, Text)
        else {"type": type(part).__name__.lower()}
        for part in parts
    ]


def _text(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def _json(arguments: JsonObject) -> str:
    return encode(arguments).decode()
