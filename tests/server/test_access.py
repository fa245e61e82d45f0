"""The access matrix: every route and every socket frame, tried by everybody.

The rows are compared with the application's own route table, so that a new route or frame without
a row fails here.
"""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any, get_args

import aiohttp
import pytest
from msgspec import Struct

from teahouse.agent.approval import Answer as Answered
from teahouse.agent.directory import AgentDraft
from teahouse.agent.participant import Journal, Reply, Turn
from teahouse.agent.ports import ApprovalRecord
from teahouse.core.clock import SystemClock
from teahouse.core.events import Emit
from teahouse.core.ids import new_id
from teahouse.core.messages import Person
from teahouse.server.app import Application
from teahouse.server.frames import Inbound
from tests.chat.conftest import echo
from tests.server.conftest import Answer, Web

pytestmark = pytest.mark.anyio

WHO = ("nobody", "guest", "member", "other", "admin", "owner")
# A row says what each of WHO is answered. `member` is the one whose things they are: the agent is
# private, conversation, run, file and key are the member's; `other` is another member.
OPEN = (200, 200, 200, 200, 200, 200)
EVERYONE = (401, 200, 200, 200, 200, 200)
MANAGERS = (401, 403, 403, 403, 200, 200)
THEIRS = (401, 404, 200, 404, 404, 404)


def made(row: tuple[int, ...], status: int) -> tuple[int, ...]:
    return tuple(status if one == 200 else one for one in row)


ROWS: dict[str, tuple[int, ...]] = {
    "GET /healthz": OPEN,
    "GET /api/status": OPEN,
    "POST /api/setup": made(OPEN, 409),
    "POST /api/login": made(OPEN, 401),
    "GET /": made(OPEN, 200),
    "GET /{path}": made(OPEN, 404),
    "GET /api/{path}": made(OPEN, 404),
    "POST /api/{path}": made(OPEN, 404),
    "PUT /api/{path}": made(OPEN, 404),
    "PATCH /api/{path}": made(OPEN, 404),
    "DELETE /api/{path}": made(OPEN, 404),
    "POST /api/logout": made(EVERYONE, 204),
    "GET /api/me": EVERYONE,
    "POST /api/me/password": made(EVERYONE, 401),
    "GET /api/openapi.json": EVERYONE,
    "GET /api/people": MANAGERS,
    "POST /api/people": made(MANAGERS, 201),
    "PATCH /api/people/{person}": MANAGERS,
    "DELETE /api/people/{person}": made(MANAGERS, 204),
    "GET /api/keys": EVERYONE,
    "POST /api/keys": (401, 403, 201, 201, 201, 201),
    "PATCH /api/keys/{key}": THEIRS,
    "DELETE /api/keys/{key}": made(THEIRS, 204),
    "GET /api/agents": EVERYONE,
    "POST /api/agents": (401, 403, 201, 201, 201, 201),
    "GET /api/agents/{agent}": THEIRS,
    "GET /api/agents/{agent}/tools": THEIRS,
    "PUT /api/agents/{agent}": THEIRS,
    "PATCH /api/agents/{agent}": THEIRS,
    "DELETE /api/agents/{agent}": made(THEIRS, 204),
    "GET /api/agents/{shared}": EVERYONE,
    "GET /api/agents/{shared}/tools": EVERYONE,
    "PUT /api/agents/{shared}": MANAGERS,
    "PATCH /api/agents/{shared}": MANAGERS,
    "DELETE /api/agents/{shared}": made(MANAGERS, 204),
    "GET /api/approvals": EVERYONE,
    "POST /api/approvals/{approval}": THEIRS,
    "GET /api/grants": EVERYONE,
    "DELETE /api/grants/{grant}": made(THEIRS, 204),
    "GET /api/conversations": EVERYONE,
    "POST /api/conversations": made(THEIRS, 201),
    "GET /api/conversations/{conversation}": THEIRS,
    "PATCH /api/conversations/{conversation}": THEIRS,
    "DELETE /api/conversations/{conversation}": made(THEIRS, 204),
    "GET /api/conversations/{conversation}/export": THEIRS,
    "POST /api/messages": made(THEIRS, 202),
    "GET /api/messages": THEIRS,
    "GET /api/runs/{run}": THEIRS,
    "GET /api/runs/{run}/steps": THEIRS,
    "POST /api/runs/{run}/stop": THEIRS,
    "GET /api/runs/{run}/events": THEIRS,
    "POST /api/files": made(EVERYONE, 201),
    "GET /api/files/{file}": THEIRS,
    "GET /api/settings": MANAGERS,
    "PATCH /api/settings": MANAGERS,
    "GET /api/models": EVERYONE,
    "POST /api/models/test": MANAGERS,
    "POST /api/models/check": MANAGERS,
    "GET /api/models/local": EVERYONE,
    "GET /api/usage": EVERYONE,
    "GET /api/usage/providers": MANAGERS,
    "POST /api/models/pull": made(MANAGERS, 202),
}
FRAMES: dict[str, tuple[str, ...]] = {
    "subscribe": ("not_found", "ok", "not_found", "not_found", "not_found"),
    "unsubscribe": ("ok", "ok", "ok", "ok", "ok"),
    "ping": ("ok", "ok", "ok", "ok", "ok"),
    "typing": ("not_found", "ok", "not_found", "not_found", "not_found"),
    "stop": ("not_found", "ok", "not_found", "not_found", "not_found"),
}


