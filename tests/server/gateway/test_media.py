"""The official openai package asks through our forms, a client and a wire, a scripted endpoint."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime

import httpx
import openai
import pytest

from teahouse.core.errors import Invalid, TeahouseError
from teahouse.core.messages import Usage
from teahouse.llm.client import Client
from teahouse.llm.embedding import Embedded
from teahouse.llm.providers import build_provider
from teahouse.llm.retry import Retry
from teahouse.llm.settings import ProviderSettings, WireName
from teahouse.llm.transport import Transport
from teahouse.server.gateway.ollama import embeddings as ollama
from teahouse.server.gateway.openai import audio, embeddings, images
from teahouse.server.gateway.refusals import refusal_of
from teahouse.testing.answers import Answer, json_answer
from teahouse.testing.endpoint import Endpoint

pytestmark = pytest.mark.anyio

ONE, TWO = [0.5, -1.0, 2.0], [0.25, 0.0, 1.5]
BASE64 = [base64.b64encode(struct.pack("<3f", *one)).decode() for one in (ONE, TWO)]
NOW = datetime(2026, 11, 30, tzinfo=UTC)


class House:
    """Answers as the gateway's routes do."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        answer = getattr(self, f"_{request.url.path.removeprefix('/v1/').replace('/', '_')}")
        try:
            return await answer(request.headers.get("content-type", ""), await request.aread())
        except TeahouseError as error:
            refusal = refusal_of(error, "en-US")
            body = {"error": {"message": refusal.message, "code": refusal.code, "type": "x"}}
            return httpx.Response(refusal.status, json=body)

    async def _embeddings(self, _: str, body: bytes) -> httpx.Response:
        asked = embeddings.read_embeddings(body)
        found = await self._client.embed(asked.model, asked.request)
        return _json(embeddings.embeddings_answer(asked, found))

    async def _audio_speech(self, _: str, body: bytes) -> httpx.Response:
        asked = audio.read_speech(body)
        pieces = self._client.speak(asked.model, asked.request)
        first = await anext(pieces)

        async def told() -> AsyncIterator[bytes]:
            yield audio.speech_piece(asked, first)
            async with aclosing(pieces):
                async for piece in pieces:
                    yield audio.speech_piece(asked, piece)

        kind = audio.speech_type(asked, first)
        return httpx.Response(200, content=told(), headers={"content-type": kind})

    async def _audio_transcriptions(self, content_type: str, body: bytes) -> httpx.Response:
        asked = audio.read_transcription(content_type, body)
        found = await self._client.transcribe(asked.model, asked.request)
        kind = audio.transcription_type(asked, found)
        told = audio.transcription_answer(asked, found)
        return httpx.Response(200, content=told, headers={"content-type": kind})

    async def _images_generations(self, _: str, body: bytes) -> httpx.Response:
        asked = images.read_images(body)
        found = await self._client.paint(asked.model, asked.request)
        return _json(images.images_answer(asked, found, NOW))


def _json(body: bytes) -> httpx.Response:
    return httpx.Response(200, content=body, headers={"content-type": "application/json"})


@asynccontextmanager
async def official(
    *answers: Answer, wire: WireName = "openai_chat"
) -> AsyncIterator[tuple[openai.AsyncOpenAI, Endpoint]]:
    async with Endpoint(answers) as endpoint, Transport() as transport:
        settings = ProviderSettings(wire=wire, base_url=endpoint.base_url)
        client = Client(
            {"acme": build_provider("acme", settings, None, transport)}, retry=Retry(tries=1)
        )
        http = httpx.AsyncClient(transport=httpx.MockTransport(House(client)))
        async with openai.AsyncOpenAI(
            api_key="k", base_url="http://house.test/v1", http_client=http, max_retries=0
        ) as sdk:
            yield sdk, endpoint


def rows(*vectors: object) -> Answer:
    told = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    usage = {"prompt_tokens": 4, "total_tokens": 4}
    return json_answer({"object": "list", "data": told, "model": "x", "usage": usage})


@pytest.mark.parametrize("given", [(ONE, TWO), BASE64], ids=["numbers", "base64"])
async def test_the_package_gets_its_numbers_whatever_the_vendor_gives(
    given: tuple[object, ...],
) -> None:
    for more in ({}, {"encoding_format": "float"}):
        async with official(rows(*given)) as (sdk, endpoint):
            found = await sdk.embeddings.create(model="acme/m", input=["a", "b"], **more)
            body = endpoint.requests[0].body

        assert [one.embedding for one in found.data] == [ONE, TWO]
        assert [one.index for one in found.data] == [0, 1]
        assert (found.model, found.usage.prompt_tokens) == ("acme/m", 4)
        assert body["model"] == "m"
        assert body.get("encoding_format") == (None if more else "base64")


