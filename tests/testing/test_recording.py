"""A recording gives back the bytes of an endpoint, with their cuts, and holds no secret."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.core.errors import ProviderError
from teahouse.core.events import RunEvent, compact
from teahouse.core.messages import Message, Text
from teahouse.llm.errors import AuthenticationFailed, Overloaded, RequestRefused, StreamCut
from teahouse.llm.provider import ModelRequest, Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, WireName
from teahouse.llm.transport import Transport
from teahouse.testing import anthropic_answers
from teahouse.testing.answers import Answer, chunk, error_answer, text_answer, tool_answer
from teahouse.testing.case_files import read_cases
from teahouse.testing.conformance import Cut
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.recording import Recorder, Replay
from teahouse.testing.scrub import PIECE, Scrubber

pytestmark = pytest.mark.anyio

CANARY = "sk-canary-9f8e7d6c5b4a/Tea+3210"
OTHER = "hunter2-and-the-rest-of-it"


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    async with Transport() as transport:
        yield transport


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def provider_at(
    url: str, transport: Transport, key: str = CANARY, wire: WireName = "openai_chat"
) -> Provider:
    settings = ProviderSettings(base_url=url, wire=wire, headers={"X-Tenant": OTHER})
    return build_provider("acme", settings, key, transport)


async def ask(provider: Provider, text: str = "hi") -> list[RunEvent]:
    messages = (Message(role="user", parts=(Text(text=text),)),)
    async with aclosing(provider.stream(ModelRequest(model="m", messages=messages))) as batches:
        return [event async for batch in batches for event in batch]


async def outcome(provider: Provider, text: str = "hi") -> object:
    """What a provider makes of it; ids of its own making are left out by the answers used here."""
    try:
        return _merged(await ask(provider, text))
    except ProviderError as error:
        return type(error), str(error)


def _merged(events: list[RunEvent]) -> list[RunEvent]:
    return compact(events)


async def start(provider: Provider) -> Sequence[RunEvent]:
    """The first events of a reply, and then no more of it."""
    messages = (Message(role="user", parts=(Text(text="hi"),)),)
    async with aclosing(provider.stream(ModelRequest(model="m", messages=messages))) as stream:
        return await anext(stream)


def secrets_in(tape: Path) -> list[str]:
    """Every form of a canary that can be read out of a recording."""
    lines = read_cases(tape)
    writes = [b"".join(base64.b64decode(w) for w in line["writes_b64"]) for line in lines]
    seen = tape.read_bytes() + b"\n" + b"\n".join(writes)
    found: list[str] = []
    for secret in (CANARY, OTHER):
        pieces = [secret[n : n + PIECE] for n in range(len(secret) - PIECE + 1)]
        found += [piece for piece in pieces if piece.encode() in seen]
        for form in (quote(secret, safe=""), base64.b64encode(secret.encode()).decode()):
            found += [form] if form.encode() in seen else []
    return found


ANSWERS: dict[str, Callable[[], Answer]] = {
    "text": lambda: text_answer(["a ", "reply ", "茶"]),
    "tools": lambda: tool_answer([("call_1", "now", {"zone": "UTC"})], text="one moment"),
    "refusal": lambda: error_answer(429, "slow down", retry_after="7"),
    "cut": lambda: Answer(steps=(chunk({"content": "half"}), "cut")),
    "reset": lambda: Answer(steps=(chunk({"content": "half"}), "reset")),
    "cut inside a character": lambda: Answer(
        steps=(chunk({"content": "茶"})[:-20], chunk({"content": "茶"})[-20:], chunk({}, "stop"))
    ),
    "close": lambda: Answer(steps=text_answer(["x"]).steps, framing="close"),
}


@pytest.mark.parametrize("cut", ["given", "bytewise", "whole"])
@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_replay_is_what_was_recorded(
    kind: str, cut: Cut, tape: Path, transport: Transport
) -> None:
    async with Endpoint([ANSWERS[kind]()]) as endpoint, Recorder(endpoint.base_url, tape) as proxy:
        real = await outcome(provider_at(proxy.base_url, transport))
    async with Replay(tape, cut=cut) as replay:
        again = await outcome(provider_at(replay.base_url, transport, key="any"))

    assert again == real


async def test_a_recording_keeps_bytes_and_cuts(tape: Path, transport: Transport) -> None:
    steps = [chunk({"content": "one"}), chunk({"content": "two"}), chunk({}, "stop")]
    spaced = [part for step in steps for part in (step, 0.02)]
    async with (
        Endpoint([Answer(steps=tuple(spaced))]) as endpoint,
        Recorder(endpoint.base_url, tape) as proxy,
    ):
        await ask(provider_at(proxy.base_url, transport))

    (line,) = read_cases(tape)
    assert b"".join(base64.b64decode(write) for write in line["writes_b64"]) == b"".join(steps)
    assert len(line["writes_b64"]) > 1
    assert line["dialect"] == "openai-chat"
    assert line["request"]["body"]["messages"] == [{"role": "user", "content": "hi"}]


async def test_a_recording_holds_no_secret_wherever_it_turned_up(
    tape: Path, transport: Transport
) -> None:
    basic = base64.b64encode(f"me:{CANARY}".encode()).decode()
    pieces = [CANARY[n : n + 3] for n in range(0, len(CANARY), 3)]
    inside = [CANARY[:10], CANARY[10:]]
    answers = [
        text_answer(["your key is ", CANARY, f" or {quote(CANARY, safe='')} or {basic}"]),
        text_answer(pieces),
        Answer(steps=(*(chunk({"content": "x"}) + step.encode() for step in inside), "cut")),
        error_answer(401, f"Incorrect API key provided: {CANARY[:6]}****{CANARY[-4:]}."),
        error_answer(500, f"tenant {OTHER} is broken, half a key: {CANARY[:12]}"),
        tool_answer([("call_1", "now", {"key": CANARY})]),
    ]
    async with (
        Endpoint(answers) as endpoint,
        Recorder(endpoint.base_url, tape, secrets=[OTHER]) as proxy,
    ):
        provider = provider_at(proxy.base_url, transport)
        for number in range(len(answers)):
            await outcome(provider, f"question {number}: keep {CANARY} and {OTHER} safe")
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as client:
            url = f"{proxy.base_url}/models?key={quote(CANARY, safe='')}&alt=sse"
            headers = {"Cookie": f"session={OTHER}", "x-goog-api-key": CANARY}
            await (await client.get(url, headers=headers)).read()
        received = endpoint.requests[0]

    assert received.headers["authorization"] == f"Bearer {CANARY}"  # the endpoint did get it
    assert len(read_cases(tape)) == len(answers) + 1
    assert secrets_in(tape) == []
    paths = [line["request"]["path"] for line in read_cases(tape)]
    refused = base64.b64decode("".join(read_cases(tape)[3]["writes_b64"]))
    assert CANARY[:6].encode() not in refused
    assert CANARY[-4:].encode() not in refused
    assert paths[-1] == "/models?alt=sse"


async def test_nobody_can_read_a_secret_together_from_a_replay(
    tape: Path, transport: Transport
) -> None:
    answer = text_answer([*CANARY, " and nothing else"])
    async with Endpoint([answer]) as endpoint, Recorder(endpoint.base_url, tape) as proxy:
        await ask(provider_at(proxy.base_url, transport))
    async with Replay(tape) as replay:
        said = str(await ask(provider_at(replay.base_url, transport, key="any")))

    assert "and nothing else" in said
    assert not [n for n in range(len(CANARY) - PIECE + 1) if CANARY[n : n + PIECE] in said]


async def test_what_was_never_recorded_is_refused_and_says_why(
    tape: Path, transport: Transport
) -> None:
    async with Endpoint() as endpoint, Recorder(endpoint.base_url, tape) as proxy:
        await ask(provider_at(proxy.base_url, transport), "known")
    async with Replay(tape) as replay:
        provider = provider_at(replay.base_url, transport, key="any")
        await ask(provider, "known")
        with pytest.raises(RequestRefused, match=r"talk\.jsonl holds no recording of .*model m"):
            await ask(provider, "unknown")

        assert replay.missed == ["POST /chat/completions, model m, 1 messages"]


async def test_the_same_question_gets_its_answers_in_order(
    tape: Path, transport: Transport
) -> None:
    answers = [error_answer(503), text_answer(["at last"])]
    async with Endpoint(answers) as endpoint, Recorder(endpoint.base_url, tape) as proxy:
        provider = provider_at(proxy.base_url, transport)
        with pytest.raises(Overloaded):
            await ask(provider)
        await ask(provider)
    async with Replay(tape) as replay:
        provider = provider_at(replay.base_url, transport, key="any")
        with pytest.raises(Overloaded):
            await ask(provider)
        first, second = await ask(provider), await ask(provider)

    assert first == second


async def test_other_dialects_are_recorded_too(tape: Path, transport: Transport) -> None:
    answer = anthropic_answers.text_answer(["green ", "tea"], thought="hm")
    async with Endpoint([answer]) as endpoint, Recorder(endpoint.base_url, tape) as proxy:
        real = await ask(provider_at(proxy.base_url, transport, wire="anthropic"))
    async with Replay(tape, cut="bytewise") as replay:
        again = await ask(provider_at(replay.base_url, transport, key="any", wire="anthropic"))

    assert _merged(again) == _merged(real)
    assert read_cases(tape)[0]["dialect"] == "anthropic"


async def test_a_replay_is_silent_where_the_client_had_left(
    tape: Path, transport: Transport
) -> None:
    answer = Answer(steps=(chunk({"content": "one"}), "hang"))
    async with Endpoint([answer]) as endpoint, Recorder(endpoint.base_url, tape) as proxy:
        first = await start(provider_at(proxy.base_url, transport))
        recorded = await endpoint.request(0)
        async with asyncio.timeout(20):
            await recorded.closed.wait()
    async with Replay(tape) as replay:
        again = await start(provider_at(replay.base_url, transport, key="any"))
        async with asyncio.timeout(20):
            await replay.requests[0].closed.wait()

    assert again == first
    assert read_cases(tape)[0]["close"] == "open"


async def test_an_endpoint_that_is_not_there_is_no_recording(
    tape: Path, transport: Transport
) -> None:
    async with Recorder("http://127.0.0.1:9/v1", tape) as proxy:
        with pytest.raises((StreamCut, Overloaded)):
            await ask(provider_at(proxy.base_url, transport))

    assert proxy.recorded == 0


async def test_a_wrong_key_is_recorded_as_what_it_is(tape: Path, transport: Transport) -> None:
    async with (
        Endpoint([error_answer(401)]) as endpoint,
        Recorder(endpoint.base_url, tape) as proxy,
    ):
        with pytest.raises(AuthenticationFailed):
            await ask(provider_at(proxy.base_url, transport))
    async with Replay(tape) as replay:
        with pytest.raises(AuthenticationFailed):
            await ask(provider_at(replay.base_url, transport, key="any"))


SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=PIECE, max_size=40)


@given(SECRETS, st.binary(max_size=200), st.integers(0, 2), st.integers(0, 200))
def test_a_secret_is_struck_out_in_every_form_and_nothing_moves(
    secret: str, around: bytes, form: int, at: int
) -> None:
    forms = (
        secret.encode(),
        quote(secret, safe="").encode(),
        base64.b64encode(around[:at] + secret.encode()),
    )
    data = around[:at] + forms[form] + around[at:]
    cleaned = Scrubber([secret]).clean(data)

    assert len(cleaned) == len(data)
    if form < 2:
        assert forms[form] not in cleaned
    else:
        encoded = cleaned[len(around[:at]) : len(around[:at]) + len(forms[2])]
        assert secret.encode() not in base64.b64decode(encoded.replace(b"*", b"A"))


@pytest.mark.parametrize(
    "told",
    [
        r"sk-canary-9f8e7d6c5b4a\/Tea+3210",
        r"sk-canary-9f8e7d6c5b4a/Tea\u002b3210",
        r"sk-canary-9f8e7d6c5b4a%2FTea%2B3210",
        r"see 9f8e7d6c5b4a/ for more",
        r"sk-***210",
        r"sk-can…3210",
    ],
)
def test_the_ways_in_which_servers_write_a_key_are_known(told: str) -> None:
    cleaned = Scrubber([CANARY]).clean_text(
        json.dumps({"x": "y"})[:-1] + f', "message": "{told}"}}'
    )

    assert "9f8e" not in cleaned
    assert "3210" not in cleaned
    assert "sk-" not in cleaned
    assert set(json.loads(cleaned)) == {"x", "message"}


@given(st.text(max_size=200))
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    data = json.dumps({"content": text}).encode()

    assert Scrubber(["\x00never-in-any-text\x00"]).clean(data) == data
