"""Vectors, sounds, texts of recordings and pictures: each vendor's way to ask for them."""

from __future__ import annotations

import base64
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

import pytest

from teahouse.core.errors import ProviderError
from teahouse.core.messages import JsonObject, Usage
from teahouse.llm.breaker import Breakers
from teahouse.llm.budget import Budgets, Cap
from teahouse.llm.catalog import Facts
from teahouse.llm.client import Client
from teahouse.llm.embedding import Embedded, EmbedRequest, floats, packed
from teahouse.llm.errors import (
    BudgetSpent,
    Malformed,
    NotOffered,
    Overloaded,
    RequestRefused,
    Resting,
    StreamCut,
)
from teahouse.llm.pictures import PictureRequest
from teahouse.llm.provider import Provider
from teahouse.llm.providers import build_provider
from teahouse.llm.retry import Retry
from teahouse.llm.route import Routes
from teahouse.llm.settings import BreakerSettings, BudgetLimits, ProviderSettings, WireName
from teahouse.llm.speech import Recording, Sound, SpeechRequest, TranscriptionRequest
from teahouse.llm.transport import Transport
from teahouse.llm.usage import Caller, CallRecord
from teahouse.testing.answers import Answer, Hold, error_answer, json_answer
from teahouse.testing.clock import FakeClock
from teahouse.testing.endpoint import Endpoint
from teahouse.testing.providers import ScriptedProvider

pytestmark = pytest.mark.anyio

HELLO = EmbedRequest(inputs=("hello", "world"))
ONE, TWO = [0.5, -1.0, 2.0], [0.25, 0.0, 1.5]
BASE64 = [base64.b64encode(struct.pack("<3f", *one)).decode() for one in (ONE, TWO)]
ONCE = Retry(tries=1)


def vectors_answer(*vectors: object, tokens: int = 4) -> Answer:
    """As OpenAI does it, the last one first: the index says where it belongs."""
    rows = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_answer({"object": "list", "data": rows[::-1], "model": "x", "usage": usage})


async def at_once(_: float) -> None:
    pass


class Book:
    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def note(self, call: CallRecord, /) -> None:
        self.calls.append(call)


@asynccontextmanager
async def asked(
    *answers: Answer, wire: WireName = "openai_chat"
) -> AsyncIterator[tuple[Endpoint, Provider]]:
    async with Endpoint(answers) as endpoint, Transport() as transport:
        settings = ProviderSettings(wire=wire, base_url=endpoint.base_url)
        yield endpoint, build_provider("acme", settings, "sk-secret", transport)


async def embedded(
    request: EmbedRequest, *answers: Answer, wire: WireName = "openai_chat"
) -> tuple[Embedded, JsonObject, str]:
    """What came of it, and the last body and path that were sent."""
    async with asked(*answers, wire=wire) as (endpoint, provider):
        found = await Client({"acme": provider}).embed("acme/m", request)
        last = endpoint.requests[-1]
        return found, last.body, last.path


async def test_vectors_stand_in_the_order_of_their_inputs() -> None:
    found, body, path = await embedded(HELLO, vectors_answer(ONE, TWO))

    assert path == "/v1/embeddings"
    assert body == {"model": "m", "input": ["hello", "world"]}
    assert [list(floats(one)) for one in found.vectors] == [ONE, TWO]
    assert found.usage == Usage(input=4)
    assert found.model is None


async def test_base64_is_asked_for_and_kept_and_numbers_are_taken_too() -> None:
    wish = EmbedRequest(inputs=HELLO.inputs, packed=True, dimensions=3)

    kept, body, _ = await embedded(wish, vectors_answer(*BASE64))
    numbers, _, _ = await embedded(wish, vectors_answer(ONE, TWO))

    assert (body["encoding_format"], body["dimensions"]) == ("base64", 3)
    assert list(kept.vectors) == BASE64
    assert [list(floats(one)) for one in kept.vectors] == [ONE, TWO]
    assert [packed(one) for one in numbers.vectors] == BASE64


async def test_tokens_go_as_they_are_to_those_who_take_them_and_to_nobody_else() -> None:
    tokens = EmbedRequest(inputs=((1, 2, 3),))

    _, body, _ = await embedded(tokens, vectors_answer(ONE))
    assert body["input"] == [[1, 2, 3]]
    wires: tuple[WireName, ...] = ("gemini", "ollama")
    for wire in wires:
        with pytest.raises(RequestRefused):
            await embedded(tokens, vectors_answer(ONE), wire=wire)


