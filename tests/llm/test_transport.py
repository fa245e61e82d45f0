"""The one door to endpoints: clocks, broken connections, and sockets that close when left."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Literal

import pytest

from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text
from teahouse.llm.errors import (
    EndpointError,
    Malformed,
    RateLimited,
    RequestRefused,
    StreamCut,
    TimedOut,
    Unreachable,
)
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, Timeouts
from teahouse.llm.transport import Transport
from teahouse.testing.answers import (
    DONE,
    Answer,
    Hold,
    Step,
    chunk,
    error_answer,
    text_answer,
    usage,
)
from teahouse.testing.endpoint import Endpoint

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(model="m", messages=(Message(role="user", parts=(Text(text="hi"),)),))
PING = b": ping\n\n"
HELLO = chunk({"content": "hello"})
STOP = chunk({}, "stop")
Build = Callable[..., Provider]


@pytest.fixture
async def build() -> AsyncIterator[Build]:
    async with Transport() as transport:

        def build(base_url: str, **timeouts: float) -> Provider:
            settings = ProviderSettings(base_url=base_url, timeouts=Timeouts(**timeouts))
            return build_provider("acme", settings, "key", transport)

        yield build


async def ask(provider: Provider, events: list[StreamEvent] | None = None) -> list[StreamEvent]:
    events = [] if events is None else events
    async with asyncio.timeout(20), aclosing(provider.stream(REQUEST)) as batches:
        async for batch in batches:
            events += batch
    return events


async def error_of(
    build: Build, *steps: Step, before: tuple[Step, ...] = (), **timeouts: float
) -> EndpointError:
    async with Endpoint([Answer(steps=steps, before=before)]) as endpoint:
        with pytest.raises(EndpointError) as caught:
            await ask(build(endpoint.base_url, **timeouts))
    return caught.value


async def test_silence_before_the_headers_ends_with_the_first_event_clock(build: Build) -> None:
    error = await error_of(build, before=("hang",), first_event_s=0.1)

    assert isinstance(error, TimedOut)
    assert error.phase == "first_event"


async def test_comments_do_not_stop_the_first_event_clock(build: Build) -> None:
    error = await error_of(build, *(PING, 0.02) * 50, first_event_s=0.2)

    assert isinstance(error, TimedOut)
    assert error.phase == "first_event"


async def test_silence_in_the_middle_ends_with_the_idle_clock(build: Build) -> None:
    error = await error_of(build, HELLO, "hang", idle_s=0.1)

    assert isinstance(error, TimedOut)
    assert error.phase == "idle"


async def test_comments_keep_a_stream_alive_that_has_begun(build: Build) -> None:
    steps = (HELLO, *(PING, 0.02) * 30, STOP, DONE)
    async with Endpoint([Answer(steps=steps)]) as endpoint:
        events = await ask(build(endpoint.base_url, idle_s=0.3))

    assert isinstance(events[-1], ReplyDone)


async def test_a_stream_that_never_ends_meets_the_total_clock(build: Build) -> None:
    error = await error_of(build, *(HELLO, 0.01) * 500, total_s=0.2)

    assert isinstance(error, TimedOut)
    assert error.phase == "total"


async def test_a_server_that_never_shakes_hands_meets_the_connect_clock(build: Build) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(TimedOut) as caught:
            await ask(build(f"https://127.0.0.1:{port}/v1", connect_s=0.1))

    assert caught.value.phase == "connect"


async def test_a_port_where_nobody_listens_is_unreachable(build: Build) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(Unreachable):
        await ask(build(f"http://127.0.0.1:{port}/v1"))


async def test_https_to_a_server_without_tls_is_unreachable(build: Build) -> None:
    def answer_in_the_open(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer_in_the_open, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable):
            await ask(build(f"https://127.0.0.1:{port}/v1"))


async def test_a_connection_closed_before_the_headers_is_a_cut(build: Build) -> None:
    assert isinstance(await error_of(build, before=("cut",)), StreamCut)


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_what_came_before_a_break_is_shown_before_the_error(build: Build, end: Step) -> None:
    events: list[StreamEvent] = []
    async with Endpoint([Answer(steps=(HELLO, end))]) as endpoint:
        with pytest.raises(StreamCut):
            await ask(build(endpoint.base_url), events)

    assert isinstance(events[0], PartDelta)
    assert events[0].delta == "hello"


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_slow_reader_gets_what_came_before_a_break(build: Build, end: Step) -> None:
    answer = Answer(steps=(HELLO, Hold("gate"), chunk({"content": " world"}), end))
    async with (
        Endpoint([answer]) as endpoint,
        aclosing(build(endpoint.base_url).stream(REQUEST)) as batches,
    ):
        await anext(batches)
        endpoint.release("gate")
        async with asyncio.timeout(10):
            while endpoint.open_connections:
                await asyncio.sleep(0)
        for _ in range(100):  # until our end has seen the break as well
            await asyncio.sleep(0)

        (delta, *_) = await anext(batches)
        assert delta == PartDelta(index=0, kind="text", delta=" world")
        (kept,) = await anext(batches)
        assert kept == PartDone(index=0, part=Text(text="hello world"))
        with pytest.raises(StreamCut):
            await anext(batches)


@pytest.mark.parametrize("end", ["cut", "reset", "hang"])
async def test_a_break_after_the_finish_costs_only_the_counts(build: Build, end: Step) -> None:
    async with Endpoint([Answer(steps=(HELLO, STOP, end))]) as endpoint:
        done = (await ask(build(endpoint.base_url, idle_s=0.2)))[-1]

    assert isinstance(done, ReplyDone)
    assert done.usage.estimated


async def test_an_event_without_end_is_refused(build: Build) -> None:
    megabyte = b"x" * (1 << 20)
    error = await error_of(build, b"data: ", *[megabyte] * 9, "hang")

    assert isinstance(error, Malformed)
    assert "8388608" in error.values["detail"]


async def test_retry_after_comes_with_the_error(build: Build) -> None:
    async with Endpoint([error_answer(429, "slow down", retry_after="7")]) as endpoint:
        with pytest.raises(RateLimited) as caught:
            await ask(build(endpoint.base_url))

    assert caught.value.retry_after_s == 7
    assert caught.value.values["detail"] == "slow down"


async def test_a_redirect_is_not_followed_with_the_key(build: Build) -> None:
    async with Endpoint() as elsewhere:
        away = Answer(status=307, headers={"Location": elsewhere.base_url}, steps=())
        async with Endpoint([away]) as endpoint:
            with pytest.raises(RequestRefused, match=elsewhere.base_url):
                await ask(build(endpoint.base_url))

    assert elsewhere.requests == []


async def test_a_proxy_in_the_environment_is_ignored(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with Endpoint() as endpoint:
        assert await ask(build(endpoint.base_url))


async def test_connections_serve_again_after_a_whole_reply(build: Build) -> None:
    async with Endpoint() as endpoint:
        provider = build(endpoint.base_url)
        for _ in range(5):
            await ask(provider)

    assert endpoint.accepted == 1


async def test_an_end_that_comes_a_little_late_is_waited_for(build: Build) -> None:
    late = Answer(steps=(HELLO, STOP, DONE, 0.0, 0.0, 0.0))  # a few turns of the loop later
    async with Endpoint([late, late]) as endpoint:
        provider = build(endpoint.base_url)
        await ask(provider)
        await ask(provider)

    assert endpoint.accepted == 1


async def test_a_server_that_lingers_after_the_end_is_not_waited_for(build: Build) -> None:
    answer = Answer(steps=(HELLO, STOP, usage(1, 1), DONE, "hang"))
    async with Endpoint([answer]) as endpoint:
        events = await ask(build(endpoint.base_url, idle_s=60))
        recorded = await endpoint.request(0)
        async with asyncio.timeout(10):
            await recorded.closed.wait()

    assert isinstance(events[-1], ReplyDone)


async def test_one_transport_outlives_the_loop_it_was_first_used_in() -> None:
    transport = Transport()

    def once() -> None:
        async def work() -> None:
            async with Endpoint() as endpoint:
                settings = ProviderSettings(base_url=endpoint.base_url)
                await ask(build_provider("acme", settings, None, transport))
            await transport.close()

        asyncio.run(work())

    await asyncio.to_thread(once)
    await asyncio.to_thread(once)


PHASES: dict[str, tuple[tuple[Step, ...], tuple[Step, ...], int]] = {
    "waiting for headers": ((Hold("gate"),), (HELLO,), 0),
    "before the first token": ((), (PING, Hold("gate"), HELLO), 1),
    "mid-stream": ((), (HELLO, Hold("gate"), HELLO), 1),
}


@pytest.mark.parametrize("phase", PHASES)
async def test_a_stream_that_is_left_closes_its_socket_before_the_next_chunk(
    build: Build, phase: str
) -> None:
    before, steps, sent = PHASES[phase]
    async with Endpoint([Answer(before=before, steps=(*steps, STOP, DONE))]) as endpoint:
        provider = build(endpoint.base_url)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(ask(provider))
            recorded = await endpoint.request(0)
            await endpoint.sent(recorded, sent)
            task.cancel()
        async with asyncio.timeout(10):
            await recorded.closed.wait()
        assert recorded.sent == sent

        endpoint.release("gate")  # only now would the next chunk have come
        await ask(provider)

    assert recorded.sent == sent
    assert not recorded.finished


async def test_closing_the_generator_closes_the_socket(build: Build) -> None:
    async with Endpoint([Answer(steps=(HELLO, Hold("gate"), STOP, DONE))]) as endpoint:
        batches = build(endpoint.base_url).stream(REQUEST)
        await anext(batches)
        await batches.aclose()
        recorded = await endpoint.request(0)
        async with asyncio.timeout(10):
            await recorded.closed.wait()

    assert recorded.sent == 1


async def test_many_streams_left_early_leave_nothing_open(build: Build) -> None:
    async with Endpoint() as endpoint:
        provider = build(endpoint.base_url)
        for _ in range(100):
            endpoint.answers.append(Answer(steps=(HELLO, "hang")))
            async with aclosing(provider.stream(REQUEST)) as batches:
                await anext(batches)
        async with asyncio.timeout(10):
            for recorded in endpoint.requests:
                await recorded.closed.wait()
            while endpoint.open_connections:
                await asyncio.sleep(0)

    assert len(endpoint.requests) == 100


async def test_a_reply_in_many_writes_comes_in_the_batches_of_its_reads(build: Build) -> None:
    async with (
        Endpoint([text_answer(["a", "b"], between=(Hold("gate"),))]) as endpoint,
        aclosing(build(endpoint.base_url).stream(REQUEST)) as batches,
    ):
        first = await anext(batches)
        endpoint.release("gate")
        rest = [event async for batch in batches for event in batch]

    assert first == [PartDelta(index=0, kind="text", delta="a")]
    assert rest[0] == PartDelta(index=0, kind="text", delta="b")


@pytest.mark.parametrize("step", ["cut", "reset"])
async def test_a_kept_connection_that_was_closed_meanwhile_is_no_error(
    build: Build, step: Literal["cut", "reset"]
) -> None:
    answers = [text_answer(["a"]), Answer(before=(step,), steps=()), text_answer(["b"])]
    async with Endpoint(answers) as endpoint:
        provider = build(endpoint.base_url)
        await ask(provider)
        events = await ask(provider)

        assert fold(events).text == "b"
        assert (len(endpoint.requests), endpoint.accepted) == (3, 2)


@pytest.mark.parametrize("step", ["cut", "reset"])
async def test_a_new_connection_that_is_closed_is_an_error_and_not_tried_again(
    build: Build, step: Literal["cut", "reset"]
) -> None:
    async with Endpoint([Answer(before=(step,), steps=()), text_answer(["b"])]) as endpoint:
        with pytest.raises(StreamCut):
            await ask(build(endpoint.base_url))

        assert len(endpoint.requests) == 1


async def test_an_answer_that_has_begun_on_a_kept_connection_is_not_asked_for_again(
    build: Build,
) -> None:
    async with Endpoint([text_answer(["a"]), Answer(steps=("cut",)), text_answer(["b"])]) as there:
        provider = build(there.base_url)
        await ask(provider)
        with pytest.raises(StreamCut):
            await ask(provider)

        assert len(there.requests) == 2
