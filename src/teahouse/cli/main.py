"""All commands in one Typer application, and what becomes of their errors."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from teahouse import __version__
from teahouse.cli import (
    agents,
    approvals,
    ask,
    chat,
    doctor,
    mcp,
    models,
    people,
    serve,
    sessions,
    settings,
)
from teahouse.cli.call import terminal_of
from teahouse.cli.client import Refused
from teahouse.cli.help import Command, Group, UsageError, mistake
from teahouse.cli.options import Home, Json, ListenHost, ListenPort
from teahouse.cli.ports import Host
from teahouse.cli.terminal import Terminal
from teahouse.core.errors import HomeInUse, TeahouseError
from teahouse.core.i18n import Language

DONE, FAILED, MISUSED, IN_USE, INTERRUPTED = 0, 1, 2, 3, 130

NoBrowser = Annotated[bool, typer.Option("--no-browser", help="cli.option.no_browser")]
Version = Annotated[bool, typer.Option("--version", help="cli.option.version")]


class _Application(typer.Typer):
    """A Typer whose commands speak the reader's language and stay plain."""

    def __init__(self, name: str, *, no_args_is_help: bool = False) -> None:
        super().__init__(
            name=name,
            no_args_is_help=no_args_is_help,
            cls=Group,
            help=f"cli.command.{name}",
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            add_completion=False,
            context_settings={"help_option_names": ["--help", "-h"]},
        )

    def command(self, name: str | None = None, **more: object):  # type: ignore[override]
        return super().command(name, cls=Command, **more)  # type: ignore[arg-type]


def application() -> typer.Typer:
    app = _Application("teahouse")
    app.callback(invoke_without_command=True, cls=Group, help="cli.command.teahouse")(_alone)
    for name, command in (
        ("serve", serve.serve),
        ("gateway", serve.gateway),
        ("chat", chat.chat),
        ("ask", ask.ask),
        ("mcp", mcp.mcp),
    ):
        app.command(name, help=f"cli.command.{name}")(command)
    for name, add in (
        ("agents", agents.commands),
        ("approvals", approvals.commands),
        ("sessions", sessions.commands),
        ("models", models.commands),
        ("people", people.commands),
        ("keys", people.key_commands),
        ("config", settings.commands),
    ):
        group = _Application(name, no_args_is_help=True)
        add(group)
        app.add_typer(group, name=name)
    app.command("doctor", help="cli.command.doctor")(doctor.doctor)
    return app


def _alone(
    ctx: typer.Context,
    *,
    home: Home = None,
    host: ListenHost = None,
    port: ListenPort = None,
    no_browser: NoBrowser = False,
    as_json: Json = False,
    version: Version = False,
) -> None:
    terminal = terminal_of(ctx)
    _pass_down(ctx, home=home, as_json=as_json)
    if version:
        terminal.say(f"teahouse {__version__}")
    elif ctx.invoked_subcommand is None:
        folder = terminal.host.home(home)
        browser = not no_browser
        serve.open_house(terminal, folder, host, port, browser=browser, as_json=as_json)


def _pass_down(ctx: typer.Context, **given: object) -> None:
    """`teahouse --home X ask` means the same as `teahouse ask --home X`."""
    values = {name: value for name, value in given.items() if value}
    group = cast("Group", ctx.command)
    ctx.default_map = {
        name: values | dict.fromkeys(getattr(command, "commands", ()), values)
        for name, command in group.commands.items()
    }


def run(host: Host, arguments: Sequence[str], language: Language) -> int:
    """Run one command; return the exit code."""
    terminal = Terminal(host, language)
    try:
        code = application()(
            list(arguments), prog_name="teahouse", standalone_mode=False, obj=terminal
        )
        sys.stdout.flush()
    except UsageError as error:
        terminal.fail(*mistake(language, error))
        return MISUSED
    except HomeInUse as error:
        _fail(terminal, error)
        return IN_USE
    except (TeahouseError, Refused) as error:
        _fail(terminal, error)
        return FAILED
    except (KeyboardInterrupt, asyncio.CancelledError, typer.Abort):
        terminal.tell("")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # Typer leaves so when the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return code if isinstance(code, int) else DONE


def _fail(terminal: Terminal, error: TeahouseError | Refused) -> None:
    problem = error if isinstance(error, Refused) else error.problem(terminal.language)
    terminal.fail(problem.message, problem.hint)
