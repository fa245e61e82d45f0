"""A house: every part built and joined, from the home's folder to the door for adapters."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from teahouse import __version__
from teahouse.agent.approval import Desk
from teahouse.agent.directory import Directory
from teahouse.agent.finder import AgentFinder, Surroundings
from teahouse.agent.guard import Gate
from teahouse.agent.participant import Participants
from teahouse.agent.titles import suggest_title
from teahouse.app.endpoints import Endpoints
from teahouse.app.inference import HouseInference
from teahouse.app.local import Embedded
from teahouse.app.models import HouseModels
from teahouse.app.observe import Takers, open_collector
from teahouse.app.pipeline import HousePipeline
from teahouse.app.prices import Prices
from teahouse.chat.accounts import Accounts
from teahouse.chat.ports import Files, Run
from teahouse.chat.service import Chat
from teahouse.chat.titles import Titles
from teahouse.chat.worker import Worker
from teahouse.config.live import LiveSettings
from teahouse.core.bus import Bus
from teahouse.core.clock import Clock, SystemClock
from teahouse.core.errors import ToolFailed
from teahouse.core.i18n import Language
from teahouse.core.ids import new_secret
from teahouse.core.messages import Message, ParticipantId
from teahouse.core.tasks import Supervisor
from teahouse.llm.breaker import Breakers
from teahouse.llm.budget import Budgets
from teahouse.llm.client import Client
from teahouse.llm.gates import Gates
from teahouse.llm.local.provider import NAME as LOCAL
from teahouse.llm.loop import Limits
from teahouse.llm.route import Routes
from teahouse.llm.settings import RateLimits
from teahouse.llm.tool import Tool, ToolContext
from teahouse.llm.transport import Transport
from teahouse.llm.usage import Caller, UsageSums
from teahouse.store.home import Store, open_store
from teahouse.tools.now import Now
from teahouse.tools.session_title import SessionTitle


class House:
    """What adapters open to people. Made by `open_house`."""

    version = __version__

    def __init__(
        self, store: Store, settings: LiveSettings, clock: Clock, *, alone: bool = False
    ) -> None:
        """`alone`: the gateway, without page and agents."""
        self.settings = settings
        self.files: Files = store.files
        self.accounts = Accounts(store.people, clock)
        self.setup_token: str | None = None
        self._store, self._clock, self._alone = store, clock, alone
        home = settings.config.home
        self.directory = Directory(store.agents, home / "agents", clock)
        self.desk = Desk(store.approvals, clock)
        self._bus = Bus(clock, boot=store.boot)
        self._transport = Transport(clock)
        self._endpoints = Endpoints(self._transport, self._bytes)
        self._prices = Prices(settings)
        self.usage: UsageSums = store.ledger
        self.takers = Takers(store.ledger)
        self._collector = open_collector(settings)
        if self._collector is not None:
            self.takers.add(self._collector.telemetry)
        self._client = Client(
            self._endpoints.providers,
            clock=clock,
            ledger=self.takers,
            facts=self._prices.facts,
            routes=self._routes,
            breakers=Breakers(clock, lambda: settings.config.breaker),
            gates=Gates(clock, self._limits_of),
            pipeline=HousePipeline(settings),
            budgets=Budgets(
                store.purse, lambda: settings.config.budgets, self._prices.facts, clock
            ),
        )
        self._tasks = Supervisor()
        tools = {tool.spec.name: tool for tool in self._tools()}
        specs = [tool.spec for tool in tools.values()]
        self._local = Embedded(settings, self._transport, self._tasks, tools=specs, ahead=not alone)
        self.models = HouseModels(
            self._endpoints, settings, self._local, ledger=self.takers, prices=self._prices
        )
        self._finder = AgentFinder(
            self.directory,
            self._client,
            clock,
            tools=tools,
            gate=Gate(
                approvals=store.approvals,
                desk=self.desk,
                clock=clock,
                rules=self.directory.rules_of,
                wait_s=lambda: settings.config.approvals.wait_s,
            ),
            surroundings=self._surroundings,
        )
        self.tools_of = self._finder.tools_of
        participants = self._participants()
        self.inference = HouseInference(
            self._client,
            self.models,
            self.directory,
            None if alone else participants,
            lambda: self._surroundings().default_model,
        )
        self._titles = Titles(store.log, self._bus, self._suggest, self._tasks)
        self._worker = Worker(
            store.queue, participants, self._bus, clock, after_run=self._titles.after_run
        )
        self.run_counts = self._worker.counts
        self.chat = Chat(
            store.log, store.files, self.directory, self._worker, bus=self._bus, clock=clock
        )

    @property
    def language(self) -> Language:
        return self.settings.language

    @property
    def hosts(self) -> Collection[str]:
        return self.settings.config.server.names

    @asynccontextmanager
    async def at_work(self, *, take_up: bool) -> AsyncGenerator[None]:
        """Let the agents work until the block ends. Without `take_up` they leave what was cut by
        the last stop until somebody says something."""
        async with self._watched(), self._transport, self._tasks, self._local:
            self._endpoints.fix(LOCAL, self._local)
            await self._endpoints.follow(self.settings)
            self.settings.on_change(self._endpoints.follow)
            self._tasks.keep("ledger", self._store.behind.work)
            if self._alone:
                yield
                return
            await self._receive_owner()
            worker = self._worker
            self._tasks.keep("worker", worker.work if take_up else worker.work_when_woken)
            yield

    @asynccontextmanager
    async def _watched(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            if self._collector is not None:
                await self._collector.close()

    def _participants(self) -> Participants:
        if self._collector is None:
            return self._finder
        return self._collector.traced(self._finder, self._name_of)

    async def _name_of(self, agent: ParticipantId) -> str:
        row, _ = await self.directory.row_and_soul(agent, None)
        return row.name

    async def _receive_owner(self) -> None:
        password = self.settings.config.owner_password
        if not await self.accounts.is_set_up():
            if password:
                await self.accounts.set_up(password)
            else:
                self.setup_token = new_secret()
        await self.directory.ensure_starters(await self.accounts.owner(), self.language)

    def _tools(self) -> Sequence[Tool]:
        return Now(self._clock), SessionTitle(self._rename)

    def _surroundings(self) -> Surroundings:
        config = self.settings.config
        limits = config.limits
        return Surroundings(
            language=self.language,
            default_model=config.default_model or self._local.default,
            limits=Limits(steps=limits.steps, repeats=limits.repeats, wall_s=limits.wall_s),
            window=self._window,
            summarise=config.context.policy == "summarise",
            summary_model=config.context.summary_model,
        )

    def _routes(self) -> Routes:
        config = self.settings.config
        return Routes(aliases=config.aliases, fallbacks=config.fallbacks)

    def _limits_of(self, provider: str) -> RateLimits:
        found = self.settings.config.providers.get(provider)
        return RateLimits() if found is None else found.limits

    def _window(self, name: str) -> int | None:
        """The smallest that is known of those which the name may stand for."""
        windows = (self._prices.facts(model).window for model in self._routes().models(name))
        return min((one for one in windows if one), default=None)

    async def _suggest(self, run: Run, messages: tuple[Message, ...]) -> str:
        model = await self._finder.model_of(run.participant)
        caller = Caller(
            person=run.person,
            agent=run.participant,
            conversation=run.conversation,
            run=run.id,
            key=run.key,
            allowance=run.allowance,
            purpose="title",
        )
        return await suggest_title(self._client, model, messages, self.language, caller=caller)

    async def _rename(self, context: ToolContext, title: str) -> str:
        assert context.person is not None
        if context.conversation is None:
            raise ToolFailed("There is no conversation here that could have a title.")
        return await self._titles.name(context.person, context.conversation, title)

    async def _bytes(self, file: str) -> bytes:
        record = await self._store.files.record(file)
        return b"".join([chunk async for chunk in self._store.files.read(record)])


@asynccontextmanager
async def open_house(
    home: Path,
    environ: Mapping[str, str],
    *,
    take_up: bool = True,
    clock: Clock | None = None,
    file: Path | None = None,
    alone: bool = False,
) -> AsyncGenerator[House]:
    """Open the home and set the house to work. Raises `HomeInUse` and `SettingsError`, among
    others, before anything has begun. `file` and `alone` as in `app.serve`."""
    clock = clock or SystemClock()
    async with open_store(home, clock) as store:
        settings = await LiveSettings.open(home, environ, store.secrets, file)
        house = House(store, settings, clock, alone=alone)
        async with house.at_work(take_up=take_up):
            yield house
