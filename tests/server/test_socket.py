"""The socket, by a real client over loopback."""

from __future__ import annotations

import asyncio
import json

import pytest

from teahouse.agent.participant import Journal, Reply, Turn
from teahouse.core.codec import decode_envelope
from teahouse.core.events import Emit, Envelope, PartDelta, PartDone, ReplyDone, Usage, fold
from teahouse.core.messages import JsonObject, Text
from teahouse.server import socket as server_socket
from tests.chat.conftest import Actor
from tests.server.conftest import Socket, Web

pytestmark = pytest.mark.anyio


def envelopes(frames: list[JsonObject]) -> list[Envelope]:
    return [decode_envelope(json.dumps(frame).encode()) for frame in frames]


def kinds(frames: list[JsonObject]) -> list[str]:
    return [frame["event"]["type"] for frame in frames]


class Slow:
    """An agent that says one word, and the rest when it is allowed to."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def __call__(self, turn: Turn, journal: Journal, emit: Emit) -> Reply:
        text = Text(text="one two")
        await emit([PartDelta(index=0, kind="text", delta="one")])
        await self.go_on.wait()
        await emit([PartDelta(index=0, kind="text", delta=" two")])
        await emit([PartDone(index=0, part=text), ReplyDone(reason="stop", usage=Usage())])
        return Reply(parts=(text,), ending="stop", usage=Usage())


async def test_a_reader_sees_the_answer_grow_and_end_in_a_post(web: Web) -> None:
    conversation = (await web.house.chat.open(web.owner, agent=web.house.services.agent)).id
    async with web.socket(web.owner) as socket:
        await socket.send(type="subscribe", conversation=conversation)
        await socket.until("resync")
        sent = await web.call(
            "POST", "/api/messages", {"conversation": conversation, "text": "tea"}, who=web.owner
        )
        frames = await socket.until("stream_end")

    run = sent.json["runs"][0]["id"]
    told = [one.event for one in envelopes(frames) if one.run == run]
    seqs = [frame["seq"] for frame in frames]
    assert kinds(frames)[0] == "post"
    assert {"stream_start", "stream_chunk", "part", "reply_done"} <= set(kinds(frames))
    assert fold(told).text == "echo: tea"
    assert seqs == sorted(set(seqs))


async def test_a_reader_that_comes_back_goes_on_where_it_was(web: Web, actor: Actor) -> None:
    actor.act = slow = Slow()
    received = await web.talk(web.owner)
    conversation = received.post.conversation
    async with web.socket(web.owner) as first:
        await first.send(type="subscribe", conversation=conversation)
        before = await first.until("stream_chunk")
    slow.go_on.set()
    async with web.socket(web.owner) as second:
        await second.send(type="subscribe", conversation=conversation, after=before[-1]["seq"])
        after = await second.until("stream_end")

    deltas = [f["event"]["delta"] for f in before + after if f["event"]["type"] == "stream_chunk"]
    assert "".join(deltas) == "one two"
    assert "resync" not in kinds(after)
    assert all(frame["seq"] > before[-1]["seq"] for frame in after)


async def test_a_second_tab_in_mid_answer_gets_the_text_so_far(web: Web, actor: Actor) -> None:
    actor.act = slow = Slow()
    conversation = (await web.talk(web.owner)).post.conversation
    async with web.socket(web.owner) as first, web.socket(web.owner) as second:
        await first.send(type="subscribe", conversation=conversation)
        await first.until("stream_chunk")
        await second.send(type="subscribe", conversation=conversation)
        late = await second.until("stream_chunk")
        slow.go_on.set()
        late += await second.until("stream_end")

    assert kinds(late)[:2] == ["resync", "post"]
    assert fold(one.event for one in envelopes(late) if one.run).text == "one two"


async def test_one_socket_follows_many_conversations_and_leaves_single_ones(web: Web) -> None:
    agent = web.house.services.agent
    opened = [(await web.house.chat.open(web.owner, agent=agent)).id for _ in range(3)]
    async with web.socket(web.owner) as socket:
        for conversation in opened:
            await socket.send(type="subscribe", conversation=conversation)
            await socket.until("resync")
        await socket.send(type="unsubscribe", conversation=opened[1])
        await socket.send(type="ping")
        await socket.next()
        for conversation in opened:
            await web.house.chat.receive(web.owner, conversation=conversation, text="hi")
        frames = await socket.until("stream_end") + await socket.until("stream_end")

    assert {frame["conversation"] for frame in frames} == {opened[0], opened[2]}


async def test_stop_keeps_the_part_that_was_there(web: Web, actor: Actor) -> None:
    actor.act = Slow()
    received = await web.talk(web.owner)
    async with web.socket(web.owner) as socket:
        await socket.send(type="subscribe", conversation=received.post.conversation)
        await socket.until("stream_chunk")
        await socket.send(type="stop", run=received.runs[0].id)
        frames = await socket.until("stream_end")

    assert frames[-1]["event"]["reason"] == "stopped"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"type": "dance", "ref": "1"}, "frame_unknown"),
        ({"type": "subscribe", "ref": "1"}, "frame_unknown"),
        ({"type": "subscribe", "conversation": 5, "ref": "1"}, "frame_unknown"),
        ({"type": "ping", "colour": 1, "ref": "1"}, "frame_unknown"),
        ({"ref": "1"}, "frame_unknown"),
        ({"type": "stop", "run": "r_none", "ref": "1"}, None),
        ({"type": "subscribe", "conversation": "c_none", "ref": "1"}, None),
    ],
)
async def test_a_frame_that_is_refused_is_answered_with_its_ref(
    web: Web, frame: JsonObject, code: str | None
) -> None:
    async with web.socket(web.owner, **{"accept-language": "zh-CN"}) as socket:
        await socket.raw.send_str(json.dumps(frame))
        refusal = await socket.next()
        await socket.send(type="ping")
        pong = await socket.next()

    assert refusal["v"] == 1
    assert (refusal["event"]["type"], refusal["event"]["ref"]) == ("error", "1")
    assert code is None or refusal["event"]["problem"]["code"] == code
    assert any("\u4e00" <= c <= "\u9fff" for c in refusal["event"]["problem"]["message"])
    assert pong == {"type": "pong"}


@pytest.mark.parametrize("data", ["", "{", "[]", "null", "[" * 5000, '{"type": NaN}', b"\0\xff"])
async def test_noise_is_refused_and_the_socket_lives_on(web: Web, data: str | bytes) -> None:
    async with web.socket(web.owner) as socket:
        send = socket.raw.send_bytes if isinstance(data, bytes) else socket.raw.send_str
        await send(data)  # type: ignore[arg-type]
        assert (await socket.next())["event"]["type"] == "error"
        await socket.send(type="ping")
        assert await socket.next() == {"type": "pong"}


async def test_a_frame_that_is_too_long_closes_the_socket(web: Web) -> None:
    async with web.socket(web.owner) as socket:
        await socket.send(type="ping", ref="x" * (64 << 10))

        assert await socket.closed() == 1009


async def test_a_socket_follows_a_bounded_number_of_conversations(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_socket, "MAX_SUBSCRIPTIONS", 1)
    agent = web.house.services.agent
    opened = [(await web.house.chat.open(web.owner, agent=agent)).id for _ in range(2)]
    async with web.socket(web.owner) as socket:
        await socket.send(type="subscribe", conversation=opened[0])
        await socket.until("resync")
        await socket.send(type="subscribe", conversation=opened[1], ref="2")
        refusal = await socket.next()

    assert refusal["event"]["problem"]["code"] == "too_many_subscriptions"


@pytest.mark.parametrize("how", ["logout", "role", "password", "removed"])
async def test_losing_the_right_closes_open_sockets_within_a_second(web: Web, how: str) -> None:
    member = await web.person("member")
    cookie = await web.cookie(member)
    accounts = web.house.accounts
    async with web.client.ws_connect(web.address + "/ws", headers=cookie) as raw:
        socket = Socket(raw)
        await socket.send(type="ping")
        await socket.next()
        match how:
            case "logout":
                await web.call("POST", "/api/logout", headers=cookie)
            case "role":
                await accounts.set_role(web.owner, member.id, "admin")
            case "password":
                await accounts.set_password(web.owner, member.id, "new password")
            case _:
                await accounts.remove_person(web.owner, member.id)
        async with asyncio.timeout(2):
            assert await socket.closed() == 4401


async def test_a_frame_after_losing_the_right_is_not_obeyed(web: Web, actor: Actor) -> None:
    actor.act = slow = Slow()
    member = await web.person("member")
    received = await web.talk(member)
    async with web.socket(member) as socket:
        await socket.send(type="subscribe", conversation=received.post.conversation)
        await socket.until("stream_chunk")
        await web.house.accounts.set_role(web.owner, member.id, "guest")
        await socket.send(type="stop", run=received.runs[0].id)

        assert await socket.closed() == 4401
    assert not (await web.house.chat.run(member, received.runs[0].id)).stop_asked
    slow.go_on.set()


async def test_a_key_that_is_removed_ends_its_socket(web: Web) -> None:
    row, key = await web.house.accounts.create_key(web.owner, "script")
    headers = {"authorization": f"Bearer {key}"}
    async with web.client.ws_connect(web.address + "/ws", headers=headers) as raw:
        await web.house.accounts.remove_key(web.owner, row.id)

        assert await Socket(raw).closed() == 4401


async def test_a_reader_that_does_not_read_is_sent_away_and_holds_up_nobody(web: Web) -> None:
    bus = web.house.services.bus
    conversation = (await web.house.chat.open(web.owner, agent=web.house.services.agent)).id
    async with web.socket(web.owner) as deaf, web.socket(web.owner) as other:
        for socket in (deaf, other):
            await socket.send(type="subscribe", conversation=conversation)
            await socket.until("resync")
        transport = deaf.raw._response.connection.transport  # type: ignore[union-attr]
        transport.pause_reading()
        part = PartDone(index=0, part=Text(text="x" * 100_000))
        sent = 0
        async with asyncio.timeout(20):
            while sent < 300 and not await gone(web, 1):
                bus.publish(conversation, "r_x", [part])
                sent += 1
                await other.until("part")

        transport.resume_reading()
        assert await deaf.closed() == 4409
        await other.send(type="ping")
        assert await other.next() == {"type": "pong"}


async def gone(web: Web, left: int) -> bool:
    """Whether the bus has no more than `left` listeners."""
    channels = web.house.services.bus._channels.values()
    return sum(len(channel.sinks) for channel in channels) <= left


async def test_a_reader_that_vanishes_leaves_nothing_behind(web: Web) -> None:
    conversation = (await web.house.chat.open(web.owner, agent=web.house.services.agent)).id
    async with web.socket(web.owner) as socket:
        await socket.send(type="subscribe", conversation=conversation)
        await socket.until("resync")
        transport = socket.raw._response.connection.transport  # type: ignore[union-attr]
        transport.abort()
    async with asyncio.timeout(5):
        while not await gone(web, 0):
            await asyncio.sleep(0.005)
