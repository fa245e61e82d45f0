"""The whole house, over HTTP, with a model endpoint on loopback."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from teahouse.app.serve import Open, serve
from teahouse.core.errors import Conflict, HomeInUse, SettingsError
from teahouse.testing import anthropic_answers
from teahouse.testing.answers import Answer
from teahouse.testing.endpoint import Endpoint

pytestmark = pytest.mark.anyio


class Guest:
    """A client of one house, which speaks with the key that lies in the home."""

    def __init__(self, opened: Open, session: aiohttp.ClientSession) -> None:
        self.opened, self._session = opened, session

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.opened.key}"}
        async with self._session.request(
            method, self.opened.url + path, json=body, headers=headers
        ) as response:
            return response.status, await response.json()

    async def get(self, path: str) -> Any:
        status, answer = await self.ask("GET", path)
        assert status == 200, answer
        return answer

    async def say(self, text: str, **where: str) -> tuple[str, Any]:
        """Say something and wait for the answer; returns the conversation and the run."""
        if not where:
            where = {"agent": (await self.get("/api/agents"))["items"][0]["id"]}
        status, answer = await self.ask("POST", "/api/messages", {"text": text, **where})
        assert status == 202, answer
        run = answer["runs"][0]
        async with asyncio.timeout(20):
            while run["post"] is None:
                await asyncio.sleep(0.01)
                run = await self.get(f"/api/runs/{run['id']}")
        return answer["post"]["conversation"], run


@asynccontextmanager
async def running(home: Path, *, take_up: bool = True, **environ: str) -> AsyncIterator[Guest]:
    ready: asyncio.Future[Open] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    environ = {"TEAHOUSE_LOCAL_MODEL__ENABLED": "false", **environ}
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        task = group.create_task(
            serve(home, environ, port=0, ready=ready.set_result, stop=stop, take_up=take_up)
        )
        done, _ = await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task in done:
            await task
        try:
            yield Guest(await ready, session)
        finally:
            stop.set()


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def fake(endpoint: Endpoint) -> dict[str, str]:
    return {
        "TEAHOUSE_PROVIDERS__FAKE__WIRE": "openai_chat",
        "TEAHOUSE_PROVIDERS__FAKE__BASE_URL": endpoint.base_url,
        "TEAHOUSE_DEFAULT_MODEL": "fake/fake",
    }


async def test_the_environment_alone_makes_a_house_that_answers(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        conversation, run = await guest.say("你好")

        posts = await guest.get(f"/api/messages?conversation={conversation}")
        assert run["status"] == "done"
        assert posts["items"][-1]["parts"] == [{"type": "text", "text": "echo: 你好"}]


async def test_the_house_leaves_word_for_its_owner_alone_and_takes_it_away(tmp_path: Path) -> None:
    word = tmp_path / "run" / "server.json"
    async with running(tmp_path) as guest:
        assert stat.S_IMODE(word.stat().st_mode) == 0o600
        assert json.loads(word.read_text())["url"] == guest.opened.url
        key = guest.opened.key
    assert not word.exists()

    async with running(tmp_path) as guest:
        guest.opened = Open(url=guest.opened.url, key=key)
        status, answer = await guest.ask("GET", "/api/me")
    assert (status, answer["error"]["code"]) == (401, "key_wrong")


async def test_a_command_that_only_looks_takes_up_nothing_that_was_cut(tmp_path: Path) -> None:
    async with Endpoint() as endpoint:
        async with running(tmp_path, **fake(endpoint)) as guest:
            agent = (await guest.get("/api/agents"))["items"][0]["id"]
            body = {"text": "[hang mid]", "agent": agent}
            _, answer = await guest.ask("POST", "/api/messages", body)
            await endpoint.request(0)

        async with running(tmp_path, take_up=False, **fake(endpoint)) as guest:
            run = answer["runs"][0]["id"]
            assert (await guest.get(f"/api/runs/{run}"))["attempt"] == 1
            assert len(endpoint.requests) == 1
            await guest.say("hello")  # somebody says something: all that waits is worked on
            await endpoint.request(2)
            assert (await guest.get(f"/api/runs/{run}"))["attempt"] == 2


async def test_two_houses_never_share_a_home(tmp_path: Path) -> None:
    async with running(tmp_path) as guest:
        with pytest.raises(HomeInUse):
            await serve(tmp_path, {}, port=0)
        assert (await guest.get("/api/me"))["role"] == "owner"


async def test_a_taken_port_is_named_and_the_home_is_free_again(tmp_path: Path) -> None:
    async with running(tmp_path / "one") as guest:
        port = int(guest.opened.url.rpartition(":")[2])
        with pytest.raises(Conflict, match=str(port)):
            await serve(tmp_path / "two", {}, port=port)
        async with running(tmp_path / "two"):
            pass


async def test_a_password_from_the_environment_skips_the_guide(tmp_path: Path) -> None:
    async with running(tmp_path, TEAHOUSE_OWNER_PASSWORD="correct horse") as guest:
        assert guest.opened.setup is None
        status, _ = await guest.ask("POST", "/api/setup", {"password": "another horse"})
        assert status == 409
        status, _ = await guest.ask("POST", "/api/login", {"password": "correct horse"})
        assert status == 200


async def test_a_wrong_base_url_is_refused_with_its_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"ftp://nowhere.*TEAHOUSE_PROVIDERS__BAD__BASE_URL"):
        await serve(tmp_path, {"TEAHOUSE_PROVIDERS__BAD__BASE_URL": "ftp://nowhere"}, port=0)


async def test_a_provider_that_cannot_be_built_shuts_no_door_and_says_so_when_used(
    tmp_path: Path,
) -> None:
    environ = {
        "TEAHOUSE_PROVIDERS__BAD__API_KEY": "sk-without-an-address",
        "TEAHOUSE_DEFAULT_MODEL": "bad/model",
    }
    async with running(tmp_path, **environ) as guest:
        _, run = await guest.say("hi")
        models = await guest.get("/api/models")

    assert run["problem"]["code"] == "provider_base_url"
    assert models["items"][0]["ready"] is False


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("[fail 401]", "provider_authentication"),
        ("[fail 429]", "provider_rate_limited"),
        ("[fail 500]", "provider_overloaded"),
        ("[cut]", "provider_stream_cut"),
    ],
)
async def test_every_fault_of_a_model_ends_in_a_post_that_says_what_to_do(
    tmp_path: Path, command: str, code: str
) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        conversation, run = await guest.say(f"hello {command}")
        last = (await guest.get(f"/api/messages?conversation={conversation}"))["items"][-1]

    assert run["status"] == "failed"
    assert last["problem"]["code"] == code
    assert last["problem"]["hint"]
    assert last["ending"] == "failed"


async def test_a_model_that_nobody_serves_is_named(tmp_path: Path) -> None:
    async with running(tmp_path, TEAHOUSE_DEFAULT_MODEL="ghost/x") as guest:
        _, run = await guest.say("hi")

    assert run["problem"]["code"] == "no_such_model"


async def test_without_any_model_the_house_says_what_to_do(tmp_path: Path) -> None:
    async with running(tmp_path) as guest:
        _, run = await guest.say("hi")

    assert run["problem"]["code"] == "no_model"


async def test_a_provider_entered_on_the_page_is_used_at_once_and_its_key_stays_hidden(
    tmp_path: Path,
) -> None:
    secret = "sk-" + "k" * 20
    async with Endpoint() as endpoint:
        provider = {"base_url": endpoint.base_url, "api_key": secret}
        changes = {"providers": {"mine": provider}, "default_model": "mine/fake"}
        async with running(tmp_path) as guest:
            status, answer = await guest.ask("PATCH", "/api/settings", changes)
            assert status == 200, answer
            _, run = await guest.say("hi")
            shown = await guest.get("/api/settings")
        async with running(tmp_path) as guest:
            _, again = await guest.say("hi")
        sent = [request.headers.get("authorization") for request in endpoint.requests]

    assert (run["status"], again["status"]) == ("done", "done")
    assert sent == [f"Bearer {secret}"] * len(sent)
    assert secret not in json.dumps(shown)
    held = [path.read_bytes() for path in files_below(tmp_path)]
    assert held
    assert not any(secret.encode() in content for content in held)


async def test_a_wrong_name_of_a_model_file_is_refused_and_nothing_is_on_its_way(
    tmp_path: Path,
) -> None:
    folder = {"TEAHOUSE_LOCAL_MODEL__FOLDER": str(tmp_path / "models")}
    async with running(tmp_path / "home", TEAHOUSE_LOCAL_MODEL__ENABLED="true", **folder) as guest:
        status, answer = await guest.ask("POST", "/api/models/pull", {"name": "no such model"})

        assert (status, answer["error"]["code"]) == (502, "model_file_unknown")
        assert (await guest.get("/api/models/local"))["state"] == "absent"


async def test_a_kept_key_follows_to_no_other_address(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, Endpoint() as elsewhere, running(tmp_path) as guest:
        mine = {"base_url": endpoint.base_url, "api_key": "sk-" + "k" * 20}
        status, shown = await guest.ask("PATCH", "/api/settings", {"providers": {"mine": mine}})
        assert status == 200
        masked = shown["providers"]["mine"]["api_key"]

        moved = {"name": "mine", "base_url": elsewhere.base_url, "api_key": masked}
        _, trial = await guest.ask("POST", "/api/models/test", {"provider": moved, "model": "fake"})
        status, answer = await guest.ask(
            "PATCH", "/api/settings", {"providers.mine.base_url": elsewhere.base_url}
        )

        assert not trial["ok"]
        assert (status, answer["error"]["code"]) == (400, "setting_key_for_new_address")
        assert elsewhere.requests == []
        same = {"providers": {"mine": {"base_url": f"{endpoint.base_url}/", "api_key": masked}}}
        assert (await guest.ask("PATCH", "/api/settings", same))[0] == 200
        anew = {"providers": {"mine": {"base_url": elsewhere.base_url, "api_key": "sk-new-key"}}}
        assert (await guest.ask("PATCH", "/api/settings", anew))[0] == 200


async def test_a_conversation_gets_a_title_after_two_turns(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        conversation, _ = await guest.say("first")
        await guest.say("second", conversation=conversation)
        async with asyncio.timeout(10):
            while (found := await guest.get(f"/api/conversations/{conversation}"))[
                "title_by"
            ] == "none":
                await asyncio.sleep(0.01)

    assert found["title_by"] == "model"
    assert found["title"]


async def test_one_message_may_go_to_another_model(tmp_path: Path) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        await guest.say(
            "hi", agent=(await guest.get("/api/agents"))["items"][0]["id"], model="fake/other"
        )
        assert endpoint.requests[-1].body["model"] == "other"


@pytest.mark.parametrize("hold", ["[hang first]", "[hang]", "[hang mid]"])
async def test_stop_closes_the_models_socket_in_every_phase(tmp_path: Path, hold: str) -> None:
    async with Endpoint() as endpoint, running(tmp_path, **fake(endpoint)) as guest:
        agent = (await guest.get("/api/agents"))["items"][0]["id"]
        _, answer = await guest.ask("POST", "/api/messages", {"text": hold, "agent": agent})
        asked = await endpoint.request(0)

        status, run = await guest.ask("POST", f"/api/runs/{answer['runs'][0]['id']}/stop")

        assert (status, run["status"]) == (200, "stopped")
        async with asyncio.timeout(10):
            await asked.closed.wait()
        assert not asked.finished


async def test_a_draft_of_a_vendor_needs_neither_dialect_nor_key_nor_listed_model(
    tmp_path: Path,
) -> None:
    said = anthropic_answers.text_answer(["ready"])
    async with Endpoint([said]) as endpoint, running(tmp_path) as guest:
        draft = {"name": "work", "vendor": "anthropic", "base_url": endpoint.base_url}
        _, trial = await guest.ask("POST", "/api/models/test", {"provider": draft})

        assert (trial["ok"], trial["text"], trial["model"]) == (True, "ready", "work/fake")
        assert endpoint.requests[-1].path.endswith("/messages")


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ({"vendor": "antropic"}, "antropic"),
        ({"wire": "morse", "base_url": "http://127.0.0.1:9/v1"}, "morse"),
        ({}, "base URL"),
    ],
)
async def test_a_draft_that_names_nothing_known_says_what_is_wrong(
    tmp_path: Path, draft: dict[str, str], said: str
) -> None:
    async with running(tmp_path, TEAHOUSE_LANGUAGE="en-US") as guest:
        body = {"provider": {"name": "work", **draft}}
        status, trial = await guest.ask("POST", "/api/models/test", body)

        assert (status, trial["ok"]) == (200, False)
        assert said in trial["problem"]


async def test_a_browser_that_vanishes_takes_its_question_to_a_model_along(tmp_path: Path) -> None:
    async with (
        Endpoint([Answer(before=("hang",), steps=())]) as endpoint,
        running(tmp_path, **fake(endpoint)) as guest,
    ):
        asking = asyncio.ensure_future(
            guest.ask("POST", "/api/models/test", {"model": "fake/fake"})
        )
        asked = await endpoint.request(0)

        asking.cancel()

        async with asyncio.timeout(10):
            await asked.closed.wait()
        assert not asked.finished
