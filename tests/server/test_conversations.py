"""Agents, conversations and messages by plain HTTP, as a program would use them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from teahouse.llm.usage import NOBODY, Caller
from tests.server.conftest import Answer, Web

pytestmark = pytest.mark.anyio


async def ok(answer: Answer, status: int = 200) -> Any:
    assert answer.status == status, answer.body
    return answer.json if answer.body else None


async def owner(web: Web, method: str, path: str, body: Any = None) -> Answer:
    return await web.call(method, path, body, who=web.owner)


async def ended(web: Web, run: str) -> dict[str, Any]:
    async with asyncio.timeout(10):
        while True:
            found = await ok(await owner(web, "GET", f"/api/runs/{run}"))
            if found["post"]:
                return found
            await asyncio.sleep(0.005)


async def test_an_agent_is_made_changed_replaced_and_removed(web: Web) -> None:
    body = {"name": "Scribe", "soul": "You write.", "temperature": 0.5}
    agent = await ok(await owner(web, "POST", "/api/agents", body), 201)
    path = f"/api/agents/{agent['id']}"
    changed = await ok(await owner(web, "PATCH", path, {"description": "Writes", "model": "a/b"}))
    replaced = await ok(await owner(web, "PUT", path, {"name": "Clerk"}))
    gone = await owner(web, "DELETE", path)

    assert (agent["name"], agent["soul"]) == ("Scribe", "You write.")
    assert (changed["description"], changed["temperature"], changed["soul"]) == (
        "Writes",
        0.5,
        "You write.",
    )
    assert [replaced[key] for key in ("name", "description", "soul", "model", "temperature")] == [
        "Clerk",
        "",
        "",
        None,
        None,
    ]
    assert (gone.status, gone.body) == (204, b"")
    assert (await owner(web, "GET", path)).status == 404


async def test_lists_leave_out_the_soul_and_the_archived(web: Web) -> None:
    agent = await ok(await owner(web, "POST", "/api/agents", {"name": "Old", "soul": "x"}), 201)
    await owner(web, "PATCH", f"/api/agents/{agent['id']}", {"archived": True})
    active = await ok(await owner(web, "GET", "/api/agents"))
    archived = await ok(await owner(web, "GET", "/api/agents?archived=true"))

    assert agent["id"] not in [one["id"] for one in active["items"]]
    assert [(one["id"], one["soul"]) for one in archived["items"]] == [(agent["id"], None)]


async def test_the_same_message_twice_is_one_post_and_one_run(web: Web) -> None:
    body = {"agent": web.house.services.agent, "text": "hello", "client_id": "one"}
    first = await ok(await owner(web, "POST", "/api/messages", body), 202)
    second = await ok(await owner(web, "POST", "/api/messages", body), 202)
    run = await ended(web, first["runs"][0]["id"])
    path = f"/api/messages?conversation={first['post']['conversation']}"
    posts = await ok(await owner(web, "GET", path))

    assert first["post"] == second["post"]
    assert [one["id"] for one in second["runs"]] == [run["id"]]
    assert [one["parts"][0]["text"] for one in posts["items"]] == ["hello", "echo: hello"]
    assert posts["items"][1]["run"] == run["id"]


async def test_posts_are_paged_both_ways(web: Web) -> None:
    conversation = (await web.house.chat.open(web.owner, agent=web.house.services.agent)).id
    for number in range(3):
        received = await web.house.chat.receive(
            web.owner, conversation=conversation, text=str(number)
        )
        await ended(web, received.runs[0].id)
    path = f"/api/messages?conversation={conversation}&limit=4"
    newest = await ok(await owner(web, "GET", path))
    older = await ok(await owner(web, "GET", f"{path}&before={newest['next']}"))
    forward = await ok(await owner(web, "GET", f"{path}&after={older['items'][0]['id']}"))

    texts = [post["parts"][0]["text"] for post in older["items"] + newest["items"]]
    assert texts == ["0", "echo: 0", "1", "echo: 1", "2", "echo: 2"]
    assert older["next"] is None
    assert forward["items"][0]["parts"][0]["text"] == "echo: 0"


async def test_a_conversation_is_titled_pinned_exported_and_deleted(web: Web) -> None:
    received = await web.talk(web.owner, "怎么泡茶？")
    await ended(web, received.runs[0].id)
    path = f"/api/conversations/{received.post.conversation}"
    changed = await ok(await owner(web, "PATCH", path, {"title": "茶", "pinned": True}))
    markdown = await owner(web, "GET", f"{path}/export")
    exported = await owner(web, "GET", f"{path}/export?format=json")
    strange = await owner(web, "GET", f"{path}/export?format=exe")
    gone = await owner(web, "DELETE", path)

    assert (changed["title"], changed["title_by"], changed["pinned"]) == ("茶", "person", True)
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.body.decode().startswith("# 茶\n\n**owner** · ")
    assert "怎么泡茶？\n\n**Host** · " in markdown.body.decode()
    assert len(json.loads(exported.body)["posts"]) == 2
    assert "attachment" in exported.headers["content-disposition"]
    assert (strange.status, strange.code) == (400, "parameter_wrong")
    assert gone.status == 204
    assert (await owner(web, "GET", path)).status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "a"}, 400),
        ({"agent": "a_none", "text": "a"}, 404),
        ({"conversation": "c_none", "text": "a"}, 404),
        ({"agent": "AGENT", "text": "  "}, 400),
        ({"agent": "AGENT", "text": "a", "files": ["f_none"]}, 404),
        ({"agent": "AGENT", "text": "a", "client_id": ""}, 400),
        ({"conversation": "c_1", "agent": "AGENT", "text": "a", "client_id": "x" * 500}, 400),
    ],
)
async def test_a_message_that_cannot_be_taken_is_refused(
    web: Web, body: dict[str, Any], status: int
) -> None:
    agent = web.house.services.agent
    sent = {key: agent if value == "AGENT" else value for key, value in body.items()}
    answer = await owner(web, "POST", "/api/messages", sent)

    assert answer.status == status
    assert answer.json["error"]["message"]


async def test_who_asks_with_a_key_pays_with_it(web: Web) -> None:
    key, secret = await web.house.accounts.create_key(web.owner, "cron", budget=0.5)
    body = {"agent": web.house.services.agent, "text": "hello"}
    headers = {"authorization": f"Bearer {secret}"}
    for answer in (
        await web.call("POST", "/api/messages", body, headers=headers),
        await owner(web, "POST", "/api/messages", body),
    ):
        await ended(web, (await ok(answer, 202))["runs"][0]["id"])

    callers = [turn.caller for turn in web.house.services.actor.turns]
    assert callers == [Caller(key=key.id, allowance=0.5), NOBODY]


async def test_steps_tell_what_a_run_did(web: Web) -> None:
    received = await web.talk(web.owner)
    await ended(web, received.runs[0].id)
    steps = await ok(await owner(web, "GET", f"/api/runs/{received.runs[0].id}/steps"))

    assert steps == {"items": [], "next": None}


async def test_settings_and_models_are_asked_through_their_ports(web: Web) -> None:
    changed = await ok(await owner(web, "PATCH", "/api/settings", {"language": "zh-CN"}))
    unknown = await owner(web, "PATCH", "/api/settings", {"langage": "zh-CN"})
    models = await ok(await owner(web, "GET", "/api/models"))
    draft = {"provider": {"name": "new", "base_url": "http://127.0.0.1:1/v1"}}
    trial = await ok(await owner(web, "POST", "/api/models/test", draft))
    pair = {"a": "fake/fake", "b": "new/m", "case": "chinese"}
    compared = await ok(await owner(web, "POST", "/api/models/check", pair))
    poetry = await owner(web, "POST", "/api/models/check", pair | {"case": "poetry"})
    pulled = await ok(await owner(web, "POST", "/api/models/pull", {"name": "qwen"}), 202)
    await ok(await owner(web, "POST", "/api/models/pull"), 202)

    assert changed["language"] == "zh-CN"
    assert (unknown.status, unknown.code) == (400, "field_unknown")
    assert [model["id"] for model in models["items"]] == ["fake/fake"]
    assert (trial["ok"], trial["model"]) == (True, "new")
    assert compared["differences"] == [{"what": "text", "a": "latin", "b": "chinese"}]
    assert poetry.status == 400
    assert pulled["state"] == "absent"
    assert web.house.models.pulled == ["qwen", ""]