async def test_the_package_gets_its_numbers_from_ollama_too() -> None:
    told = {"model": "m", "embeddings": [ONE], "prompt_eval_count": 2}
    async with official(json_answer(told), wire="ollama") as (sdk, _):
        found = await sdk.embeddings.create(model="acme/m", input="a", user="u", dimensions=3)

    assert found.data[0].embedding == ONE


async def test_tokens_and_further_wishes_reach_the_vendor() -> None:
    async with official(rows(ONE)) as (sdk, endpoint):
        await sdk.embeddings.create(
            model="acme/m", input=[1, 2], user="u", extra_body={"input_type": "query"}
        )
        body = endpoint.requests[0].body

    assert body["input"] == [[1, 2]]
    assert (body["user"], body["input_type"]) == ("u", "query")


async def test_the_package_hears_that_a_vendor_has_no_embeddings() -> None:
    async with official(wire="anthropic") as (sdk, _):
        with pytest.raises(openai.BadRequestError, match="acme has no embeddings") as error:
            await sdk.embeddings.create(model="acme/m", input="a")

    assert error.value.code == "provider_no_embeddings"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"input": "a"}', "model"),
        (b'{"model": "m"}', "input"),
        (b'{"model": "m", "input": []}', "input"),
        (b'{"model": "m", "input": ["a", 1]}', "input"),
        (b'{"model": "m", "input": [true]}', "input"),
        (b'{"model": "m", "input": [[]]}', "input"),
        (b'{"model": "m", "input": {"a": 1}}', "input"),
        (b'{"model": "m", "input": "a", "encoding_format": "int8"}', "encoding_format"),
        (b'{"model": "m", "input": "a", "dimensions": 0}', "dimensions"),
    ],
)
def test_a_wrong_request_for_vectors_is_told_by_its_field(body: bytes, field: str) -> None:
    with pytest.raises(Invalid) as error:
        embeddings.read_embeddings(body)

    assert error.value.values["field"] == field


async def test_ollamas_two_forms_are_read_and_answered() -> None:
    asked = ollama.read_embed(
        b'{"model": "m", "input": "a", "truncate": false, "keep_alive": "5m", "unknown": 1}'
    )
    old = ollama.read_embedding(b'{"model": "m", "prompt": "a"}')
    found = Embedded(vectors=(BASE64[0],), usage=Usage(input=3))

    assert asked.request.inputs == old.request.inputs == ("a",)
    assert asked.request.own == {"ollama": {"truncate": False, "keep_alive": "5m"}}
    assert ollama.embed_answer(asked, found, 0.5) == (
        b'{"model":"m","embeddings":[[0.5,-1.0,2.0]],"total_duration":500000000,'
        b'"load_duration":0,"prompt_eval_count":3}'
    )
    assert ollama.embedding_answer(found) == b'{"embedding":[0.5,-1.0,2.0]}'
    for read, body in (
        (ollama.read_embed, b'{"model": "m"}'),
        (ollama.read_embed, b'{"model": "m", "input": []}'),
        (ollama.read_embedding, b'{"model": "m"}'),
    ):
        with pytest.raises(Invalid):
            read(body)


SOUND = Answer(steps=(b"\xff\xf3one", b"two"), headers={"Content-Type": "audio/mpeg"})


async def test_the_package_streams_speech_as_bytes() -> None:
    async with official(SOUND) as (sdk, endpoint):
        async with sdk.audio.speech.with_streaming_response.create(
            model="acme/m", input="tea", voice="alloy", instructions="slowly", speed=0.5
        ) as answer:
            data = b"".join([piece async for piece in answer.iter_bytes()])
            kind = answer.headers["content-type"]
        body = endpoint.requests[0].body

    assert (data, kind) == (b"\xff\xf3onetwo", "audio/mpeg")
    assert (body["instructions"], body["speed"], body["model"]) == ("slowly", 0.5, "m")


async def test_the_package_streams_speech_as_events() -> None:
    async with official(SOUND) as (sdk, endpoint):
        async with sdk.audio.speech.with_streaming_response.create(
            model="acme/m", input="tea", voice={"id": "v_1"}, stream_format="sse"
        ) as answer:
            lines = [line async for line in answer.iter_lines() if line]
        body = endpoint.requests[0].body

    told = [json.loads(line.removeprefix("data: ")) for line in lines]
    sound = b"".join(base64.b64decode(one["audio"]) for one in told[:-1])
    assert sound == b"\xff\xf3onetwo"
    assert told[-1]["type"] == "speech.audio.done"
    assert body["voice"] == {"id": "v_1"}
    assert "stream_format" not in body


