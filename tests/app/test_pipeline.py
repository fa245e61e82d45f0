"""The pipeline that the settings name, in the whole house."""

from __future__ import annotations

from pathlib import Path

import pytest

from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import fake, running

pytestmark = pytest.mark.anyio


async def test_words_are_masked_from_the_moment_the_settings_say_so(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        conversation, _ = await guest.say("a damn fine tea")
        status, answer = await guest.ask(
            "PATCH",
            "/api/settings",
            {"pipeline": ["word_filter"], "middleware": {"word_filter": {"words": ["damn"]}}},
        )
        assert status == 200, answer
        await guest.say("another damn tea", conversation=conversation)

        posts = (await guest.get(f"/api/messages?conversation={conversation}"))["items"]
        texts = [post["parts"][0]["text"] for post in posts]
        assert texts[1::2] == ["echo: a damn fine tea", "echo: another **** tea"]


async def test_a_pipeline_that_cannot_be_built_lets_nothing_by(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint), TEAHOUSE_PIPELINE="word_filter") as guest,
    ):
        _, run = await guest.say("hello")

        assert run["status"] == "failed"
        assert run["problem"]["code"] == "middleware_options"
        assert not endpoint.requests
