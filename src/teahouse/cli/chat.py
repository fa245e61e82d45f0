"""`teahouse chat`: a conversation in the terminal, with streaming, tools and a history."""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import typer

from teahouse.cli import find
from teahouse.cli.answer import Answer, Show
from teahouse.cli.ask import Message, nowhere, send
from teahouse.cli.call import ask as call
from teahouse.cli.client import Client, Refused
from teahouse.cli.options import AgentName, Conversation, Home, Json, Model
from teahouse.cli.prompt import Prompt, read_lines
from teahouse.cli.question import asker
from teahouse.cli.terminal import Terminal
from teahouse.core.errors import TeahouseError

COMMANDS = ("help", "new", "agents", "agent", "model", "quit")
HISTORY = Path("history") / "chat"


def chat(
    ctx: typer.Context,
    *,
    agent: AgentName = None,
    conversation: Conversation = None,
    model: Model = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        talk = Talk(terminal, client, model, as_json=as_json)
        if conversation:
            await talk.go_on(conversation)
        else:
            await talk.turn_to(agent)
        if terminal.is_interactive() and not as_json:
            prompt = Prompt(terminal, terminal.host.home(home) / HISTORY, COMMANDS)
            talk.greet()
            await talk.hold(prompt.read)
        else:
            await talk.hold(read_lines(sys.stdin.buffer))

    call(ctx, home, work)


class _Leave(Exception):
    """Ctrl-C again, while the answer is already being stopped."""


class Talk:
    """Who is talked to, in which conversation, with which model."""

    def __init__(
        self, terminal: Terminal, client: Client, model: str | None, *, as_json: bool
    ) -> None:
        self._terminal, self._client, self._as_json = terminal, client, as_json
        self._model = model
        self._agent: dict[str, Any] = {}
        self._conversation: str | None = None
        self._actions: dict[str, Callable[[str], Awaitable[None]]] = {
            "help": self._help,
            "new": self._new,
            "agents": self._agents,
            "agent": self._switch,
            "model": self._choose,
        }

    async def turn_to(self, name: str | None) -> None:
        """Begin anew with the agent of this name."""
        self._agent = await find.agent(self._client, name)
        self._conversation = None

    async def go_on(self, name: str) -> None:
        found = await find.conversation(self._client, name)
        self._conversation = found["id"]
        self._agent = await find.agent(self._client, next(iter(found["agents"]), None))

    def greet(self) -> None:
        name = self._agent["name"]
        self._terminal.say(self._terminal.t("cli.chat.greeting", agent=name))

    async def hold(self, read: Callable[[], Awaitable[str | None]]) -> None:
        """Answer what `read` brings, until it brings None or the person leaves."""
        while (line := await read()) is not None:
            text = line.strip()
            if text in {"/quit", "/exit"}:
                return
            try:
                if text.startswith("/") and not text.startswith("//"):
                    await self._obey(text)
                elif text:
                    await self._answer(text.removeprefix("/") if text.startswith("//") else line)
            except _Leave:
                return
            except Refused as refusal:
                self._terminal.fail(refusal.message, refusal.hint)
            except TeahouseError as error:
                problem = error.problem(self._terminal.language)
                self._terminal.fail(problem.message, problem.hint)

    async def _answer(self, text: str) -> None:
        message = Message(
            text=text,
            agent=self._agent["id"],
            conversation=self._conversation,
            model=self._model,
        )
        show = Show(nowhere if self._as_json else self._terminal.write, self._note)
        try:
            asks = asker(self._terminal, quiet=self._as_json)
            answer = await send(self._client, message, show, asks)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            self._terminal.say()
            raise _Leave from None
        self._conversation = answer.conversation
        self._conclude(answer)

    def _conclude(self, answer: Answer) -> None:
        if self._as_json:
            self._terminal.give(answer.told())
        if answer.problem is not None:
            self._terminal.fail(answer.problem.message, answer.problem.hint)
        if answer.ending == "stopped":
            self._note("stopped", "")
        if not self._as_json:
            self._terminal.say()

    def _note(self, key: str, text: str) -> None:
        if not self._as_json:
            terminal = self._terminal
            terminal.say(terminal.dim(terminal.t(f"cli.answer.{key}", text=text)))

    async def _obey(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        action = self._actions.get(name)
        if action is not None:
            await action(rest.strip())
            return
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        known = f"/{near[0]}" if near else "/help"
        self._terminal.tell(self._terminal.t("cli.chat.unknown", name=f"/{name}", near=known))

    async def _help(self, _: str) -> None:
        for name in COMMANDS:
            self._terminal.say(self._terminal.t(f"cli.chat.help.{name}"))

    async def _new(self, _: str) -> None:
        self._conversation = None
        self.greet()

    async def _agents(self, _: str) -> None:
        for one in await self._client.items("/api/agents"):
            self._terminal.say(f"{one['name']}  {self._terminal.dim(one['description'])}")

    async def _switch(self, name: str) -> None:
        if name:
            await self.turn_to(name)
        self.greet()

    async def _choose(self, name: str) -> None:
        if name:
            self._model = name
        shown = self._model or self._agent.get("model") or self._terminal.t("cli.chat.usual_model")
        self._terminal.say(self._terminal.t("cli.chat.model", model=shown))
