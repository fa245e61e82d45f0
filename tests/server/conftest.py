"""A house with a real store behind a real server on loopback, and clients to call it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from teahouse.agent.approval import Desk
from teahouse.agent.directory import AgentDraft, Directory
from teahouse.agent.finder import ToolOfAgent
from teahouse.chat.accounts import Accounts
from teahouse.chat.ports import Received
from teahouse.chat.service import Chat
from teahouse.chat.worker import Worker
from teahouse.core.bus import Bus
from teahouse.core.clock import SystemClock
from teahouse.core.errors import Invalid
from teahouse.core.i18n import Language
from teahouse.core.messages import JsonObject, Person, PersonRole
from teahouse.llm.compare import CaseName, Comparison, Seen, judged
from teahouse.server.ports import LocalStatus, ModelEntry, ProviderDraft, Trial
from teahouse.server.serving import address_of, bind, serve
from teahouse.store.home import open_store
from tests.chat.conftest import Actor, cheap_passwords, open_house
from tests.chat.conftest import House as Services

PASSWORD = "correct horse"


class FakeSettings:
    """Two settings, one of them fixed."""

    def __init__(self) -> None:
        self.values: JsonObject = {"language": "en-US", "default_model": None}
        self.locked = ["default_model"]

    def public(self) -> JsonObject:
        return self.values | {"locked": self.locked}

    async def patch(self, changes: JsonObject) -> JsonObject:
        for key in changes:
            if key not in self.values:
                raise Invalid("field_unknown", field=key)
        self.values |= changes
        return self.public()


class FakeModels:
    def __init__(self) -> None:
        self.pulled: list[str] = []

    async def list(self) -> Sequence[ModelEntry]:
        return [ModelEntry(id="fake/fake", provider="fake")]

    async def test(self, model: str | None, draft: ProviderDraft | None) -> Trial:
        return Trial(ok=True, model=model or (draft.name if draft else ""), text="hello")

    async def check(self, a: str, b: str, case: CaseName) -> Comparison:
        return judged(case, Seen(text="latin"), Seen(text="chinese"))

    async def status(self) -> LocalStatus:
        return LocalStatus(state="absent")

    async def pull(self, name: str) -> None:
        self.pulled.append(name)


class House:
    """What `app` would build, with the parts around the services made up."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.chat, self.accounts = services.chat, services.accounts
        self.directory, self.files = services.directory, services.store.files
        self.settings, self.models = FakeSettings(), FakeModels()
        self.usage = services.store.ledger
        self.desk = Desk(services.store.approvals, SystemClock())
        self.version = "0.0.0"
        self.hosts: set[str] = {"tea.example"}
        self.setup_token: str | None = "console-token"

    async def tools_of(self, person: Person, agent: str) -> Sequence[ToolOfAgent]:
        await self.directory.record(person, agent)
        return []

    @property
    def language(self) -> Language:
        return self.settings.values["language"]


class Answer:
    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]


class Web:
    """A running server. Calls are made as somebody, or as nobody."""

    def __init__(self, house: House, address: str, client: aiohttp.ClientSession) -> None:
        self.house, self.address, self.client = house, address, client
        self.owner = house.services.owner

    async def person(self, name: str, role: PersonRole = "member") -> Person:
        return await self.house.accounts.add_person(self.owner, name, role, None)

    async def cookie(self, person: Person) -> dict[str, str]:
        token = await self.house.accounts.session_for(person)
        return {"cookie": f"teahouse_session={token}"}

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: Person | None = None,
        data: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        sent = dict(headers or {})
        if who is not None:
            sent |= await self.cookie(who)
        kwargs: dict[str, Any] = {"data": data} if data is not None else {}
        if body is not None:
            kwargs["json"] = body
        url = self.address + path
        async with self.client.request(method, url, headers=sent, **kwargs) as response:
            return Answer(response.status, response.headers, await response.read())

    @asynccontextmanager
    async def socket(self, who: Person, **headers: str) -> AsyncIterator[Socket]:
        async with self.client.ws_connect(
            self.address + "/ws", headers=await self.cookie(who) | headers, max_msg_size=0
        ) as raw:
            yield Socket(raw)

    async def talk(self, who: Person, text: str = "hello") -> Received:
        """A message of `who` to a new agent of their own."""
        owned = await self.house.directory.list(who)
        mine = [agent for agent in owned if agent.owner == who.id]
        draft = AgentDraft(name=f"Agent of {who.name}")
        agent = mine[0] if mine else await self.house.directory.create(who, draft)
        return await self.house.chat.receive(who, agent=agent.id, text=text)


class Socket:
    def __init__(self, raw: aiohttp.ClientWebSocketResponse) -> None:
        self.raw = raw

    async def send(self, **frame: Any) -> None:
        await self.raw.send_str(json.dumps(frame))

    async def next(self) -> JsonObject:
        async with asyncio.timeout(5):
            message = await self.raw.receive()
        assert message.type is aiohttp.WSMsgType.TEXT, message
        return json.loads(message.data)

    async def until(self, kind: str) -> list[JsonObject]:
        """Every frame up to the first event of `kind`."""
        frames: list[JsonObject] = []
        while True:
            frames.append(await self.next())
            if frames[-1]["event"]["type"] == kind:
                return frames

    async def closed(self) -> int | None:
        """Read on until the server closes; return its code."""
        async with asyncio.timeout(5):
            while True:
                message = await self.raw.receive()
                if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    return self.raw.close_code


@asynccontextmanager
async def open_web(house: House) -> AsyncIterator[Web]:
    stop, ready = asyncio.Event(), asyncio.Event()
    sock = bind("127.0.0.1", 0)
    address = address_of(sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(
            serve(house, sock, stop, ready=lambda _: ready.set(), tune_gc=False)  # type: ignore[arg-type]
        )
        async with asyncio.timeout(10):
            await ready.wait()
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
            yield Web(house, address, client)
        stop.set()


@asynccontextmanager
async def open_new(home: Path) -> AsyncIterator[Services]:
    """The services of a house that nobody has set up yet: without owner and agent."""
    clock = SystemClock()
    async with open_store(home, clock) as store:
        bus, actor = Bus(clock, boot=store.boot), Actor()
        worker = Worker(store.queue, actor, bus, clock)
        directory = Directory(store.agents, home / "agents", clock)
        yield Services(
            store=store,
            chat=Chat(store.log, store.files, directory, worker, bus=bus, clock=clock),
            accounts=Accounts(store.people, clock, passwords=cheap_passwords),
            directory=directory,
            worker=worker,
            bus=bus,
            actor=actor,
            owner=None,  # type: ignore[arg-type]
            agent="",
        )


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Web]:
    """One server for all the tests of a module that leave it as they found it."""
    home = tmp_path_factory.mktemp("house") / "home"
    async with open_house(home, Actor()) as services, open_web(House(services)) as web:
        yield web


@pytest.fixture
def actor() -> Actor:
    return Actor()


@pytest.fixture
async def web(tmp_path: Path, actor: Actor) -> AsyncIterator[Web]:
    async with open_house(tmp_path / "home", actor) as services, open_web(House(services)) as web:
        yield web
