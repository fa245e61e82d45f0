"""A tool call that waits for a person's yes, in the terminal: what is asked, and the answer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from teahouse.cli.client import Client, Refused, ServerGone
from teahouse.cli.terminal import Terminal
from teahouse.core.events import Approval
from teahouse.core.i18n import has
from teahouse.core.tasks import Supervisor
from teahouse.core.visible import shown, visible

DENY = {"decision": "deny"}

Ask: TypeAlias = Callable[[Approval], Awaitable[dict[str, Any] | None]]
"""What the person says, as the server takes it; None leaves the question open for elsewhere."""


class Asked(Protocol):
    """A question as it came in an event or from the list."""

    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def effect(self) -> str: ...
    @property
    def reason(self) -> str: ...


def card(terminal: Terminal, asked: Asked) -> list[str]:
    """The call with nothing left out and nothing hidden, what it may do, and why it is asked."""
    t = terminal.t
    reason = f"cli.approval.reason.{asked.reason}"
    return [
        t("cli.approval.head", tool=visible(asked.tool)),
        *(f"  {line}" for line in shown(asked.arguments)),
        f"  {t(f'cli.approval.effect.{asked.effect}')}",
        f"  {t(reason if has(reason) else 'cli.approval.reason.other', reason=asked.reason)}",
    ]


def pattern_of(asked: Approval) -> list[str] | None:
    """What "all of these" means: commands that begin with the same two words, or the whole tool.
    None where only the very same call can be allowed for longer."""
    if asked.words is None:
        return ["*"]
    return [*asked.words[:2], "*"] if asked.words else None


def asker(terminal: Terminal, *, quiet: bool) -> Ask:
    """Ask where somebody can answer; elsewhere say no, and how a yes may be given."""
    if sys.stdin is not None and terminal.is_interactive() and not quiet:
        return _Asker(terminal).ask

    async def refuse(asked: Approval) -> dict[str, Any]:
        for line in card(terminal, asked):
            terminal.tell(line)
        terminal.tell(terminal.t("cli.approval.nobody", tool=visible(asked.tool)))
        return DENY

    return refuse


class _Asker:
    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    async def ask(self, asked: Approval) -> dict[str, Any] | None:
        from prompt_toolkit import PromptSession

        terminal, pattern = self._terminal, pattern_of(asked)
        for line in card(terminal, asked):
            terminal.say(line)
        like = visible(" ".join(pattern or ()) if asked.words else asked.tool)
        choices = terminal.t("cli.approval.choices" if pattern else "cli.approval.few", like=like)
        terminal.say(choices)
        session: PromptSession[str] = PromptSession()
        while True:
            try:
                typed = (await session.prompt_async("? ")).strip().lower()
            except (EOFError, KeyboardInterrupt):
                return DENY
            if typed in terminal.t("cli.yes").split():
                return {"decision": "once"}
            if typed in terminal.t("cli.approval.no").split():
                return DENY
            if typed in terminal.t("cli.approval.always").split():
                return {"decision": "always"}
            if pattern and typed in terminal.t("cli.approval.all").split():
                return {"decision": "always", "pattern": pattern}
            terminal.say(choices)


class Questions:
    """The open questions of one run. They are put one after the other, each until it is answered
    here or elsewhere."""

    def __init__(self, client: Client, ask: Ask, tasks: Supervisor) -> None:
        self._client, self._ask, self._tasks = client, ask, tasks
        self._open: dict[str, asyncio.Task[None]] = {}
        self._one = asyncio.Lock()

    def take(self, asked: Approval) -> None:
        known = self._open.get(asked.id)
        if asked.state != "asked":
            if known is not None:
                known.cancel()
        elif known is None or known.done():
            self._open[asked.id] = self._tasks.start("question", self._put(asked))

    async def _put(self, asked: Approval) -> None:
        async with self._one:
            said = await self._ask(asked)
            if said is not None:
                with suppress(Refused, ServerGone):  # it is answered, or over
                    await self._client.post(f"/api/approvals/{asked.id}", said)
