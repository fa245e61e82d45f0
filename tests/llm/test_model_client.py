"""The client: routing by name, and calls made again only while nobody has seen anything."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from teahouse.core.errors import Invalid, ProviderError
from teahouse.core.events import ReplyDone, RunEvent, StreamEvent, fold
from teahouse.core.messages import Message, Text, ToolCall
from teahouse.llm.client import Client, parse_model
from teahouse.llm.errors import (
    AuthenticationFailed,
    ContextTooLong,
    NoSuchModel,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    StreamCut,
)
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.retry import Retry
from teahouse.testing.providers import FaultyProvider, Gate, ScriptedProvider
from teahouse.testing.stream_faults import fails

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(model="", messages=(Message(role="user", parts=(Text(text="hi"),)),))


class Pauses:
    """Stands for `asyncio.sleep` and remembers how long it was asked to."""

    def __init__(self) -> None:
        self.made: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.made.append(seconds)


async def ask(provider: Provider, pauses: Pauses, events: list[StreamEvent] | None = None):
    client = Client({"acme": provider}, sleep=pauses)
    kept: list[RunEvent] = [] if events is None else events  # type: ignore[assignment]

    async def emit(batch):  # type: ignore[no-untyped-def]
        kept.extend(batch)

    return await client.ask("acme/fake", REQUEST, emit)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("deepseek/deepseek-chat", ("deepseek", "deepseek-chat")),
        ("openrouter/qwen/qwen3:free", ("openrouter", "qwen/qwen3:free")),
        (" local/qwen ", ("local", "qwen")),
    ],
)
def test_a_model_is_named_with_its_provider(name: str, parsed: tuple[str, str]) -> None:
    assert parse_model(name) == parsed


@pytest.mark.parametrize("name", ["", "gpt-5", "/gpt-5", "openai/", "/"])
def test_a_provider_is_never_guessed(name: str) -> None:
    with pytest.raises(Invalid):
        parse_model(name)


async def test_an_unknown_provider_is_named_with_those_that_exist() -> None:
    client = Client({"acme": ScriptedProvider(), "other": ScriptedProvider()})

    with pytest.raises(NoSuchModel, match=r"acem/x.*acme, other"):
        async with aclosing(client.stream("acem/x", REQUEST)) as batches:
            await anext(batches)


async def test_the_provider_gets_the_models_own_name() -> None:
    provider = ScriptedProvider(["hello"])

    message, done = await ask(provider, Pauses())

    assert provider.requests[0].model == "fake"
    assert message.text == "hello"
    assert done.reason == "stop"


async def test_what_may_pass_is_tried_again_with_growing_pauses() -> None:
    provider = ScriptedProvider([Overloaded("acme"), StreamCut("acme"), "hello"])
    pauses = Pauses()

    message, _ = await ask(provider, pauses)

    assert message.text == "hello"
    assert len(pauses.made) == 2
    assert 0 <= pauses.made[0] <= 0.5
    assert 0 <= pauses.made[1] <= 1.0


async def test_the_tries_are_limited() -> None:
    provider = ScriptedProvider([Overloaded("acme")] * 9)

    with pytest.raises(Overloaded):
        await ask(provider, Pauses())

    assert len(provider.requests) == 3


@pytest.mark.parametrize("kind", [AuthenticationFailed, QuotaExceeded, ContextTooLong])
async def test_what_waiting_does_not_help_is_not_tried_again(kind: type[ProviderError]) -> None:
    provider = ScriptedProvider([kind("acme"), "hello"])

    with pytest.raises(kind):
        await ask(provider, Pauses())

    assert len(provider.requests) == 1


async def test_the_endpoints_own_wish_wins_over_the_back_off() -> None:
    error = RateLimited("acme")
    error.retry_after_s = 7
    pauses = Pauses()

    await ask(ScriptedProvider([error, "hello"]), pauses)

    assert pauses.made == [7]


async def test_an_endpoint_that_wants_too_much_time_is_not_waited_for() -> None:
    error = RateLimited("acme")
    error.retry_after_s = 3600
    pauses = Pauses()

    with pytest.raises(RateLimited):
        await ask(ScriptedProvider([error, "hello"]), pauses)

    assert pauses.made == []


REPLY = ("hello wide world", ToolCall(id="a", name="f", arguments={"x": 1}))
EVENTS = 5  # of that reply: two deltas, two parts and the end


@pytest.mark.parametrize("after", range(EVENTS))
async def test_nothing_that_was_seen_is_ever_begun_anew(after: int) -> None:
    inner = ScriptedProvider([REPLY] * 3, piece=8)
    provider = FaultyProvider(inner, [fails(Overloaded("acme"), after=after)])
    seen: list[StreamEvent] = []
    pauses = Pauses()

    if after == 0:
        message, _ = await ask(provider, pauses, seen)
        assert message.text == "hello wide world"
        assert provider.calls == 2
    else:
        with pytest.raises(Overloaded):
            await ask(provider, pauses, seen)
        assert provider.calls == 1
        assert pauses.made == []
    assert sum(isinstance(event, ReplyDone) for event in seen) <= 1


async def test_a_retried_reply_is_shown_once() -> None:
    seen: list[StreamEvent] = []

    message, _ = await ask(ScriptedProvider([Overloaded("acme"), REPLY]), Pauses(), seen)

    assert fold(seen) == message
    assert message.text == "hello wide world"


async def test_leaving_the_clients_stream_leaves_the_providers() -> None:
    provider = ScriptedProvider([("hello", Gate())])
    client = Client({"acme": provider})

    async with aclosing(client.stream("acme/fake", REQUEST)) as batches:
        await anext(batches)

    assert provider.closed == 1


async def test_a_provider_that_just_stops_is_a_cut_reply() -> None:
    class Silent(ScriptedProvider):
        async def stream(self, request: ModelRequest):  # type: ignore[override]
            for nothing in ():
                yield nothing

    with pytest.raises(StreamCut):
        await ask(Silent(), Pauses())


def test_full_jitter_spreads_over_the_whole_pause_and_is_capped() -> None:
    retry = Retry(tries=9, first_delay_s=1, longest_delay_s=5)
    error = Overloaded("acme")

    assert [retry.delay_s(error, n, lambda: 0.0) for n in (1, 2, 3, 4)] == [0, 0, 0, 0]
    assert [retry.delay_s(error, n, lambda: 1.0) for n in (1, 2, 3, 4)] == [1, 2, 4, 5]
    assert retry.delay_s(error, 9, lambda: 1.0) is None