async def test_gemini_gets_a_long_list_in_requests_of_a_hundred() -> None:
    texts = tuple(f"text {n}" for n in range(150))
    rows = [{"values": [float(n)]} for n in range(150)]
    parts = [json_answer({"embeddings": one}) for one in (rows[:100], rows[100:])]
    wish = EmbedRequest(inputs=texts, dimensions=8, own={"gemini": {"taskType": "CLUSTERING"}})

    found, body, path = await embedded(wish, *parts, wire="gemini")

    assert path == "/v1/models/m:batchEmbedContents"
    assert len(body["requests"]) == 50
    assert body["requests"][0] == {
        "model": "models/m",
        "content": {"parts": [{"text": "text 100"}]},
        "outputDimensionality": 8,
        "taskType": "CLUSTERING",
    }
    assert [one[0] for one in found.vectors] == list(range(150))
    assert found.usage.estimated
    assert found.usage.input > 150


async def test_ollama_is_asked_at_its_own_door() -> None:
    wish = EmbedRequest(inputs=HELLO.inputs, own={"ollama": {"truncate": False}})
    answer = json_answer({"model": "m", "embeddings": [ONE, TWO], "prompt_eval_count": 7})

    found, body, path = await embedded(wish, answer, wire="ollama")

    assert path == "/api/embed"
    assert body == {"model": "m", "input": ["hello", "world"], "truncate": False}
    assert [list(floats(one)) for one in found.vectors] == [ONE, TWO]
    assert found.usage == Usage(input=7)


@pytest.mark.parametrize(
    "answer",
    [
        vectors_answer(ONE),
        vectors_answer(ONE, None),
        vectors_answer(ONE, []),
        vectors_answer(ONE, ["a"]),
        vectors_answer(ONE, "not base64!"),
        vectors_answer(ONE, base64.b64encode(b"12345").decode()),
        json_answer({"data": "nothing"}),
        json_answer([]),
        Answer(steps=(b"<!doctype html><title>Log in</title>",)),
        Answer(steps=(b'{"data": [',)),
    ],
)
async def test_what_is_no_vector_for_each_input_is_no_answer(answer: Answer) -> None:
    async with asked(answer) as (_, provider):
        with pytest.raises(Malformed):
            await Client({"acme": provider}, retry=ONCE).embed("acme/m", HELLO)


async def test_who_has_no_embeddings_is_named() -> None:
    book = Book()
    clients = Client({"a": ScriptedProvider()}, ledger=book)
    async with asked(wire="anthropic") as (endpoint, provider):
        clients.providers = {"a": ScriptedProvider(), "claude": provider}
        for name in ("a", "claude"):
            with pytest.raises(NotOffered) as error:
                await clients.embed(f"{name}/m", HELLO)
            assert error.value.code == "provider_no_embeddings"
            assert error.value.values["provider"] == name
        assert not endpoint.requests

    assert [one.outcome for one in book.calls] == ["failed", "failed"]
    assert [(one.input, one.output) for one in book.calls] == [(0, 0), (0, 0)]


async def test_a_path_that_an_endpoint_lacks_is_told_from_a_model_that_it_lacks() -> None:
    lacking = error_answer(404, "Not Found"), error_answer(501, "start it with --embeddings")
    for answer in lacking:
        async with asked(answer) as (endpoint, provider):
            with pytest.raises(NotOffered):
                await Client({"acme": provider}).embed("acme/m", HELLO)
            assert len(endpoint.requests) == 1
    async with asked(error_answer(404, "The model m does not exist")) as (_, provider):
        with pytest.raises(RequestRefused):
            await Client({"acme": provider}).embed("acme/m", HELLO)


async def test_a_failed_call_is_made_again_and_each_attempt_is_noted() -> None:
    book = Book()
    async with asked(error_answer(503), vectors_answer(ONE, TWO)) as (_, provider):
        client = Client(
            {"acme": provider},
            ledger=book,
            sleep=at_once,
            facts=lambda _: Facts(input=0.5, output=0),
        )
        await client.embed("acme/m", HELLO, caller=Caller(person="p_1", key="k_1"))

    assert [(one.outcome, one.attempt) for one in book.calls] == [("failed", 1), ("answered", 2)]
    last = book.calls[-1]
    assert (last.input, last.output, last.estimated) == (4, 0, False)
    assert last.cost == pytest.approx(2e-6)
    assert last.caller == Caller(person="p_1", key="k_1", purpose="embedding")
    assert last.code == "stop"


async def test_the_next_model_embeds_and_signs() -> None:
    routes = Routes(aliases={"vectors": {"acme/m": 1}}, fallbacks={"vectors": ("b/m",)})
    async with asked(error_answer(503)) as (_, bad), asked(vectors_answer(ONE, TWO)) as (_, good):
        client = Client({"acme": bad, "b": good}, retry=ONCE, routes=lambda: routes)
        found = await client.embed("vectors", HELLO)

    assert found.model == "b/m"


