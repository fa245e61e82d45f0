"""`teahouse config`: settings as the server has them, and the file they lie in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from teahouse.cli.call import ask as call
from teahouse.cli.call import run, terminal_of
from teahouse.cli.client import Client, running
from teahouse.cli.options import Home, Json
from teahouse.cli.terminal import Terminal, read_standard_input
from teahouse.core.errors import NotFound

Key = Annotated[str, typer.Argument(help="cli.argument.setting")]
OptionalKey = Annotated[str | None, typer.Argument(help="cli.argument.setting_or_all")]
Value = Annotated[str | None, typer.Argument(help="cli.argument.value")]
Unset = Annotated[bool, typer.Option("--unset", help="cli.option.unset")]


def get(
    ctx: typer.Context, key: OptionalKey = None, home: Home = None, as_json: Json = False
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        public = await client.get("/api/settings")
        locked = cast("list[str]", public.pop("locked"))
        leaves = dict(_leaves(public))
        if key is None and as_json:
            terminal.give({**public, "locked": locked})
        elif key is None:
            heads = [terminal.t(f"cli.head.{name}") for name in ("setting", "value", "from")]
            fixed = terminal.t("cli.config.environment")
            rows = [(k, _shown(v), fixed if k in locked else "") for k, v in leaves.items()]
            terminal.table(heads, rows)
        else:
            value = _at(public, key or "")
            if as_json or isinstance(value, dict | list):
                terminal.give(value)
            else:
                terminal.say(_shown(value))

    call(ctx, home, work)


def set_setting(
    ctx: typer.Context,
    *,
    key: Key,
    value: Value = None,
    unset: Unset = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    given = None if unset else _given(terminal_of(ctx), key, value)

    async def work(terminal: Terminal, client: Client) -> None:
        public = await client.call("PATCH", "/api/settings", {key: given})
        if unset and as_json:
            terminal.give({"key": key, "unset": True})
        elif unset:
            terminal.say(terminal.t("cli.config.unset", key=key))
        elif as_json:
            terminal.give({"key": key, "value": _at(public, key)})
        else:
            shown = _shown(_at(public, key))
            terminal.say(terminal.t("cli.config.set", key=key, value=shown))

    call(ctx, home, work)


def path(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    terminal = terminal_of(ctx)
    file = terminal.host.settings_file(terminal.host.home(home))
    if as_json:
        terminal.give({"path": str(file), "exists": file.exists()})
    else:
        terminal.say(str(file))


def undo(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Works on the file, so that it also helps when a setting keeps the house shut."""
    terminal = terminal_of(ctx)
    folder = terminal.host.home(home)
    terminal.host.undo_settings(folder)
    run(_read_anew(terminal, folder))
    if as_json:
        terminal.give({"path": str(terminal.host.settings_file(folder)), "undone": True})
    else:
        terminal.say(terminal.t("cli.config.undone"))


async def _read_anew(terminal: Terminal, home: Path) -> None:
    """An empty change has a running server read its file again."""
    server = await running(home)
    if server is not None:
        async with Client(server, terminal.language) as client:
            await client.call("PATCH", "/api/settings", {})


def _given(terminal: Terminal, key: str, value: str | None) -> str:
    """A value that is not in the call is typed unseen, or read from a pipe."""
    if value is not None and value != "-":
        return value
    if sys.stdin.isatty():
        return terminal.ask_secret(terminal.t("cli.config.enter", key=key))
    return read_standard_input().rstrip("\r\n")


def _leaves(tree: dict[str, Any], above: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            found += _leaves(cast("dict[str, Any]", value), f"{above}{name}.")
        else:
            found.append((above + name, cast("Any", value)))
    return found


def _at(tree: Any, key: str) -> Any:
    place, left = tree, key
    while left:
        if len(left) > 2 and left[0] == left[-1] and left[0] in "\"'":
            left = left[1:-1]  # as the file has them
        whole = isinstance(place, dict) and left in place  # names of models have dots too
        name, _, left = (left, "", "") if whole else left.partition(".")
        if not isinstance(place, dict) or name not in place:
            raise NotFound("setting_not_there", key=key)
        place = cast("dict[str, Any]", place)[name]
    return place


def _shown(value: Any) -> str:
    if value is None or value in ([], {}):
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[Any]", value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def commands(group: typer.Typer) -> None:
    group.command("get", help="cli.command.config.get")(get)
    group.command("set", help="cli.command.config.set")(set_setting)
    group.command("path", help="cli.command.config.path")(path)
    group.command("undo", help="cli.command.config.undo")(undo)
