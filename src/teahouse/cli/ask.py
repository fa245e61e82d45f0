"""`teahouse ask`: one question, one answer, nothing else on standard output."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from msgspec import Struct

from teahouse.cli import find
from teahouse.cli.answer import Answer, Show, listen
from teahouse.cli.call import ask as call
from teahouse.cli.call import terminal_of
from teahouse.cli.client import Client
from teahouse.cli.options import AgentName, Conversation, Home, Json, Model
from teahouse.cli.question import Ask, asker
from teahouse.cli.terminal import Terminal, read_standard_input
from teahouse.core.errors import Invalid
from teahouse.core.ids import new_id

INTERRUPTED = 130

Question = Annotated[list[str] | None, typer.Argument(help="cli.argument.question")]


class Message(Struct, kw_only=True):
    """What to send, and where."""

    text: str
    agent: str | None = None
    conversation: str | None = None
    model: str | None = None


def ask(
    ctx: typer.Context,
    *,
    question: Question = None,
    agent: AgentName = None,
    model: Model = None,
    conversation: Conversation = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    given = " ".join(question or ())
    text = "\n\n".join(filter(None, (given, read_standard_input().rstrip("\n"))))
    if not text.strip():
        raise Invalid("question_empty")

    async def work(terminal: Terminal, client: Client) -> Answer:
        message = Message(text=text, model=model)
        if conversation:
            message.conversation = (await find.conversation(client, conversation))["id"]
        else:
            message.agent = (await find.agent(client, agent))["id"]
        show = show_for(terminal, quiet=as_json)
        return await send(client, message, show, asker(terminal, quiet=as_json))

    answer = call(ctx, home, work)
    terminal = terminal_of(ctx)
    if as_json:
        terminal.give(answer.told())
    finish(terminal, answer)


async def send(client: Client, message: Message, show: Show, ask: Ask) -> Answer:
    """Post the message and listen to the answer that it wakes."""
    run, conversation = await put(client, message)
    return await listen(client, run, conversation, show, ask)


async def put(client: Client, message: Message) -> tuple[str, str]:
    """Post the message; return the run that it wakes, and its conversation."""
    body: dict[str, Any] = {"text": message.text, "client_id": new_id("m")}
    for name in ("agent", "conversation", "model"):
        if value := getattr(message, name):
            body[name] = value
    if message.conversation:
        body.pop("agent", None)
    accepted = await client.post("/api/messages", body)
    return accepted["runs"][0]["id"], accepted["post"]["conversation"]


def show_for(terminal: Terminal, *, quiet: bool) -> Show:
    """Text to standard output; tools to standard error, where a person looks on."""

    def note(key: str, text: str) -> None:
        if sys.stderr.isatty() and not quiet:
            line = terminal.t(f"cli.answer.{key}", text=text)
            terminal.tell(terminal.dim(line, sys.stderr))

    return Show(nowhere if quiet else terminal.write, note)


def nowhere(_: str) -> None:
    """Where text goes that is told as a whole in the end."""


def finish(terminal: Terminal, answer: Answer) -> None:
    """Say why an answer did not end by itself, and leave with the right code."""
    if answer.problem is not None:
        terminal.fail(answer.problem.message, answer.problem.hint)
    if answer.ending == "stopped":
        terminal.tell(terminal.t("cli.answer.stopped"))
        raise typer.Exit(INTERRUPTED)
    if answer.ending in {"failed", "limit"} or answer.problem is not None:
        raise typer.Exit(1)
