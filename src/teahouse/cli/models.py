"""`teahouse models`: which models there are, the local one's file, and whether one answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teahouse.cli.call import ask as call
from teahouse.cli.call import run, terminal_of
from teahouse.cli.client import Client, Refused, ServerGone, running
from teahouse.cli.options import Home, Json
from teahouse.cli.terminal import Terminal
from teahouse.core.clock import SystemClock

if TYPE_CHECKING:
    from teahouse.llm.local.partial import ModelFile

ModelName = Annotated[str | None, typer.Argument(help="cli.argument.model")]
FileName = Annotated[str | None, typer.Argument(help="cli.argument.model_file")]
DIFFERENT, UNASKABLE = 1, 2  # exit codes of `check`
TOLD_EVERY = 10  # per cent, where no bar can be drawn


class Grouping(Enum):
    """What usage is added up by."""

    day = "day"
    agent = "agent"
    person = "person"
    model = "model"
    provider = "provider"
    key = "key"


Draw = Callable[[int, int, str], None]


def list_models(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        found = await client.items("/api/models")
        if as_json:
            terminal.give({"items": found, "next": None})
            return
        heads = [terminal.t(f"cli.head.{name}") for name in ("model", "context", "state")]
        ready = terminal.t("cli.models.ready")
        rows = [
            (one["id"], one["context_window"] or "–", ready if one["ready"] else one["note"] or "–")
            for one in found
        ]
        terminal.table(heads, rows)
        if not found:
            terminal.tell(terminal.t("cli.models.none"))

    call(ctx, home, work)


def pull(
    ctx: typer.Context, name: FileName = None, home: Home = None, as_json: Json = False
) -> None:
    from teahouse.llm.local import model_file

    terminal = terminal_of(ctx)
    folder = terminal.host.home(home)
    local = terminal.host.local_model(folder)
    model = model_file.model_file(name or local.name)

    async def work() -> Path:
        there = model_file.present(model, local.folder)
        if there is None:
            terminal.tell(_about(terminal, model))
            with _bar(terminal, model) as draw:
                there = await model_file.pull(model, local.folder, draw)
        await _tell_server(terminal, folder, model.id)
        return there

    file = run(work())
    if as_json:
        terminal.give({"id": model.id, "file": str(file), "size": model.size})
    else:
        terminal.say(terminal.t("cli.models.pulled", name=model.name, file=file))


def try_model(
    ctx: typer.Context, model: ModelName = None, home: Home = None, as_json: Json = False
) -> None:
    async def work(terminal: Terminal, client: Client) -> bool:
        trial = await client.post("/api/models/test", {"model": model} if model else {})
        if as_json:
            terminal.give(trial)
        elif trial["ok"]:
            terminal.say(
                terminal.t(
                    "cli.models.answered",
                    model=trial["model"],
                    first=trial["first_token_ms"] or trial["total_ms"],
                    total=trial["total_ms"],
                    text=trial["text"],
                )
            )
        else:
            named = trial["model"] or model or ""
            terminal.fail(terminal.t("cli.models.silent", model=named), trial["problem"])
        return bool(trial["ok"])

    if not call(ctx, home, work):
        raise typer.Exit(1)


def check(
    ctx: typer.Context,
    a: Annotated[str, typer.Argument(help="cli.argument.model_a")],
    b: Annotated[str, typer.Argument(help="cli.argument.model_b")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    from teahouse.llm.compare import CASES

    async def work(terminal: Terminal, client: Client) -> int:
        found: list[dict[str, Any]] = []
        for name in CASES:
            try:
                one = await client.post("/api/models/check", {"a": a, "b": b, "case": name})
            except Refused as error:
                terminal.fail(error.message, error.hint)
                return UNASKABLE
            if not found and _silent(terminal, {a: one["a"], b: one["b"]}):
                return UNASKABLE
            found.append(one)
            verdict = "differs" if one["differences"] else "alike"
            terminal.tell(terminal.t(f"cli.models.{verdict}", case=name))
        differ = any(one["differences"] for one in found)
        if as_json:
            terminal.give({"a": a, "b": b, "alike": not differ, "items": found})
        else:
            _differences(terminal, a, b, found)
        return DIFFERENT if differ else 0

    code = call(ctx, home, work)
    if code:
        raise typer.Exit(code)


def _silent(terminal: Terminal, seen: dict[str, dict[str, Any]]) -> bool:
    """Tell which of the models did not even answer the plainest question."""
    silent = {model: one["said"] for model, one in seen.items() if one["error"]}
    for model, why in silent.items():
        terminal.fail(terminal.t("cli.models.silent", model=model), why)
    return bool(silent)


def _differences(terminal: Terminal, a: str, b: str, found: list[dict[str, Any]]) -> None:
    rows = [
        (one["case"], each["what"], each["a"], each["b"])
        for one in found
        for each in one["differences"]
    ]
    if rows:
        terminal.table([terminal.t("cli.head.case"), terminal.t("cli.head.what"), a, b], rows)
    else:
        terminal.say(terminal.t("cli.models.all_alike", a=a, b=b, count=len(found)))


def usage(
    ctx: typer.Context,
    by: Annotated[Grouping, typer.Option(help="cli.option.usage_by")] = Grouping.day,
    days: Annotated[int, typer.Option(help="cli.option.usage_days", min=1, max=3660)] = 30,
    home: Home = None,
    as_json: Json = False,
) -> None:
    async def work(terminal: Terminal, client: Client) -> None:
        since = SystemClock().now() - timedelta(days=days)
        found = await client.items("/api/usage", by=by.value, since=since.isoformat())
        if as_json:
            terminal.give({"items": found, "next": None})
            return
        names = (by.value, "calls", "input_tokens", "output_tokens", "cost")
        rows = [
            (one["name"] or "–", one["calls"], one["input"], one["output"], _cost(terminal, one))
            for one in found
        ]
        terminal.table([terminal.t(f"cli.head.{name}") for name in names], rows)
        if not found:
            terminal.tell(terminal.t("cli.models.no_calls", days=days))

    call(ctx, home, work)


def _cost(terminal: Terminal, row: dict[str, Any]) -> str:
    """In dollars; what is not known is said, not counted as nothing."""
    if row["unpriced"] and not row["cost"]:
        return terminal.t("cli.models.unpriced")
    known = f"{row['cost']:.4f}"
    return f"{known} + {terminal.t('cli.models.unpriced')}" if row["unpriced"] else known


def _about(terminal: Terminal, model: ModelFile) -> str:
    return terminal.t(
        "cli.models.pulling",
        name=model.name,
        size=f"{model.size / 1e6:.0f}",
        licence=model.licence,
        publisher=model.publisher,
    )


@contextmanager
def _bar(terminal: Terminal, model: ModelFile) -> Generator[Draw]:
    """A bar on a screen; in a log one line for each tenth."""
    if not sys.stderr.isatty():
        yield _lines(terminal)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True, no_color=not terminal.surroundings.color)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(model.name, total=model.size)

        def draw(count: int, total: int, _: str) -> None:
            progress.update(task, completed=count, total=total)

        yield draw


def _lines(terminal: Terminal) -> Draw:
    told = -1

    def draw(count: int, total: int, source: str) -> None:
        nonlocal told
        tenth = count * 100 // max(total, 1) // TOLD_EVERY
        if tenth > told:
            told = tenth
            terminal.tell(
                terminal.t("cli.models.so_far", percent=tenth * TOLD_EVERY, source=source)
            )

    return draw


async def _tell_server(terminal: Terminal, home: Path, name: str) -> None:
    """A running server looks at the folder again; the file is there already."""
    server = await running(home)
    if server is not None:
        async with Client(server, terminal.language) as client:
            with suppress(Refused, ServerGone):
                await client.post("/api/models/pull", {"name": name})


def commands(group: typer.Typer) -> None:
    group.command("list", help="cli.command.models.list")(list_models)
    group.command("pull", help="cli.command.models.pull")(pull)
    group.command("test", help="cli.command.models.test")(try_model)
    group.command("check", help="cli.command.models.check")(check)
    group.command("usage", help="cli.command.models.usage")(usage)