class Things(Struct):
    """What a request may name, fresh for each request."""

    agent: str
    shared: str
    conversation: str
    run: str
    file: str
    key: str
    person: str
    approval: str
    grant: str
    path: str = "nothing.txt"


class Cast(Struct):
    guest: Person
    member: Person
    other: Person
    admin: Person
    owner: Person
    waiting: list[str] = []  # a run that does not end, for what is asked in it


async def cast_of(web: Web) -> Cast:
    return Cast(
        guest=await web.person("guest", "guest"),
        member=await web.person("member"),
        other=await web.person("other"),
        admin=await web.person("admin", "admin"),
        owner=web.owner,
    )


async def things_of(web: Web, cast: Cast, count: int) -> Things:
    house = web.house
    await keep_one_waiting(web, cast)

    async def bytes_of_a_file() -> Any:
        yield b"tea"

    private = AgentDraft(name=f"private {count}")
    shared = AgentDraft(name=f"shared {count}", shared=True)
    agent = await house.directory.create(cast.member, private)
    received = await house.chat.receive(cast.member, agent=agent.id, text="hello")
    file = await house.files.put(cast.member.id, "a.txt", bytes_of_a_file(), limit=10)
    key, _ = await house.accounts.create_key(cast.member, "script")
    return Things(
        agent=agent.id,
        shared=(await house.directory.create(cast.owner, shared)).id,
        conversation=received.post.conversation,
        run=received.runs[0].id,
        file=file.id,
        key=key.id,
        approval=(await asked(web, cast)).id,
        grant=await granted(web, cast),
        person=(await web.person(f"somebody {count}")).id,
    )


async def wait_or_echo(turn: Turn, journal: Journal, emit: Emit) -> Reply:
    if turn.messages[-1].text == "wait":
        await asyncio.Event().wait()
    return await echo(turn, journal, emit)


async def keep_one_waiting(web: Web, cast: Cast) -> None:
    web.house.services.actor.act = wait_or_echo
    for run in cast.waiting:
        await web.house.chat.stop(cast.member, run)
    received = await web.talk(cast.member, "wait")
    cast.waiting[:] = [received.runs[0].id]


async def asked(web: Web, cast: Cast) -> ApprovalRecord:
    run = await web.house.chat.run(cast.member, cast.waiting[0])
    now = SystemClock().now()
    question = ApprovalRecord(
        id=new_id("ap"),
        run=run.id,
        conversation=run.conversation,
        agent=run.participant,
        person=cast.member.id,
        call=new_id("k"),
        turn=0,
        tool="send",
        arguments={"to": "Mei"},
        effect="external",
        reason="external",
        words=(),
        state="asked",
        asked_at=now,
        expires_at=now + timedelta(hours=1),
    )
    return await web.house.services.store.approvals.ask(question)


async def granted(web: Web, cast: Cast) -> str:
    question = await asked(web, cast)
    await web.house.desk.answer(cast.member, question.id, Answered(decision="always"))
    return (await web.house.desk.grants(cast.member))[0].id


