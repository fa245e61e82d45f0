"""`teahouse approvals`: what agents wait for, and what was allowed them for longer."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from teahouse.cli.call import ask as call
from teahouse.cli.client import Client
from teahouse.cli.options import Home, Json
from teahouse.cli.question import card, pattern_of
from teahouse.cli.terminal import Terminal, when
from teahouse.core.errors import NotFound
from teahouse.core.events import Approval
from teahouse.core.visible import shown, visible

Question = Annotated[str, typer.Argument(help="cli.argument.approval")]
GrantId = Annotated[str, typer.Argument(help="cli.argument.grant")]
Always = Annotated[bool, typer.Option("--always", help="cli.option.always")]
AllLike = Annotated[bool, typer.Option("--all", help="cli.option.all_like")]


def list_approvals(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        page = await client.get("/api/approvals", state="asked")
        if as_json:
            terminal.give(page)
            return
        for one in page["items"]:
            terminal.say(one["id"])
            for line in card(terminal, _read(one)):
                terminal.say(f"  {line}")
            terminal.say(f"    {terminal.t('cli.approval.until', at=when(one['expires_at']))}")
        if not page["items"]:
            terminal.say(terminal.t("cli.approval.none"))

    call(ctx, home, work)


def approve(
    ctx: typer.Context,
    *,
    question: Question,
    always: Always = False,
    all_like: AllLike = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        said: dict[str, Any] = {"decision": "always" if always or all_like else "once"}
        if all_like:
            said["pattern"] = pattern_of(await _asked(client, question))
        await _answer(terminal, client, question, said, as_json=as_json)

    call(ctx, home, work)


def deny(ctx: typer.Context, question: Question, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        await _answer(terminal, client, question, {"decision": "deny"}, as_json=as_json)

    call(ctx, home, work)


def list_grants(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        page = await client.get("/api/grants")
        if as_json:
            terminal.give(page)
            return
        heads = [terminal.t(f"cli.head.{name}") for name in ("tool", "pattern", "until", "id")]
        terminal.table(heads, [_row(one) for one in page["items"]])

    call(ctx, home, work)


def revoke(ctx: typer.Context, grant: GrantId, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        await client.call("DELETE", f"/api/grants/{grant}")
        if as_json:
            terminal.give({"id": grant, "removed": True})
        else:
            terminal.say(terminal.t("cli.approval.revoked", id=grant))

    call(ctx, home, work)


async def _answer(
    terminal: Terminal, client: Client, question: str, said: dict[str, Any], *, as_json: bool
) -> None:
    answered = await client.post(f"/api/approvals/{question}", said)
    if as_json:
        terminal.give(answered)
    else:
        key = f"cli.approval.{answered['state']}"
        terminal.say(terminal.t(key, tool=visible(answered["tool"])))


async def _asked(client: Client, question: str) -> Approval:
    for one in (await client.get("/api/approvals"))["items"]:
        if one["id"] == question:
            return _read(one)
    raise NotFound("no_such_approval", id=question)


def _read(one: dict[str, Any]) -> Approval:
    return msgspec.convert({"type": "approval", **one}, Approval)


def _row(grant: dict[str, Any]) -> tuple[str, ...]:
    until = when(grant["until"]) if grant["until"] else "–"
    return visible(grant["tool"]), _pattern(grant), until, grant["id"]


def _pattern(grant: dict[str, Any]) -> str:
    if grant["arguments"] is not None:
        return ", ".join(shown(grant["arguments"])) or "–"
    return visible(" ".join(grant["words"])) if grant["words"] else "*"


def commands(group: typer.Typer) -> None:
    group.command("list", help="cli.command.approvals.list")(list_approvals)
    group.command("approve", help="cli.command.approvals.approve")(approve)
    group.command("deny", help="cli.command.approvals.deny")(deny)
    group.command("grants", help="cli.command.approvals.grants")(list_grants)
    group.command("revoke", help="cli.command.approvals.revoke")(revoke)
