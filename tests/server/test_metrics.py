"""What monitors read: every call counted once, under labels that have an end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from teahouse.llm.figures import MOST_MODELS
from teahouse.llm.usage import Caller, CallRecord
from teahouse.server.metrics import Metrics

pytestmark = pytest.mark.anyio

CHAT = {
    "gen_ai_operation_name": "chat",
    "gen_ai_provider_name": "fake",
    "gen_ai_request_model": "one/two",
}


async def no_runs() -> Mapping[str, int]:
    return {}


def call(model: str = "fake/one/two", **fields: object) -> CallRecord:
    told = {"id": "l_1", "at": datetime(2026, 1, 1, tzinfo=UTC), "code": "stop", **fields}
    return CallRecord(model=model, provider=model.partition("/")[0], **told)  # type: ignore[arg-type]


async def samples(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = (await metrics.exposition()).decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_a_call_is_counted_with_its_tokens_times_and_cost() -> None:
    metrics = Metrics("1.2.3", no_runs)
    for _ in range(2):
        metrics.note(
            call(
                input=100,
                output=20,
                cached=60,
                written=9,
                cost=0.25,
                first_token_ms=50,
                total_ms=1500,
            )
        )
    metrics.note(call(cost=None, total_ms=100, outcome="failed", code="provider_quota"))
    found = await samples(metrics)

    def value(name: str, **labels: str) -> float | None:
        return found.get((name, frozenset(labels.items())))

    tokens = {
        kind: value("gen_ai_client_token_usage_sum", **CHAT, gen_ai_token_type=kind)
        for kind in ("input", "output")
    }
    assert tokens == {"input": 200, "output": 40}
    duration = "gen_ai_client_operation_duration_seconds"
    assert value(f"{duration}_sum", **CHAT, error_type="") == 3
    assert value(f"{duration}_count", **CHAT, error_type="provider_quota") == 1
    assert value("gen_ai_client_operation_time_to_first_chunk_seconds_count", **CHAT) == 2
    of_model = {"provider": "fake", "model": "one/two"}
    calls = "teahouse_calls_total"
    assert value(calls, **of_model, outcome="answered", code="stop") == 2
    assert value(calls, **of_model, outcome="failed", code="provider_quota") == 1
    assert value("teahouse_cost_dollars_total", **of_model) == 0.5
    assert value("teahouse_unpriced_calls_total", **of_model) == 1
    assert value("teahouse_cached_input_tokens_total", **of_model) == 120
    assert value("teahouse_cache_write_input_tokens_total", **of_model) == 18
    assert value("teahouse_info", version="1.2.3") == 1


async def test_a_price_that_nobody_knows_does_not_read_as_zero() -> None:
    metrics = Metrics("1", no_runs)
    metrics.note(call(input=9, cost=None))
    names = {name for name, _ in await samples(metrics)}

    assert "teahouse_unpriced_calls_total" in names
    assert "teahouse_cost_dollars_total" not in names


async def test_models_that_do_not_exist_have_no_labels_of_their_own() -> None:
    metrics = Metrics("1", no_runs)
    for number in range(50):
        metrics.note(call(f"fake/made-up-{number}", outcome="failed", code="provider_refused"))
    for number in range(2 * MOST_MODELS):
        metrics.note(call(f"fake/real-{number}"))
    found = await samples(metrics)
    models = {
        value
        for _, labels in found
        for name, value in labels
        if name in {"model", "gen_ai_request_model"}
    }

    assert len(models) == MOST_MODELS + 1
    assert "other" in models
    assert not any("made-up" in model for model in models)
    assert sum(found[key] for key in found if key[0] == "teahouse_calls_total") == (
        50 + 2 * MOST_MODELS
    )


async def test_other_purposes_have_operations_of_their_own() -> None:
    metrics = Metrics("1", no_runs)
    metrics.note(call(caller=Caller(purpose="embedding")))
    metrics.note(call(caller=Caller(purpose="speech")))
    labels = {pair for _, pairs in await samples(metrics) for pair in pairs}

    assert ("gen_ai_operation_name", "embeddings") in labels
    assert ("gen_ai_operation_name", "generate_content") in labels


async def test_what_is_now_is_asked_whenever_somebody_looks() -> None:
    runs, open_now = {"queued": 2, "running": 1}, [5]

    async def counts() -> Mapping[str, int]:
        return runs

    metrics = Metrics("1", counts)
    metrics.watch("teahouse_readers", "Open.", lambda: open_now[0])
    before = await samples(metrics)
    runs.clear()
    open_now[0] = 7
    after = await samples(metrics)

    def queued(found: dict[tuple[str, frozenset[tuple[str, str]]], float]) -> float:
        return found["teahouse_runs", frozenset({("status", "queued")})]

    assert (queued(before), queued(after)) == (2, 0)
    assert before["teahouse_readers", frozenset()] == 5
    assert after["teahouse_readers", frozenset()] == 7
    assert after["process_resident_memory_bytes", frozenset()] > 1 << 20
