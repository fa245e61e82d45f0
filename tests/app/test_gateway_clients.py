"""The gateway of the whole house, asked by OpenAI's own client and by the smallest there can be."""

from __future__ import annotations

import json
from pathlib import Path

import aiohttp
import openai
import pytest

from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import fake, running

pytestmark = pytest.mark.anyio


async def test_the_official_client_chooses_a_model_and_talks_to_it(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        url, key = f"{guest.opened.url}/v1", guest.opened.key
        async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0) as client:
            found = [model.id async for model in client.models.list()]
            assert "fake/fake" in found
            assert (await client.models.retrieve("fake/fake")).owned_by == "fake"
            with pytest.raises(openai.NotFoundError):
                await client.models.retrieve("fake/other")

            async with client.chat.completions.stream(
                model="fake/fake",
                messages=[{"role": "user", "content": "tea"}],
                stream_options={"include_usage": True},
            ) as stream:
                heard = await stream.get_final_completion()
            assert heard.choices[0].message.content == "echo: tea"
            assert heard.usage is not None
            assert heard.usage.completion_tokens > 0


async def test_a_post_to_chat_streams_tokens_and_the_end(tmp_path: Path) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {guest.opened.key}"}) as session,
    ):
        url = f"{guest.opened.url}/chat"
        body = {"model": "fake/fake", "messages": [{"role": "user", "content": "tea"}]}
        async with session.post(url, json=body) as answer:
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            lines = [line for line in (await answer.text()).split("\n\n") if line]
        told = [json.loads(line.removeprefix("data: ")) for line in lines if line[0] != ":"]
        assert "".join(one["content"] for one in told if one["type"] == "token") == "echo: tea"
        assert told[-1]["type"] == "done"
        assert told[-1]["usage"]["total"] > 0

        async with session.post(url, json={"messages": []}) as answer:
            assert answer.status == 400
            assert (await answer.json())["error"]["code"] == "field_wrong"


async def test_clients_of_anthropic_are_listed_the_models_in_their_form(tmp_path: Path) -> None:
    headers = {"anthropic-version": "2023-06-01"}
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession(headers=headers | {"x-api-key": guest.opened.key}) as session,
    ):
        async with session.get(f"{guest.opened.url}/v1/models") as answer:
            page = await answer.json()
        assert page["first_id"] == page["data"][0]["id"]
        async with session.get(f"{guest.opened.url}/v1/models/fake/fake") as answer:
            assert (await answer.json())["type"] == "model"
        async with session.get(f"{guest.opened.url}/v1/models/none/none") as answer:
            assert (answer.status, (await answer.json())["type"]) == (404, "error")


async def test_the_official_client_points_to_what_was_said_before(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        url, key = f"{guest.opened.url}/v1", guest.opened.key
        async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0) as client:
            first = await client.responses.create(model="fake/fake", input="tea")
            second = await client.responses.create(
                model="fake/fake", input="more", previous_response_id=first.id
            )
            asked = endpoint.requests[-1].body["messages"]
            assert [(one["role"], one["content"]) for one in asked] == [
                ("user", "tea"),
                ("assistant", "echo: tea"),
                ("user", "more"),
            ]

            assert (await client.responses.retrieve(second.id)).output_text == "echo: more"
            await client.responses.delete(second.id)
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(second.id)
            with pytest.raises(openai.BadRequestError) as caught:
                await client.responses.create(
                    model="fake/fake", input="more", previous_response_id=second.id
                )
            assert caught.value.code == "previous_response_not_found"


NOTHING: dict[str, dict[str, object]] = {
    "/v1/chat/completions": {"messages": []},
    "/v1/responses": {"input": []},
    "/v1/messages": {"max_tokens": 9, "messages": []},
}


async def test_only_ollama_s_programs_ask_without_a_word_for_a_model_to_be_loaded(
    tmp_path: Path,
) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {guest.opened.key}"}) as session,
    ):
        for path, body in NOTHING.items():
            url = guest.opened.url + path
            async with session.post(url, json={"model": "fake/fake", **body}) as answer:
                assert (path, answer.status) == (path, 400), await answer.text()
        url, body = f"{guest.opened.url}/ollama/api/chat", {"model": "fake/fake", "stream": False}
        async with session.post(url, json=body) as answer:
            assert (answer.status, (await answer.json())["done"]) == (200, True)
    assert not endpoint.requests


async def test_a_model_was_changed_when_the_house_began_however_often_one_asks(
    tmp_path: Path,
) -> None:
    async with (
        Endpoint() as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {guest.opened.key}"}) as session,
    ):
        heard: set[str] = set()
        for _ in range(2):
            async with session.get(f"{guest.opened.url}/ollama/api/tags") as answer:
                heard |= {one["modified_at"] for one in (await answer.json())["models"]}
    assert len(heard) == 1
