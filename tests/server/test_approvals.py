"""An agent's question over REST and the socket: shown, answered once, by whom it was put to."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from teahouse.agent.guard import Gate, Guard
from teahouse.agent.loop import AgentParticipant
from teahouse.agent.participant import Journal, Reply, Turn
from teahouse.core.clock import SystemClock
from teahouse.core.events import Emit
from teahouse.core.messages import Message, Text, ToolCall
from teahouse.llm.client import Client
from teahouse.llm.loop import Limits
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext
from teahouse.testing.providers import ScriptedProvider
from tests.server.conftest import Web

pytestmark = pytest.mark.anyio

EVIL = "ls\n\x1b[2J\u202eexe.txt"


class Send:
    spec = ToolSpec(name="send", description="Send.", parameters={"type": "object"})
    repeatable = False
    effect = "external"

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    async def __call__(self, arguments: dict[str, Any], context: ToolContext, /) -> Content:
        self.calls.append(arguments)
        return (Text(text="sent"),)


@pytest.fixture
def send(web: Web) -> Send:
    """Every agent asks to send, and then ends."""
    tool, services = Send(), web.house.services
    gate = Gate(
        approvals=services.store.approvals,
        desk=web.house.desk,
        clock=SystemClock(),
        rules=services.directory.rules_of,
        wait_s=lambda: 30,
    )

    async def act(turn: Turn, journal: Journal, emit: Emit) -> Reply:
        calls = [[ToolCall(id="k_1", name="send", arguments={"text": EVIL})]]
        assert turn.conversation is not None
        where = await services.store.log.conversation(turn.person, turn.conversation)
        agent = AgentParticipant(
            where.agents[0],
            client=Client({"acme": ScriptedProvider(calls, default=lambda _: "the end")}),
            model="acme/fake",
            system=Message(role="system", parts=(Text(text="rules"),)),
            tools={"send": tool},
            guard=partial(Guard, gate, where.agents[0]),
            limits=Limits(),
        )
        return await agent.respond(turn, journal, emit)

    services.actor.act = act
    return tool


async def question(web: Web) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while True:
            answer = await web.call("GET", "/api/approvals?state=asked", who=web.owner)
            if answer.json["items"]:
                return answer.json["items"][0]
            await asyncio.sleep(0.01)


async def test_a_question_is_shown_answered_once_and_the_call_runs(web: Web, send: Send) -> None:
    received = await web.talk(web.owner)
    asked = await question(web)
    assert asked["arguments"] == {"text": EVIL}
    path = f"/api/approvals/{asked['id']}"
    async with web.socket(web.owner) as socket:
        await socket.send(type="subscribe", conversation=received.post.conversation)
        frames = await socket.until("approval")  # who comes late is told too
        assert frames[-1]["event"]["state"] == "asked"
        assert frames[-1]["event"]["arguments"] == {"text": EVIL}
        assert send.calls == []

        granted = await web.call("POST", path, {"decision": "once"}, who=web.owner)
        assert (granted.status, granted.json["state"]) == (200, "granted")
        frames = await socket.until("stream_end")
    states = [one["event"]["state"] for one in frames if one["event"]["type"] == "approval"]
    assert states == ["granted"]
    assert send.calls == [{"text": EVIL}]

    again = await web.call("POST", path, {"decision": "deny"}, who=web.owner)
    assert (again.status, again.code) == (409, "approval_answered")
    listed = await web.call("GET", f"/api/approvals?run={asked['run']}", who=web.owner)
    assert [one["state"] for one in listed.json["items"]] == ["granted"]


async def test_a_question_is_nobody_elses(web: Web, send: Send) -> None:
    await web.talk(web.owner)
    asked = await question(web)
    for role in ("admin", "member", "guest"):
        other = await web.person(role, role)  # type: ignore[arg-type]
        path = f"/api/approvals/{asked['id']}"
        refused = await web.call("POST", path, {"decision": "once"}, who=other)
        assert (refused.status, refused.code) == (404, "no_such_approval")
        assert (await web.call("GET", "/api/approvals", who=other)).json["items"] == []
    assert (await question(web))["id"] == asked["id"]
    assert send.calls == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"decision": "maybe"}, None),
        ({"decision": "once", "pattern": ["*"]}, "pattern_without_always"),
        ({"decision": "always", "pattern": ["rm", "*"]}, "pattern_wrong"),
        ({"decision": "always", "until": "2020-01-01T00:00:00Z"}, "grant_over"),
        ({"decision": "always", "until": "2199-01-01T00:00:00"}, "grant_over"),
    ],
)
async def test_an_answer_that_makes_no_sense_leaves_the_question_open(
    web: Web, send: Send, body: dict[str, Any], code: str | None
) -> None:
    await web.talk(web.owner)
    asked = await question(web)
    refused = await web.call("POST", f"/api/approvals/{asked['id']}", body, who=web.owner)

    assert refused.status == 400
    assert code in (None, refused.code)
    assert (await question(web))["id"] == asked["id"]


async def test_always_makes_a_grant_that_can_be_taken_back(web: Web, send: Send) -> None:
    await web.talk(web.owner)
    asked = await question(web)
    await web.call("POST", f"/api/approvals/{asked['id']}", {"decision": "always"}, who=web.owner)
    [grant] = (await web.call("GET", "/api/grants", who=web.owner)).json["items"]
    assert (grant["tool"], grant["arguments"]) == ("send", {"text": EVIL})
    await ended(web, 1, send)

    await web.talk(web.owner)
    await ended(web, 2, send)
    path = f"/api/grants/{grant['id']}"
    assert (await web.call("DELETE", path, who=web.owner)).status == 204
    await web.talk(web.owner)
    await question(web)
    assert len(send.calls) == 2


async def ended(web: Web, calls: int, send: Send) -> None:
    async with asyncio.timeout(5):
        while len(send.calls) < calls:
            await asyncio.sleep(0.01)


async def test_a_guest_answers_for_one_call_alone(web: Web, send: Send) -> None:
    guest = await web.person("gus", "guest")
    await web.house.chat.receive(guest, agent=await shared_agent(web), text="go")
    async with asyncio.timeout(5):
        while not (found := await web.house.desk.all(guest)):
            await asyncio.sleep(0.01)
    path = f"/api/approvals/{found[0].id}"

    refused = await web.call("POST", path, {"decision": "always"}, who=guest)
    assert (refused.status, refused.code) == (403, "guests_grant_nothing")
    assert (await web.call("POST", path, {"decision": "once"}, who=guest)).status == 200


async def shared_agent(web: Web) -> str:
    body = {"name": "Shared", "shared": True}
    return (await web.call("POST", "/api/agents", body, who=web.owner)).json["id"]


async def test_stopping_a_run_ends_its_question(web: Web, send: Send) -> None:
    received = await web.talk(web.owner)
    asked = await question(web)
    run = received.runs[0].id
    assert (await web.call("POST", f"/api/runs/{run}/stop", who=web.owner)).status == 200

    late = await web.call(
        "POST", f"/api/approvals/{asked['id']}", {"decision": "once"}, who=web.owner
    )
    assert (late.status, late.code) == (409, "approval_expired")
    assert send.calls == []


async def test_an_agents_rules_are_read_and_changed_by_whoever_owns_it(web: Web) -> None:
    agent = await shared_agent(web)
    path = f"/api/agents/{agent}"
    rules = {"mcp__*": "deny", "send": "ask"}
    changed = await web.call("PATCH", path, {"permissions": rules}, who=web.owner)
    assert changed.json["permissions"] == rules
    assert (await web.call("GET", path, who=web.owner)).json["permissions"] == rules

    wrong = await web.call("PATCH", path, {"permissions": {"a b": "deny"}}, who=web.owner)
    assert (wrong.status, wrong.code) == (400, "rule_wrong")
    member = await web.person("member")
    theirs = await web.call("PATCH", path, {"permissions": {}}, who=member)
    assert theirs.status == 403
