"""What providers of the settings may say."""

from __future__ import annotations

import pytest

from teahouse.app.endpoints import HIDDEN, Endpoints
from teahouse.core.clock import SystemClock
from teahouse.core.errors import ProviderError
from teahouse.core.messages import Message, Text
from teahouse.llm.provider import ModelRequest
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.testing.answers import Answer, error_answer, frame
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
