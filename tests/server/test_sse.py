"""A run's events over plain HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from teahouse.agent.participant import Journal, Reply, Turn
from teahouse.core.codec import decode_envelope
from teahouse.core.events import Emit, PartDelta, PartDone, ReplyDone, Usage, fold
from teahouse.core.messages import JsonObject, Person, Text
from teahouse.server import sse
from tests.chat.conftest import Actor
from tests.server.conftest import Web

pytestmark = pytest.mark.anyio


class Event:
    def __init__(self, block: str) -> None:
        fields = [line.partition(": ") for line in block.split("\n") if not line.startswith(":")]
        self.id = next((int(value) for name, _, value in fields if name == "id"), None)
        self.type = next((value for name, _, value in fields if name == "event"), None)
        data = [value for name, _, value in fields if name == "data"]
        self.envelope: JsonObject | None = json.loads(data[0]) if data else None
        assert len(data) <= 1
        self.comment = any(line.startswith(":") for line in block.split("\n"))


async def events(
    web: Web, path: str, who: Person, headers: dict[str, str] | None = None
) -> AsyncIterator[Event]:
    cookie = await web.cookie(who)
    async with web.client.get(web.address + path, headers=cookie | (headers or {})) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        waiting = ""
        async for piece in response.content.iter_any():
            waiting += piece.decode()
            *blocks, waiting = waiting.split("\n\n")
            for block in blocks:
                yield Event(block)


async def all_of(web: Web, path: str, headers: dict[str, str] | None = None) -> list[Event]:
    async with asyncio.timeout(10):
        found = [event async for event in events(web, path, web.owner, headers)]
    return [event for event in found if event.envelope]


def text_of(found: list[Event]) -> str:
    envelopes = [decode_envelope(json.dumps(event.envelope).encode()) for event in found]
    return fold(one.event for one in envelopes).text


async def test_a_run_is_told_until_its_end(web: Web) -> None:
    run = (await web.talk(web.owner, "tea")).runs[0].id
    found = await all_of(web, f"/api/runs/{run}/events")

    assert found[-1].type == "stream_end"
    assert text_of(found) == "echo: tea"
    assert [event.id for event in found] == [event.envelope["seq"] for event in found]  # type: ignore[index]
    assert {event.envelope["run"] for event in found} == {run}  # type: ignore[index]


async def test_a_run_that_ended_long_ago_is_told_again(web: Web) -> None:
    received = await web.talk(web.owner, "tea")
    first = await all_of(web, f"/api/runs/{received.runs[0].id}/events")
    again = await all_of(web, f"/api/runs/{received.runs[0].id}/events?after={first[-1].id}")

    assert text_of(again) == "echo: tea"
    assert again[-1].type == "stream_end"


class Halting:
    def __init__(self) -> None:
        self.go_on, self.cut = asyncio.Event(), asyncio.Event()

    async def __call__(self, turn: Turn, journal: Journal, emit: Emit) -> Reply:
        text = Text(text="one\u2028two\u0085")
        await emit([PartDelta(index=0, kind="text", delta="one")])
        await self.go_on.wait()
        await emit([PartDelta(index=0, kind="text", delta="\u2028two\u0085")])
        await emit([PartDone(index=0, part=text), ReplyDone(reason="stop", usage=Usage())])
        return Reply(parts=(text,), ending="stop", usage=Usage())


@pytest.mark.parametrize("how", ["query", "header", "both"])
async def test_a_reader_that_was_cut_off_goes_on_where_it_was(
    web: Web, actor: Actor, how: str
) -> None:
    actor.act = halting = Halting()
    path = f"/api/runs/{(await web.talk(web.owner)).runs[0].id}/events"
    first: list[Event] = []
    async for event in events(web, path, web.owner):
        if event.envelope:
            first.append(event)
        if event.type == "stream_chunk":
            break
    halting.go_on.set()
    place = first[-1].id
    headers = {"last-event-id": str(place)} if how != "query" else {}
    query = f"?after={place if how == 'query' else 0}" if how != "header" else ""
    rest = await all_of(web, path + query, headers)

    assert text_of(first + rest) == "one\u2028two\u0085"
    assert all(event.id > place for event in rest)  # type: ignore[operator]


async def test_line_breaks_that_only_some_readers_know_are_escaped(web: Web, actor: Actor) -> None:
    actor.act = halting = Halting()
    halting.go_on.set()
    run = (await web.talk(web.owner)).runs[0].id
    raw = await web.call("GET", f"/api/runs/{run}/events", who=web.owner)

    assert "\u2028" not in raw.body.decode()
    assert "\u0085" not in raw.body.decode()
    assert "one\\u2028two\\u0085" in raw.body.decode()


async def test_silence_is_filled_with_heartbeats(
    web: Web, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.02)
    actor.act = halting = Halting()
    run = (await web.talk(web.owner)).runs[0].id
    beats = 0
    async with asyncio.timeout(10):
        async for event in events(web, f"/api/runs/{run}/events", web.owner):
            beats += event.comment
            if beats == 3:
                halting.go_on.set()

    assert beats >= 3


async def test_losing_the_right_ends_the_stream(web: Web, actor: Actor) -> None:
    actor.act = Halting()
    member = await web.person("member")
    run = (await web.talk(member)).runs[0].id
    found: list[Event] = []
    async with asyncio.timeout(5):
        async for event in events(web, f"/api/runs/{run}/events", member):
            found.append(event)
            if event.type == "stream_chunk":
                await web.house.accounts.set_role(web.owner, member.id, "guest")

    assert found[-1].type == "stream_chunk"


async def test_a_reader_that_leaves_is_forgotten(web: Web, actor: Actor) -> None:
    actor.act = Halting()
    run = (await web.talk(web.owner)).runs[0].id
    stream = events(web, f"/api/runs/{run}/events", web.owner)
    async for event in stream:
        if event.type == "stream_chunk":
            break
    await stream.aclose()  # type: ignore[attr-defined]
    channels = web.house.services.bus._channels.values()
    async with asyncio.timeout(5):
        while any(channel.sinks for channel in channels):
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 30])
async def test_a_place_that_is_no_number_is_refused(web: Web, value: str) -> None:
    run = (await web.talk(web.owner)).runs[0].id
    path = f"/api/runs/{run}/events"

    answer = await web.call("GET", path, who=web.owner, headers={"last-event-id": value})

    assert (answer.status, answer.code) == (400, "parameter_wrong")


async def test_a_stranger_is_refused_before_the_stream_begins(web: Web) -> None:
    run = (await web.talk(web.owner)).runs[0].id
    other = await web.person("other")
    answer = await web.call("GET", f"/api/runs/{run}/events", who=other)

    assert answer.status == 404
    assert answer.headers["content-type"] == "application/json"
    with pytest.raises(aiohttp.ClientResponseError):
        async with web.client.get(f"{web.address}/api/runs/{run}/events") as response:
            response.raise_for_status()
