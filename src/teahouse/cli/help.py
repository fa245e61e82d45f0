"""Typer's commands, speaking the reader's language: help texts are keys of the locale files."""

from __future__ import annotations

import difflib
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from teahouse.cli.overview import Rows, render
from teahouse.core import i18n

# Typer does not export it
UsageError = cast("type[Exception]", typer.BadParameter.__base__)

_MISTAKES = {
    "NoSuchOption": "cli.usage.no_such_option",
    "MissingParameter": "cli.usage.missing",
    "BadParameter": "cli.usage.bad_value",
    "BadOptionUsage": "cli.usage.needs_value",
}


class Command(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_help_of(self, ctx, ()))


class Group(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        rows = [
            (name, _words(ctx, command.help))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None
        ]
        formatter.write(_help_of(self, ctx, rows))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = list(self.commands)
            near = ", ".join(difflib.get_close_matches(name, known) or known)
            text = i18n.text(_language(ctx), "cli.usage.no_such_command", given=name, near=near)
            ctx.fail(text)
        return super().resolve_command(ctx, args)


def mistake(language: i18n.Language, raised: Exception) -> tuple[str, str | None]:
    """Say what was wrong in the call, and where to look it up."""
    error: Any = raised
    kind = type(raised).__name__
    if kind == "NoArgsIsHelpError":
        return str(error.message).rstrip(), None
    path = error.ctx.command_path if error.ctx else "teahouse"
    hint = i18n.text(language, "cli.usage.hint", command=path)
    key = _MISTAKES.get(kind)
    if key is None:
        return str(error.format_message()), hint
    parameter = getattr(error, "param", None)
    name = getattr(error, "option_name", None) or (_name_of(parameter) if parameter else "")
    expected = _takes(parameter, error.ctx) if parameter else ""
    return i18n.text(language, key, name=name, expected=expected), hint


def _name_of(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return " / ".join([*parameter.opts, *parameter.secondary_opts])
    return str(parameter.metavar or parameter.name).upper()


def _takes(parameter: Any, ctx: Any) -> str:
    """What may stand there: `NUMBER`, `<member|guest>`, a range."""
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if least is not None:
        return f"{least} … {most}"
    record = parameter.get_help_record(ctx)
    return record[0].rpartition(" ")[2] if record else ""


def _help_of(command: Any, ctx: Any, commands: Rows) -> str:
    arguments: list[tuple[str, str]] = []
    options: list[tuple[str, str]] = []
    usage = [ctx.command_path, "[OPTIONS]"]
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "option":
            key = "cli.option.help" if "--help" in parameter.opts else parameter.help
            options.append((parameter.get_help_record(ctx)[0], _words(ctx, key)))
            continue
        name = _name_of(parameter) + ("..." if parameter.nargs == -1 else "")
        arguments.append((name, _words(ctx, parameter.help)))
        usage.append(name if parameter.required else f"[{name}]")
    if commands:
        usage.append("COMMAND [ARGS]...")
    sections = (
        ("cli.help.arguments", arguments),
        ("cli.help.commands", commands),
        ("cli.help.options", options),
    )
    return render(_language(ctx), " ".join(usage), _words(ctx, command.help), sections)


def _words(ctx: Any, key: str | None) -> str:
    return i18n.text(_language(ctx), key) if key else ""


def _language(ctx: Any) -> i18n.Language:
    found = getattr(ctx.find_root().obj, "language", None)
    return cast("i18n.Language", found or i18n.DEFAULT)