async def test_a_model_that_fails_again_and_again_rests() -> None:
    clock = FakeClock()
    breakers = Breakers(clock, lambda: BreakerSettings(failures=2))
    async with asked(error_answer(503), error_answer(503)) as (endpoint, provider):
        client = Client({"acme": provider}, retry=ONCE, clock=clock, breakers=breakers)
        for kind in (Overloaded, Overloaded, Resting):
            with pytest.raises(kind):
                await client.embed("acme/m", HELLO)
        assert len(endpoint.requests) == 2


class Purse:
    """Refuses what would pass the limit of any account."""

    def __init__(self) -> None:
        self.aside: list[int] = []
        self.spent: list[int] = []

    async def reserve(self, caps: Sequence[Cap], amount: int, /) -> str:
        for cap in caps:
            if amount > cap.limit:
                raise BudgetSpent(cap.scope, cap.limit / 1e9, cap.limit / 1e9)
        self.aside.append(amount)
        return "r"

    def settle(self, reservation: str, spent: int, /) -> None:
        self.spent.append(spent)


async def test_a_budget_is_kept_and_settled() -> None:
    purse, limits = Purse(), BudgetLimits(day=1e-4)
    book, clock = Book(), FakeClock()

    def facts(_: str) -> Facts:
        return Facts(input=1, output=0)

    async with asked(vectors_answer(ONE, TWO)) as (endpoint, provider):
        client = Client(
            {"acme": provider},
            facts=facts,
            ledger=book,
            budgets=Budgets(purse, lambda: limits, facts, clock),
        )
        await client.embed("acme/m", HELLO)
        with pytest.raises(BudgetSpent):
            await client.embed("acme/m", EmbedRequest(inputs=("long " * 1000,)))
        assert len(endpoint.requests) == 1

    assert purse.spent == [4000]  # billionths of a dollar: four tokens
    assert purse.aside[0] >= 4000


async def sounds(client: Client, request: SpeechRequest) -> list[Sound]:
    async with aclosing(client.speak("acme/m", request)) as pieces:
        return [piece async for piece in pieces]


SAY = SpeechRequest(text="Good evening.", voice="alloy", format="opus", speed=1.5)


def sound_answer(*steps: bytes | Hold | str) -> Answer:
    return Answer(steps=steps, headers={"Content-Type": "audio/ogg"})  # type: ignore[arg-type]


async def test_speech_comes_in_the_pieces_in_which_it_is_sent() -> None:
    async with asked(sound_answer(b"one", Hold("more"), b"two")) as (endpoint, provider):
        stream = Client({"acme": provider}).speak("acme/m", SAY)
        async with aclosing(stream) as pieces:
            first = await anext(pieces)
            endpoint.release("more")
            rest = [piece async for piece in pieces]
        body = endpoint.requests[0].body

    assert (first.data, first.media_type) == (b"one", "audio/ogg")
    assert b"".join(piece.data for piece in rest) == b"two"
    assert rest[-1].usage is not None
    assert rest[-1].usage.estimated
    assert body == {
        "model": "m",
        "input": "Good evening.",
        "voice": "alloy",
        "response_format": "opus",
        "speed": 1.5,
    }


async def test_leaving_a_speech_closes_the_vendors_socket_and_is_noted() -> None:
    book = Book()
    async with asked(sound_answer(b"one", "hang")) as (endpoint, provider):
        stream = Client({"acme": provider}, ledger=book).speak("acme/m", SAY)
        async with aclosing(stream) as pieces:
            await anext(pieces)
        await endpoint.requests[0].closed.wait()

    assert [(one.outcome, one.caller.purpose) for one in book.calls] == [("cancelled", "speech")]
    assert book.calls[0].estimated
    assert book.calls[0].output > 0


async def test_a_speech_that_was_heard_is_not_begun_anew() -> None:
    async with asked(sound_answer(b"one", "cut"), sound_answer(b"two")) as (endpoint, provider):
        with pytest.raises(StreamCut):
            await sounds(Client({"acme": provider}), SAY)
        assert len(endpoint.requests) == 1


async def test_json_is_no_sound() -> None:
    async with asked(json_answer({"audio": "…"})) as (_, provider):
        with pytest.raises(Malformed):
            await sounds(Client({"acme": provider}, retry=ONCE), SAY)


TAPE = Recording(
    data=b"RIFF\r\n--not a boundary--\r\n", name='a"\r\nX: y.wav', media_type="audio/wav"
)