async def ask(
    web: Web, route: str, things: Things, who: Person | None, name: str, **headers: str
) -> Answer:
    method, _, template = route.partition(" ")
    path = template.format(**{name: getattr(things, name) for name in Things.__struct_fields__})
    bodies: dict[str, Any] = {
        "POST /api/setup": {"password": "long enough"},
        "POST /api/login": {"password": "long enough", "name": name},
        "POST /api/me/password": {"old": "wrong", "new": "long enough"},
        "POST /api/people": {"name": name},
        "PATCH /api/people/{person}": {"role": "guest"},
        "POST /api/keys": {"name": name},
        "PATCH /api/keys/{key}": {"rate": 60},
        "POST /api/agents": {"name": name},
        "PUT /api/agents/{agent}": {"name": name},
        "PATCH /api/agents/{agent}": {"description": "tea"},
        "PUT /api/agents/{shared}": {"name": name, "shared": True},
        "PATCH /api/agents/{shared}": {"description": "tea"},
        "POST /api/conversations": {"agent": things.agent},
        "PATCH /api/conversations/{conversation}": {"pinned": True},
        "POST /api/messages": {"conversation": things.conversation, "text": "hi"},
        "POST /api/approvals/{approval}": {"decision": "once"},
        "PATCH /api/settings": {"language": "en-US"},
        "POST /api/models/test": {"model": "fake/fake"},
        "POST /api/models/check": {"a": "fake/fake", "b": "fake/fake", "case": "plain"},
        "POST /api/models/pull": {},
    }
    queries = {"GET /api/messages": f"?conversation={things.conversation}"}
    data = b"tea" if route == "POST /api/files" else None
    return await web.call(
        method,
        path + queries.get(route, ""),
        bodies.get(route),
        who=who,
        data=data,
        headers=headers,
    )


def routes_of_the_application(house: object) -> set[str]:
    found: set[str] = set()
    for route in Application(house).routes.routes:  # type: ignore[arg-type]
        path = re.sub(":[a-z]+}", "}", route.path)
        for method in getattr(route, "methods", ()):
            if method != "OPTIONS":
                found.add(f"{method} {path}")
    return found


async def test_every_route_has_a_row(web: Web) -> None:
    rows = {row.replace("{shared}", "{agent}") for row in ROWS}

    assert rows == routes_of_the_application(web.house)


async def test_every_route_answers_everybody_as_its_row_says(web: Web) -> None:
    cast, count, things, wrong = await cast_of(web), 0, None, []
    for route, row in ROWS.items():
        for name, expected in zip(WHO, row, strict=True):
            count += 1
            if route.startswith(("DELETE", "POST /api/approvals")) or things is None:
                things = await things_of(web, cast, count)
            answer = await ask(web, route, things, getattr(cast, name, None), f"new {count}")
            # nobody is the address, and so is everybody here: a lock-out would hide the rows
            found = 401 if answer.status == 429 and route == "POST /api/login" else answer.status
            if route == "GET /" and found == 503:
                found = 200  # the page need not be built for this test
            if found != expected:
                wrong.append((route, name, expected, found, answer.body[:200]))

    assert not wrong


async def test_every_frame_has_a_row() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in get_args(Inbound)}

    assert set(FRAMES) == tags


async def test_every_frame_answers_everybody_as_its_row_says(web: Web) -> None:
    cast, wrong = await cast_of(web), []
    things = await things_of(web, cast, 0)
    for frame, row in FRAMES.items():
        fields = {
            "subscribe": {"conversation": things.conversation},
            "unsubscribe": {"conversation": things.conversation},
            "typing": {"conversation": things.conversation},
            "stop": {"run": things.run},
        }.get(frame, {})
        for name, expected in zip(WHO[1:], row, strict=True):
            async with web.socket(getattr(cast, name)) as socket:
                await socket.send(type=frame, ref="tried", **fields)
                await socket.send(type="ping", ref="after")
                refusals = []
                while (answer := await socket.next()) != {"type": "pong", "ref": "after"}:
                    if answer.get("event", {}).get("ref") == "tried":
                        refusals.append(answer["event"]["problem"]["code"])
            found = "ok" if not refusals else "not_found"
            if found != expected:
                wrong.append((frame, name, expected, refusals))

    assert not wrong


async def test_nobody_gets_a_socket(web: Web) -> None:
    for headers in ({}, {"cookie": "teahouse_session=guess"}, {"authorization": "Bearer th_guess"}):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await web.client.ws_connect(web.address + "/ws", headers=headers)

        assert refused.value.status == 403


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


