"""What a house tells of itself: figures at `/metrics`, traces and metrics to a collector."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from teahouse.app.house import open_house
from teahouse.app.observe import Takers
from teahouse.core.errors import SettingsError
from teahouse.llm.usage import CallRecord, Ledger
from teahouse.testing.endpoint import Endpoint
from tests.app.collector import Collected, Span, collecting
from tests.app.test_gateway import Client, body_of, key
from tests.app.test_serve import Guest, fake, running

pytestmark = pytest.mark.anyio

PATH = "/v1/chat/completions"
ERROR = 2


def traced(found: Collected, **more: str) -> dict[str, str]:
    return {"TEAHOUSE_TELEMETRY__OTLP_ENDPOINT": found.url, **more}


def one(spans: list[Span]) -> Span:
    assert len(spans) == 1, spans
    return spans[0]


async def metrics(guest: Guest, session: aiohttp.ClientSession, **headers: str) -> tuple[int, str]:
    async with session.get(guest.opened.url + "/metrics", headers=headers) as answer:
        return answer.status, await answer.text()


async def log_in(guest: Guest, session: aiohttp.ClientSession, **who: str) -> dict[str, str]:
    async with session.post(f"{guest.opened.url}/api/login", json=who) as answer:
        assert answer.status < 300, await answer.text()
        return {"Cookie": f"teahouse_session={answer.cookies['teahouse_session'].value}"}


async def members_key(guest: Guest, session: aiohttp.ClientSession) -> str:
    mei = {"name": "Mei", "password": "horse staple"}
    status, made = await guest.ask("POST", "/api/people", {**mei, "role": "member"})
    assert status == 201, made
    headers = {"Origin": guest.opened.url, **await log_in(guest, session, **mei)}
    async with session.post(
        f"{guest.opened.url}/api/keys", json={"name": "hers"}, headers=headers
    ) as answer:
        made = await answer.json()
        assert answer.status == 201, made
    return made["key"]


class Broken(Ledger):
    def note(self, call: CallRecord, /) -> None:
        raise RuntimeError("This taker is broken.")


class Kept(Ledger):
    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def note(self, call: CallRecord, /) -> None:
        self.calls.append(call)


def test_a_taker_that_breaks_keeps_no_other_from_its_record() -> None:
    first, last = Kept(), Kept()
    call = CallRecord(id="l_1", at=datetime(2026, 1, 1, tzinfo=UTC), model="a/b", provider="a")
    Takers(first, Broken(), last).note(call)

    assert first.calls == last.calls == [call]


async def test_monitors_read_every_call_of_agents_and_programs(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession() as session,
    ):
        client = Client(guest, session, guest.opened.key)
        await guest.say("tea")
        await client.post(PATH, body_of(PATH, "fake/fake"))
        await client.post(PATH, body_of(PATH, "fake/fake", "[fail 402]"))
        secret, _ = await key(guest, "metrics")
        status, text = await metrics(guest, session, Authorization=f"Bearer {secret}")

    assert status == 200, text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    calls = 'teahouse_calls_total{code="%s",model="fake",outcome="%s",provider="fake"}'
    assert float(lines[calls % ("stop", "answered")]) >= 2
    assert float(lines[calls % ("provider_quota", "failed")]) == 1
    assert float(lines['teahouse_runs{status="running"}']) == 0
    assert float(lines["teahouse_gateway_requests"]) == 1  # the one that asks
    assert "teahouse_readers" in lines


async def test_only_a_managers_key_for_it_reads_the_figures(tmp_path: Path) -> None:
    environ = {"TEAHOUSE_OWNER_PASSWORD": "correct horse"}
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint), **environ) as guest,
        aiohttp.ClientSession() as session,
    ):
        cookie = await log_in(guest, session, password="correct horse")
        models, _ = await key(guest, "models", "api")
        member = await members_key(guest, session)
        expected = {
            "nobody": ({}, 401),
            "a cookie": (cookie, 401),
            "a wrong key": ({"Authorization": "Bearer th_wrong"}, 401),
            "a key for other things": ({"Authorization": f"Bearer {models}"}, 403),
            "a member's key": ({"Authorization": f"Bearer {member}"}, 403),
            "a manager's key": ({"Authorization": f"Bearer {guest.opened.key}"}, 200),
        }
        for who, (headers, status) in expected.items():
            found, text = await metrics(guest, session, **headers)
            assert found == status, (who, text)
            assert ("teahouse_info" in text) == (status == 200), who


async def test_a_run_is_one_trace_of_agent_tool_and_calls(tmp_path: Path) -> None:
    async with collecting() as found, Endpoint() as endpoint:
        async with running(tmp_path, **fake(endpoint), **traced(found)) as guest:
            conversation, run = await guest.say("[tool now]")

        agent = one([span for span in found.spans if span.name.startswith("invoke_agent ")])
        tool = one(found.named("execute_tool now"))
        calls = [span for span in found.named("chat fake") if span.begun <= agent.ended]
        assert agent.parent == b""
        assert {span.trace for span in found.spans} == {agent.trace}
        assert len(calls) >= 2
        assert {span.parent for span in (tool, *calls)} == {agent.id}
        assert {span.attributes["teahouse.run"] for span in found.spans} == {run["id"]}
        assert agent.attributes["gen_ai.conversation.id"] == conversation
        assert agent.attributes["gen_ai.response.finish_reasons"] == ["stop"]
        assert tool.attributes["gen_ai.tool.call.id"]
        first = min(calls, key=lambda span: span.begun)
        assert first.attributes["gen_ai.operation.name"] == "chat"
        assert first.attributes["gen_ai.provider.name"] == "fake"
        assert first.attributes["gen_ai.request.model"] == "fake"
        assert first.attributes["gen_ai.response.finish_reasons"] == ["tool_calls"]
        assert first.attributes["gen_ai.usage.input_tokens"] > 0
        assert agent.begun <= first.begun + 1_000_000
        assert found.resource["service.name"] == "teahouse"
        words = b"".join(found.raw)
        assert b"[tool now]" not in words


async def test_a_call_that_fails_has_its_code_and_metrics_have_both(tmp_path: Path) -> None:
    async with collecting() as found, Endpoint() as endpoint:
        async with (
            running(tmp_path, **fake(endpoint), **traced(found)) as guest,
            aiohttp.ClientSession() as session,
        ):
            client = Client(guest, session, guest.opened.key)
            await client.post(PATH, body_of(PATH, "fake/fake"))
            await client.post(PATH, body_of(PATH, "fake/fake", "[fail 402]"))

        failed = one([span for span in found.spans if span.status == ERROR])
        assert failed.attributes["error.type"] == "provider_quota"
        assert failed.attributes["teahouse.run"].startswith("q_")
        durations = found.metrics["gen_ai.client.operation.duration"]
        assert sorted(point.get("error.type", "") for point in durations) == ["", "provider_quota"]
        tokens = found.metrics["gen_ai.client.token.usage"]
        assert {point["gen_ai.token.type"] for point in tokens} == {"input", "output"}
        assert all(point["sum"] > 0 for point in tokens)
        assert found.metrics["gen_ai.client.operation.time_to_first_chunk"][0]["count"] == 1


async def test_a_model_that_steps_in_names_the_one_that_failed(tmp_path: Path) -> None:
    down = {
        "TEAHOUSE_PROVIDERS__DOWN__BASE_URL": "http://127.0.0.1:9/v1",
        "TEAHOUSE_FALLBACKS": '{"down/fake": ["fake/fake"]}',
    }
    async with collecting() as found, Endpoint() as endpoint:
        async with (
            running(tmp_path, **fake(endpoint), **down, **traced(found)) as guest,
            aiohttp.ClientSession() as session,
        ):
            client = Client(guest, session, guest.opened.key)
            status, said, _ = await client.post(PATH, body_of(PATH, "down/fake"))
            assert status == 200, said

        stood_in = one([span for span in found.spans if span.status != ERROR])
        assert stood_in.attributes["teahouse.provider"] == "fake"
        assert stood_in.attributes["teahouse.instead_of"] == "down/fake"
        failed = [span.attributes["teahouse.provider"] for span in found.spans]
        assert failed.count("down") == len(failed) - 1 > 0


async def test_traces_hold_what_was_said_only_where_the_owner_wants_it(tmp_path: Path) -> None:
    wanted = {"TEAHOUSE_TELEMETRY__CONTENT": "true"}
    async with collecting() as found, Endpoint() as endpoint:
        async with running(tmp_path, **fake(endpoint), **traced(found, **wanted)) as guest:
            await guest.say("[tool now]")

        agent = one([span for span in found.spans if span.name.startswith("invoke_agent ")])
        asked: Any = json.loads(agent.attributes["gen_ai.input.messages"])
        assert asked[-1]["parts"][0] == {"type": "text", "content": "[tool now]"}
        assert "gen_ai.output.messages" in agent.attributes
        tool = one(found.named("execute_tool now"))
        assert tool.attributes["gen_ai.tool.call.result"]


async def test_headers_for_the_collector_are_sealed_and_sent(tmp_path: Path) -> None:
    async with collecting() as found, Endpoint() as endpoint:
        async with running(tmp_path, **fake(endpoint)) as guest:
            status, answer = await guest.ask(
                "PATCH",
                "/api/settings",
                {"telemetry": {"otlp_endpoint": found.url, "headers": {"x-team": "tea-secret-1"}}},
            )
            assert status == 200, answer
            assert "tea-secret-1" not in json.dumps(answer)
            status, answer = await guest.ask(
                "PATCH", "/api/settings", {"telemetry.otlp_endpoint": "http://127.0.0.1:9"}
            )
            assert (status, answer["error"]["code"]) == (400, "setting_key_for_new_address")
        assert not found.raw  # it counts from the next start
        assert "tea-secret-1" not in (tmp_path / "config.toml").read_text()
        async with running(tmp_path, **fake(endpoint)) as guest:
            await guest.say("tea")

        assert {headers["x-team"] for headers in found.headers} == {"tea-secret-1"}


async def test_a_collector_that_is_down_costs_no_answer(tmp_path: Path) -> None:
    down = {"TEAHOUSE_TELEMETRY__OTLP_ENDPOINT": "http://127.0.0.1:9"}
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint), **down) as guest:
        _, run = await guest.say("tea")

    assert run["status"] == "done"


async def test_traces_without_the_extra_are_an_error_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("opentelemetry.sdk")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "teahouse.app.telemetry", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    environ = {"TEAHOUSE_TELEMETRY__OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with pytest.raises(SettingsError) as caught:
        async with open_house(tmp_path, environ):
            pass

    assert caught.value.code == "telemetry_not_installed"
    assert "teahouse[otel]" in (caught.value.problem().hint or "")