async def test_a_recording_goes_as_a_form_whose_names_cannot_break_out() -> None:
    wish = TranscriptionRequest(
        recording=TAPE,
        format="verbose_json",
        language="zh",
        temperature=0.5,
        extra={"timestamp_granularities[]": ["word", "segment"]},
    )
    told = {"text": "你好", "usage": {"type": "tokens", "input_tokens": 9, "output_tokens": 2}}
    async with asked(json_answer(told)) as (endpoint, provider):
        found = await Client({"acme": provider}).transcribe("acme/m", wish)
        request = endpoint.requests[0]

    assert request.path == "/v1/audio/transcriptions"
    kind, _, boundary = request.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    parts = request.body["not_json"].split(f"--{boundary}")
    heads = [part.split("\r\n\r\n")[0].strip() for part in parts[1:-1]]
    form = "Content-Disposition: form-data; name="
    assert heads == [
        f'{form}"model"',
        f'{form}"response_format"',
        f'{form}"language"',
        f'{form}"temperature"',
        f'{form}"timestamp_granularities[]"',
        f'{form}"timestamp_granularities[]"',
        f'{form}"file"; filename="a%22%0D%0AX: y.wav"\r\nContent-Type: audio/wav',
    ]
    assert parts[-2].split("\r\n\r\n", 1)[1] == TAPE.data.decode() + "\r\n"
    assert found.text == "你好"
    assert found.usage == Usage(input=9, output=2)


async def test_subtitles_are_kept_as_they_come() -> None:
    srt = "1\n00:00:00,000 --> 00:00:01,000\n你好\n"
    answer = Answer(steps=(srt.encode(),), headers={"Content-Type": "text/plain; charset=utf-8"})
    wish = TranscriptionRequest(recording=TAPE, format="srt")
    async with asked(answer) as (_, provider):
        found = await Client({"acme": provider}).transcribe("acme/m", wish)

    assert (found.text, found.body, found.media_type) == (srt, srt.encode(), "text/plain")
    assert found.usage.estimated


async def test_a_transcription_without_text_is_no_answer() -> None:
    async with asked(json_answer({"words": []})) as (_, provider):
        wish = TranscriptionRequest(recording=TAPE)
        with pytest.raises(Malformed):
            await Client({"acme": provider}, retry=ONCE).transcribe("acme/m", wish)


async def test_pictures_come_as_bytes_or_as_addresses() -> None:
    told = {
        "created": 1,
        "size": "1024x1024",
        "data": [{"b64_json": "AAAA"}, {"url": "https://x.example/1", "revised_prompt": "tea"}],
        "usage": {"input_tokens": 5, "output_tokens": 100, "total_tokens": 105},
    }
    wish = PictureRequest(prompt="a teapot", count=2, extra={"size": "1024x1024"})
    async with asked(json_answer(told)) as (endpoint, provider):
        found = await Client({"acme": provider}).paint("acme/m", wish)
        request = endpoint.requests[0]

    assert request.path == "/v1/images/generations"
    assert request.body == {"model": "m", "prompt": "a teapot", "n": 2, "size": "1024x1024"}
    assert [one.encoded for one in found.pictures] == ["AAAA", None]
    assert [one.url for one in found.pictures] == [None, "https://x.example/1"]
    assert found.pictures[1].revised_prompt == "tea"
    assert found.told == {"size": "1024x1024"}
    assert found.usage == Usage(input=5, output=100)


async def test_no_picture_is_no_answer() -> None:
    async with asked(json_answer({"data": [{}]})) as (_, provider):
        with pytest.raises(Malformed):
            await Client({"acme": provider}, retry=ONCE).paint("acme/m", PictureRequest(prompt="x"))


async def test_every_key_of_a_pool_embeds() -> None:
    async with (
        Endpoint([error_answer(401, "no"), vectors_answer(ONE, TWO)]) as endpoint,
        Transport() as transport,
    ):
        settings = ProviderSettings(
            wire="openai_chat", base_url=endpoint.base_url, api_keys={"a": "sk-1", "b": "sk-2"}
        )
        provider = build_provider("acme", settings, None, transport)
        found = await Client({"acme": provider}, retry=ONCE).embed("acme/m", HELLO)
        keys = [one.headers["authorization"] for one in endpoint.requests]

    assert len(found.vectors) == 2
    assert keys == ["Bearer sk-1", "Bearer sk-2"]


@pytest.mark.parametrize("what", ["embeddings", "speech", "transcription", "images"])
async def test_each_lack_has_its_words_in_every_language(what: str) -> None:
    error = NotOffered("acme", what)  # type: ignore[arg-type]
    said = {error.problem(one).message for one in ("en-US", "zh-CN", "zh-HK")}

    assert len(said) == 3
    assert all("acme" in one for one in said)
    assert error.problem("zh-HK").hint
    assert isinstance(error, ProviderError)
