"""`teahouse mcp`: offers this house's agents over standard input and output, to editors and others
that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from teahouse.cli import find
from teahouse.cli.answer import Show, hear
from teahouse.cli.ask import Message, nowhere, put
from teahouse.cli.call import ask as call
from teahouse.cli.client import Client, Refused, ServerGone
from teahouse.cli.options import Home, Json
from teahouse.cli.terminal import Terminal
from teahouse.core.errors import ToolFailed, told

if TYPE_CHECKING:
    from teahouse.tools.mcp.offer import Card, Reply


def mcp(ctx: typer.Context, *, home: Home = None, as_json: Json = False) -> None:
    _ = as_json  # what it prints is JSON in any case

    async def work(_: Terminal, client: Client) -> None:
        from teahouse.tools.mcp.offer import over_stdio, server

        agents = _Agents(client)
        await over_stdio(server(lambda _: agents))

    call(ctx, home, work)


class _Agents:
    """The port `offer.Agents`, over our own server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def cards(self) -> Sequence[Card]:
        from teahouse.tools.mcp.offer import Card

        with _Plainly():
            found = await self._client.items("/api/agents")
        return [Card(name=one["name"], description=one["description"]) for one in found]

    async def ask(self, agent: str, text: str, conversation: str | None, /) -> Reply:
        from teahouse.tools.mcp.offer import Reply

        message = Message(text=text, conversation=conversation)
        with _Plainly():
            if conversation is None:
                message.agent = (await find.agent(self._client, agent))["id"]
            run, conversation = await put(self._client, message)
            try:
                answer = await hear(self._client, run, conversation, Show(nowhere, _unsaid))
            except asyncio.CancelledError:
                with suppress(Refused, ServerGone):
                    await self._client.post(f"/api/runs/{run}/stop")
                raise
        if answer.problem is not None:
            raise ToolFailed(answer.problem.message)
        return Reply(text=answer.text, conversation=conversation)


class _Plainly:
    """Turns the server's refusal into an error that the caller is told."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Refused):
            raise ToolFailed(told(error.message, error.hint)) from error


def _unsaid(_key: str, _text: str) -> None:
    """Only the answer itself is told."""
