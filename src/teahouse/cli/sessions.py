"""`teahouse sessions`: conversations, to read, to keep and to delete."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from teahouse.cli import find
from teahouse.cli.call import ask as call
from teahouse.cli.client import Client
from teahouse.cli.options import Home, Json, Yes
from teahouse.cli.terminal import Terminal, unprintable, when
from teahouse.core.errors import Invalid

Session = Annotated[str, typer.Argument(help="cli.argument.session")]
Limit = Annotated[int, typer.Option("--limit", help="cli.option.limit", min=1, max=200)]
Archived = Annotated[bool, typer.Option("--archived", help="cli.option.archived")]
Format = Annotated[
    Literal["markdown", "json"] | None, typer.Option("--format", help="cli.option.format")
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="cli.option.output", metavar="FILE")
]


def list_sessions(
    ctx: typer.Context,
    *,
    limit: Limit = 50,
    archived: Archived = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        page = await client.get(
            "/api/conversations", limit=limit, archived="true" if archived else "false"
        )
        if as_json:
            terminal.give(page)
            return
        heads = [terminal.t(f"cli.head.{name}") for name in ("title", "posts", "updated", "id")]
        rows = [
            (one["title"] or "–", one["posts"], when(one["updated_at"]), one["id"])
            for one in page["items"]
        ]
        terminal.table(heads, rows)

    call(ctx, home, work)


def show(ctx: typer.Context, session: Session, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await find.conversation(client, session)
        form = "json" if as_json else "markdown"
        data = await _export(client, found["id"], form)
        terminal.say(data.decode().rstrip("\n"))

    call(ctx, home, work)


def export(
    ctx: typer.Context,
    *,
    session: Session,
    form: Format = None,
    output: Output = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await find.conversation(client, session)
        data = await _export(client, found["id"], form or ("json" if as_json else "markdown"))
        if output is None:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise unprintable(error) from error
            return
        try:
            output.write_bytes(data)
        except OSError as error:
            raise Invalid("file_unwritable", path=output, detail=error.strerror or error) from error
        if as_json:
            terminal.give({"id": found["id"], "file": str(output)})
        else:
            terminal.say(terminal.t("cli.sessions.exported", file=output))

    call(ctx, home, work)


def delete(
    ctx: typer.Context, session: Session, yes: Yes = False, home: Home = None, as_json: Json = False
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await find.conversation(client, session)
        title = found["title"] or found["id"]
        question = terminal.t("cli.sessions.sure", title=title, posts=found["posts"])
        if not (yes or terminal.confirm(question)):
            raise Invalid("not_confirmed")
        await client.call("DELETE", f"/api/conversations/{found['id']}")
        if as_json:
            terminal.give({"id": found["id"], "deleted": True})
        else:
            terminal.say(terminal.t("cli.sessions.deleted", title=title))

    call(ctx, home, work)


async def _export(client: Client, conversation: str, form: str) -> bytes:
    path = f"/api/conversations/{conversation}/export"
    return await client.raw("GET", path, query={"format": form})


def commands(group: typer.Typer) -> None:
    group.command("list", help="cli.command.sessions.list")(list_sessions)
    group.command("show", help="cli.command.sessions.show")(show)
    group.command("export", help="cli.command.sessions.export")(export)
    group.command("delete", help="cli.command.sessions.delete")(delete)
