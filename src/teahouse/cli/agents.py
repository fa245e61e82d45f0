"""`teahouse agents`: the house's agents, and who they are."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from teahouse.agent.workspace import MAX_SOUL_BYTES, decode_text
from teahouse.cli import find
from teahouse.cli.call import ask as call
from teahouse.cli.client import Client
from teahouse.cli.options import Home, Json, Yes
from teahouse.cli.terminal import Terminal, read_standard_input
from teahouse.core.errors import Invalid, NotFound, TooLarge

Name = Annotated[str, typer.Argument(help="cli.argument.agent")]
NewName = Annotated[str | None, typer.Option("--name", help="cli.option.new_name", metavar="NAME")]
Description = Annotated[
    str | None, typer.Option("--description", help="cli.option.description", metavar="TEXT")
]
Soul = Annotated[
    Path | None, typer.Option("--soul", help="cli.option.soul", metavar="FILE", allow_dash=True)
]
Model = Annotated[
    str | None, typer.Option("--model", help="cli.option.agent_model", metavar="PROVIDER/MODEL")
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", help="cli.option.temperature", metavar="NUMBER"),
]
Shared = Annotated[bool | None, typer.Option("--shared/--private", help="cli.option.shared")]
Archived = Annotated[bool | None, typer.Option("--archive/--restore", help="cli.option.archive")]
Tools = list[str] | None
Allow = Annotated[Tools, typer.Option("--allow", help="cli.option.allow", metavar="TOOL")]
AskFirst = Annotated[Tools, typer.Option("--ask", help="cli.option.ask", metavar="TOOL")]
Deny = Annotated[Tools, typer.Option("--deny", help="cli.option.deny", metavar="TOOL")]
Usual = Annotated[Tools, typer.Option("--usual", help="cli.option.usual", metavar="TOOL")]
AlsoArchived = Annotated[bool, typer.Option("--archived", help="cli.option.archived")]


def list_agents(
    ctx: typer.Context, archived: AlsoArchived = False, home: Home = None, as_json: Json = False
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await client.items("/api/agents", archived="true" if archived else "false")
        if as_json:
            terminal.give({"items": found, "next": None})
            return
        heads = [terminal.t(f"cli.head.{name}") for name in ("name", "description", "model", "id")]
        rows = [(a["name"], a["description"], a["model"] or "–", a["id"]) for a in found]
        terminal.table(heads, rows)

    call(ctx, home, work)


def add(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(help="cli.argument.new_agent")],
    description: Description = None,
    soul: Soul = None,
    model: Model = None,
    temperature: Temperature = None,
    shared: Shared = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    given = {
        "name": name,
        "description": description,
        "soul": _read(soul),
        "model": model,
        "temperature": temperature,
        "shared": shared,
    }

    async def work(terminal: Terminal, client: Client) -> None:
        draft = {key: value for key, value in given.items() if value is not None}
        made = await client.post("/api/agents", draft)
        if as_json:
            terminal.give(made)
        else:
            terminal.say(terminal.t("cli.agents.added", name=made["name"], id=made["id"]))

    call(ctx, home, work)


def edit(
    ctx: typer.Context,
    *,
    agent: Name,
    name: NewName = None,
    description: Description = None,
    soul: Soul = None,
    model: Model = None,
    temperature: Temperature = None,
    shared: Shared = None,
    archived: Archived = None,
    allow: Allow = None,
    ask_first: AskFirst = None,
    deny: Deny = None,
    usual: Usual = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    given = {
        "name": name,
        "description": description,
        "soul": _read(soul),
        "model": model,
        "temperature": temperature,
        "shared": shared,
        "archived": archived,
    }

    async def work(terminal: Terminal, client: Client) -> None:
        changes: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        found = await _find(client, agent)
        rules = {**found["permissions"]}
        for rule, tools in (("allow", allow), ("ask", ask_first), ("deny", deny)):
            rules |= dict.fromkeys(tools or (), rule)
        rules = {tool: rule for tool, rule in rules.items() if tool not in (usual or ())}
        if rules != found["permissions"] or usual:
            changes["permissions"] = rules
        if not changes:
            changes = _edited(terminal, await client.get(f"/api/agents/{found['id']}"))
        if changes.get("model") == "":
            changes["model"] = None
        changed = found
        if changes:
            changed = await client.call("PATCH", f"/api/agents/{found['id']}", changes)
        if as_json:
            terminal.give(changed)
        else:
            key = "cli.agents.changed" if changes else "cli.agents.unchanged"
            terminal.say(terminal.t(key, name=changed["name"]))

    call(ctx, home, work)


def remove(
    ctx: typer.Context, agent: Name, yes: Yes = False, home: Home = None, as_json: Json = False
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await _find(client, agent)
        sure = yes or terminal.confirm(terminal.t("cli.agents.sure", name=found["name"]))
        if not sure:
            raise Invalid("not_confirmed")
        await client.call("DELETE", f"/api/agents/{found['id']}")
        if as_json:
            terminal.give({"id": found["id"], "removed": True})
        else:
            terminal.say(terminal.t("cli.agents.removed", name=found["name"]))

    call(ctx, home, work)


async def _find(client: Client, name: str) -> dict[str, Any]:
    """Also among the archived ones, which can be restored or removed."""
    try:
        return await find.agent(client, name)
    except NotFound:
        archived = await client.items("/api/agents", archived="true")
        for one in archived:
            if name in {one["id"], one["name"]}:
                return one
        raise


def _read(file: Path | None) -> str | None:
    """A SOUL from a file in whatever encoding an editor chose, or from standard input (`-`)."""
    if file is None:
        return None
    if str(file) == "-":
        return read_standard_input()
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_SOUL_BYTES + 1)
    except OSError as error:
        raise Invalid("file_unreadable", path=file, detail=error.strerror or error) from error
    if len(data) > MAX_SOUL_BYTES:
        raise TooLarge("soul_too_large", path=file, limit_kb=MAX_SOUL_BYTES // 1024)
    return decode_text(data, file)


def _edited(terminal: Terminal, agent: dict[str, Any]) -> dict[str, Any]:
    """Open the SOUL in the person's editor; an unchanged text is no change."""
    editor = terminal.surroundings.editor
    if not editor:
        raise Invalid("no_editor")
    before = str(agent.get("soul") or "")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "SOUL.md"
        file.write_text(before, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(file)], check=False)  # noqa: S603
        except OSError as error:
            raise Invalid("editor_failed", editor=editor, detail=error.strerror) from error
        if done.returncode != 0:
            raise Invalid("editor_failed", editor=editor, detail=done.returncode)
        after = file.read_text(encoding="utf-8")
    return {} if after == before else {"soul": after}


def commands(group: typer.Typer) -> None:
    group.command("list", help="cli.command.agents.list")(list_agents)
    group.command("add", help="cli.command.agents.add")(add)
    group.command("edit", help="cli.command.agents.edit")(edit)
    group.command("remove", help="cli.command.agents.remove")(remove)
