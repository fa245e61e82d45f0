"""`teahouse people` and `teahouse keys`: who may come in, and with which key."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from teahouse.cli import find
from teahouse.cli.call import ask as call
from teahouse.cli.call import terminal_of
from teahouse.cli.client import Client
from teahouse.cli.options import Home, Json, Yes
from teahouse.cli.terminal import Terminal, read_standard_input, when
from teahouse.core.errors import Invalid, NotFound
from teahouse.core.ids import new_secret

GIVEN_LENGTH = 16  # characters of a password that we make up: 96 random bits
LIMITS = ("budget", "rate", "concurrent")
NONE = "–"

Role = Annotated[
    Literal["admin", "member", "guest"], typer.Option("--role", help="cli.option.role")
]
Password = Annotated[
    str | None, typer.Option("--password", help="cli.option.password", metavar="TEXT")
]
PasswordFromInput = Annotated[
    bool, typer.Option("--password-stdin", help="cli.option.password_stdin")
]
NewPerson = Annotated[str, typer.Argument(help="cli.argument.new_person")]
KeyName = Annotated[str, typer.Argument(help="cli.option.key_name", metavar="NAME")]
KeyNamed = Annotated[str, typer.Option("--name", help="cli.option.key_name", metavar="NAME")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help="cli.option.key_scope", metavar="SCOPE")
]
Budget = Annotated[
    float | None, typer.Option("--budget", help="cli.option.key_budget", metavar="USD")
]
Rate = Annotated[int | None, typer.Option("--rate", help="cli.option.key_rate", metavar="N")]
Concurrent = Annotated[
    int | None, typer.Option("--concurrent", help="cli.option.key_concurrent", metavar="N")
]
PersonName = Annotated[str, typer.Argument(help="cli.argument.person")]


def list_people(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await client.items("/api/people")
        if as_json:
            terminal.give({"items": found, "next": None})
            return
        heads = [terminal.t(f"cli.head.{name}") for name in ("name", "role", "id")]
        terminal.table(heads, [(p["name"], p["role"], p["id"]) for p in found])

    call(ctx, home, work)


def add(
    ctx: typer.Context,
    *,
    name: NewPerson,
    role: Role = "member",
    password: Password = None,
    password_stdin: PasswordFromInput = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    secret, made_up = _password(terminal_of(ctx), password, from_input=password_stdin)

    async def work(terminal: Terminal, client: Client) -> None:
        body = {"name": name, "role": role, "password": secret}
        made = await client.post("/api/people", body)
        if as_json:
            terminal.give({**made, "password": secret} if made_up else made)
            return
        terminal.say(terminal.t("cli.people.added", name=made["name"], role=made["role"]))
        if made_up:
            terminal.say(terminal.t("cli.people.password", password=secret))

    call(ctx, home, work)


def give_password(
    ctx: typer.Context,
    *,
    name: PersonName,
    password: Password = None,
    password_stdin: PasswordFromInput = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    secret, made_up = _password(terminal_of(ctx), password, from_input=password_stdin)

    async def work(terminal: Terminal, client: Client) -> None:
        found = await find.person(client, name)
        if found["role"] == "owner":  # who may read the home's files need not know the old one
            await client.post("/api/me/password", {"old": client.key, "new": secret})
        else:
            await client.call("PATCH", f"/api/people/{found['id']}", {"password": secret})
        if as_json:
            terminal.give({"id": found["id"], **({"password": secret} if made_up else {})})
            return
        terminal.say(terminal.t("cli.people.new_password", name=found["name"]))
        if made_up:
            terminal.say(terminal.t("cli.people.password", password=secret))

    call(ctx, home, work)


def remove(
    ctx: typer.Context, name: PersonName, yes: Yes = False, home: Home = None, as_json: Json = False
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await find.person(client, name)
        if not (yes or terminal.confirm(terminal.t("cli.people.sure", name=found["name"]))):
            raise Invalid("not_confirmed")
        await client.call("DELETE", f"/api/people/{found['id']}")
        if as_json:
            terminal.give({"id": found["id"], "removed": True})
        else:
            terminal.say(terminal.t("cli.people.removed", name=found["name"]))

    call(ctx, home, work)


def _password(terminal: Terminal, given: str | None, *, from_input: bool) -> tuple[str, bool]:
    """The password, and whether we made it up because nobody was there to choose one."""
    if given is not None:
        return given, False
    if from_input:
        return read_standard_input().rstrip("\r\n"), False
    if not sys.stdin.isatty():
        return new_secret()[:GIVEN_LENGTH], True
    chosen = terminal.ask_secret(terminal.t("cli.people.choose"))
    if chosen != terminal.ask_secret(terminal.t("cli.people.again")):
        raise Invalid("passwords_differ")
    return chosen, False


def create_key(
    ctx: typer.Context,
    name: KeyName = "",
    *,
    named: KeyNamed = "",
    scope: Scopes = None,
    budget: Budget = None,
    rate: Rate = None,
    concurrent: Concurrent = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    if not (name or named):
        ctx.fail(terminal_of(ctx).t("cli.usage.missing", name="NAME"))

    async def work(terminal: Terminal, client: Client) -> None:
        body = {
            "name": name or named,
            "scopes": scope or [],
            "budget": budget,
            "rate": rate,
            "concurrent": concurrent,
        }
        made = await client.post("/api/keys", body)
        if as_json:
            terminal.give({"id": made["id"], "key": made["key"]})
        else:
            terminal.say(made["key"])
            terminal.tell(terminal.t("cli.keys.created", name=made["name"]))

    call(ctx, home, work)


def list_keys(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await client.items("/api/keys")
        if as_json:
            terminal.give({"items": found, "next": None})
            return
        everything = terminal.t("cli.keys.everything")
        rows = [
            (
                key["name"],
                ", ".join(key["scopes"]) or everything,
                f"{key['spent']:.4f}",
                *(_figure(key[name]) for name in LIMITS),
                when(key["last_used_at"]) if key["last_used_at"] else NONE,
                key["id"],
            )
            for key in found
        ]
        heads = ("name", "scopes", "spent", *LIMITS, "used", "id")
        terminal.table([terminal.t(f"cli.head.{name}") for name in heads], rows)

    call(ctx, home, work)


def _figure(value: float | None) -> str:
    return NONE if value is None else f"{value:g}"


def remove_key(
    ctx: typer.Context,
    *,
    key: Annotated[str, typer.Argument(help="cli.argument.key")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = [k for k in await client.items("/api/keys") if key in {k["id"], k["name"]}]
        if not found:
            raise NotFound("key_unnamed", name=key)
        if len(found) > 1:
            ids = ", ".join(str(one["id"]) for one in found)
            raise Invalid("name_ambiguous", name=key, names=ids)
        await client.call("DELETE", f"/api/keys/{found[0]['id']}")
        if as_json:
            terminal.give({"id": found[0]["id"], "removed": True})
        else:
            terminal.say(terminal.t("cli.keys.removed", name=found[0]["name"]))

    call(ctx, home, work)


def commands(group: typer.Typer) -> None:
    group.command("list", help="cli.command.people.list")(list_people)
    group.command("add", help="cli.command.people.add")(add)
    group.command("password", help="cli.command.people.password")(give_password)
    group.command("remove", help="cli.command.people.remove")(remove)


def key_commands(group: typer.Typer) -> None:
    group.command("create", help="cli.command.keys.create")(create_key)
    group.command("list", help="cli.command.keys.list")(list_keys)
    group.command("remove", help="cli.command.keys.remove")(remove_key)
