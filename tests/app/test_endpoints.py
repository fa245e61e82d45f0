"""What providers of the settings may say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from teahouse.app.endpoints import HIDDEN, Endpoints
from teahouse.config.live import LiveSettings
from teahouse.core.clock import SystemClock
from teahouse.core.errors import ProviderError, SettingsError
from teahouse.core.messages import Message, Text
from teahouse.llm.client import Client
from teahouse.llm.embedding import EmbedRequest
from teahouse.llm.provider import ModelRequest
from teahouse.llm.resume import may_resume
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.testing.answers import Answer, error_answer, frame, json_answer
from teahouse.testing.endpoint import Endpoint

pytestmark = pytest.mark.anyio

KEY, HEADER = "sk-0123456789abcdef", "s3cret-of-the-proxy"
SAID = f"Incorrect API key provided: {KEY} ({HEADER})"
ASKED = ModelRequest(model="m", messages=(Message(role="user", parts=(Text(text="hi"),)),))


async def no_file(file: str) -> bytes:
    raise AssertionError(file)


@pytest.mark.parametrize(
    "answer",
    [
        error_answer(401, SAID),
        error_answer(401, "x" * (300 - 45) + " " + SAID),
        Answer(steps=(frame({"error": {"message": SAID}}),)),
    ],
    ids=["refused", "cut", "in the stream"],
)
async def test_no_error_repeats_a_secret(answer: Answer) -> None:
    clock = SystemClock()
    async with Endpoint([answer], models=answer) as endpoint, Transport(clock) as transport:
        settings = ProviderSettings(
            wire="openai_chat",
            base_url=endpoint.base_url,
            api_key=KEY,
            headers={"Proxy-Authorization": f"Basic {HEADER}"},
        )
        provider = Endpoints(transport, no_file).build("x", settings)
        with pytest.raises(ProviderError) as told:
            async for _ in provider.stream(ASKED):
                pass
        with pytest.raises(ProviderError) as listed:
            await provider.models()

    for error in (told.value, listed.value):
        shown = f"{error} {error.problem()} {error.values}"
        assert KEY[:12] not in shown
        assert HEADER not in shown
    assert HIDDEN in str(told.value)


async def test_what_only_some_vendors_have_passes_and_tells_no_secret_either() -> None:
    refused = error_answer(401, SAID)
    given = json_answer({"data": [{"index": 0, "embedding": [1.0]}]})
    async with Endpoint([refused, given]) as endpoint, Transport() as transport:
        settings = ProviderSettings(wire="openai_chat", base_url=endpoint.base_url, api_key=KEY)
        client = Client({"x": Endpoints(transport, no_file).build("x", settings)})
        with pytest.raises(ProviderError) as told:
            await client.embed("x/m", EmbedRequest(inputs=("hi",)))
        found = await client.embed("x/m", EmbedRequest(inputs=("hi",)))

    assert KEY[:12] not in f"{told.value} {told.value.problem()} {told.value.values}"
    assert HIDDEN in str(told.value)
    assert found.vectors == ((1.0,),)


async def test_a_provider_that_cannot_be_built_says_so_whatever_it_is_asked() -> None:
    settings = ProviderSettings(wire="openai_chat", base_url="not an address")
    async with Transport() as transport:
        endpoints = Endpoints(transport, no_file)
        await endpoints.follow(cast("LiveSettings", SimpleNamespace(providers={"x": settings})))
        client = Client(endpoints.providers)
        with pytest.raises(SettingsError):
            await client.embed("x/m", EmbedRequest(inputs=("hi",)))


async def test_a_provider_with_a_key_goes_on_with_cut_replies_as_one_without() -> None:
    for key in (None, KEY):
        async with Transport() as transport:
            settings = ProviderSettings(
                base_url="http://127.0.0.1:1/v1", api_key=key, quirks={"continues": "plain"}
            )
            provider = Endpoints(transport, no_file).build("x", settings)

        assert may_resume(provider, ASKED)