async def test_the_package_has_a_recording_written_down() -> None:
    told = {"text": "tea", "language": "english", "duration": 1.5, "words": []}
    async with official(json_answer(told)) as (sdk, endpoint):
        found = await sdk.audio.transcriptions.create(
            model="acme/m",
            file=("茶.wav", b"RIFF0123"),
            response_format="verbose_json",
            temperature=0.2,
            timestamp_granularities=["word", "segment"],
        )
        sent = endpoint.requests[0]
    again = audio.read_transcription(
        sent.headers["content-type"], sent.body["not_json"].encode()
    ).request

    assert (found.text, found.language, found.duration) == ("tea", "english", 1.5)
    assert (again.recording.name, again.recording.data) == ("茶.wav", b"RIFF0123")
    assert (again.temperature, again.format) == (0.2, "verbose_json")
    assert again.extra == {"timestamp_granularities[]": ["word", "segment"]}


async def test_the_package_gets_subtitles_as_they_are() -> None:
    srt = "1\n00:00:00,000 --> 00:00:01,000\n你好\n"
    answer = Answer(steps=(srt.encode(),), headers={"Content-Type": "text/plain; charset=utf-8"})
    async with official(answer) as (sdk, _):
        raw = await sdk.audio.transcriptions.with_raw_response.create(
            model="acme/m", file=("a.mp3", b"ID3"), response_format="srt"
        )

    assert raw.headers["content-type"] == "text/plain; charset=utf-8"
    assert raw.parse() == srt


async def test_the_package_streams_a_transcription() -> None:
    async with official(json_answer({"text": "green tea"})) as (sdk, endpoint):
        stream = await sdk.audio.transcriptions.create(
            model="acme/m", file=("a.mp3", b"ID3"), stream=True
        )
        events = [event async for event in stream]
        assert "stream" not in endpoint.requests[0].body["not_json"]

    assert [event.type for event in events] == ["transcript.text.delta", "transcript.text.done"]
    assert events[-1].text == "green tea"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"--b--\r\n"),
        ("multipart/form-data; boundary=b", b""),
        ("multipart/form-data; boundary=b", b'--b\r\nContent-Disposition: form-data; name="x'),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--\r\n',
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n\xff\r\n--b--\r\n',
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n' * 99 + b"--b--\r\n",
        ),
    ],
)
def test_what_is_no_whole_form_with_a_recording_is_refused(kind: str, body: bytes) -> None:
    with pytest.raises(Invalid):
        audio.read_transcription(kind, body)


async def test_the_package_gets_pictures_in_the_form_that_it_wants() -> None:
    told = {
        "data": [{"b64_json": "AAAA", "revised_prompt": "green tea"}],
        "output_format": "webp",
        "usage": {"input_tokens": 5, "output_tokens": 100, "total_tokens": 105},
    }
    async with official(*[json_answer(told)] * 2) as (sdk, endpoint):
        data = await sdk.images.generate(model="acme/m", prompt="tea", size="1024x1024")
        address = await sdk.images.generate(
            model="acme/m", prompt="tea", n=2, response_format="url"
        )
        bodies = [one.body for one in endpoint.requests]

    assert data.data is not None
    assert address.data is not None
    assert (data.data[0].b64_json, data.data[0].revised_prompt) == ("AAAA", "green tea")
    assert data.usage is not None
    assert (data.usage.output_tokens, data.created) == (100, int(NOW.timestamp()))
    assert address.data[0].url == "data:image/webp;base64,AAAA"
    assert bodies == [
        {"model": "m", "prompt": "tea", "size": "1024x1024"},
        {"model": "m", "prompt": "tea", "n": 2, "response_format": "url"},
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"prompt": "a"}', "model"),
        (b'{"model": "m"}', "prompt"),
        (b'{"model": "m", "prompt": "a", "n": 0}', "n"),
        (b'{"model": "m", "prompt": "a", "stream": true}', "stream"),
        (b'{"model": "m", "prompt": "a", "response_format": "png"}', "response_format"),
    ],
)
def test_a_wrong_request_for_pictures_is_told_by_its_field(body: bytes, field: str) -> None:
    with pytest.raises(Invalid) as error:
        images.read_images(body)

    assert error.value.values["field"] == field