async def test_a_key_with_scopes_without_api_is_refused_everywhere(web: Web) -> None:
    cast, wrong = await cast_of(web), []
    things = await things_of(web, cast, 0)
    scopes = ["models", "agents", "metrics", "agent/x", "openai/*", "fast"]
    _, secret = await web.house.accounts.create_key(web.owner, "bot", scopes=scopes)
    for route, row in ROWS.items():
        if row[0] != 401 or route == "POST /api/login":
            continue  # open to everybody
        answer = await ask(web, route, things, None, "new", **bearer(secret))
        if (answer.status, answer.code) != (403, "key_out_of_scope"):
            wrong.append((route, answer.status, answer.body[:200]))
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await web.client.ws_connect(web.address + "/ws", headers=bearer(secret))

    assert not wrong
    assert refused.value.status == 403


async def test_a_key_for_the_api_may_use_it_and_make_no_keys(web: Web) -> None:
    create = web.house.accounts.create_key
    _, scoped = await create(web.owner, "scoped", scopes=["api"])
    _, limited = await create(web.owner, "limited", budget=1)
    _, whole = await create(web.owner, "whole")
    for secret, status in ((scoped, 403), (limited, 403), (whole, 201)):
        made = await web.call("POST", "/api/keys", {"name": "more"}, headers=bearer(secret))

        assert made.status == status
        assert (await web.call("GET", "/api/agents", headers=bearer(secret))).status == 200
        async with web.client.ws_connect(web.address + "/ws", headers=bearer(secret)) as socket:
            await socket.send_json({"type": "ping", "ref": "1"})
            assert (await socket.receive_json())["type"] == "pong"


async def test_a_key_is_made_for_what_there_is_and_what_its_person_may_use(web: Web) -> None:
    cast = await cast_of(web)
    await web.house.directory.create(cast.other, AgentDraft(name="Private"))
    await web.house.directory.create(cast.owner, AgentDraft(name="Tea master", shared=True))
    web.house.settings.values["aliases"] = {"fast": {"fake/fake": 1}}

    async def made(*scopes: str, **limits: float) -> Answer:
        body = {"name": "bot", "scopes": scopes, **limits}
        return await web.call("POST", "/api/keys", body, who=cast.member)

    refusals = {
        scope: (answer.status, answer.code)
        for scope in ("agent/Private", "agent/Nobody", "slow", "metrics", "*")
        if (answer := await made(scope))
    }
    assert refusals == {
        "agent/Private": (404, "scope_agent"),
        "agent/Nobody": (404, "scope_agent"),
        "slow": (400, "scope_wrong"),
        "metrics": (403, "managers_only"),
        "*": (400, "scope_wrong"),
    }
    assert (await made(rate=0)).code == "key_limit_wrong"
    assert (await made("agent/tea MASTER", "fast", "openai/*", budget=5, rate=60)).status == 201

    [listed] = (await web.call("GET", "/api/keys", who=cast.member)).json["items"]
    assert listed["scopes"] == ["agent/tea MASTER", "fast", "openai/*"]
    assert [listed[name] for name in ("budget", "rate", "concurrent")] == [5, 60, None]
    assert listed["spent"] == 0
    path = f"/api/keys/{listed['id']}"
    changed = await web.call("PATCH", path, {"budget": None, "concurrent": 2}, who=cast.member)
    assert changed.json == listed | {"budget": None, "concurrent": 2}
    wider = await web.call("PATCH", path, {"scopes": []}, who=cast.member)
    assert (wider.status, wider.code) == (400, "field_unknown")


async def test_what_is_not_yours_looks_like_what_does_not_exist(web: Web) -> None:
    cast = await cast_of(web)
    things = await things_of(web, cast, 0)
    for path in ("agents/{}", "conversations/{}", "runs/{}", "files/{}"):
        kind = path.partition("/")[0].removesuffix("s")
        theirs: str = getattr(things, kind)
        missing = theirs[:-4] + "zzzz"
        one = await web.call("GET", "/api/" + path.format(theirs), who=cast.other)
        two = await web.call("GET", "/api/" + path.format(missing), who=cast.other)

        assert one.status == two.status == 404
        assert json.dumps(one.json).replace(theirs, missing) == json.dumps(two.json)
