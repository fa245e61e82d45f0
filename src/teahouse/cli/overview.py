"""What `teahouse --help` prints. It loads no command and no Typer, so that it is there at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teahouse.core.i18n import Language, text

COMMANDS = (
    "serve",
    "gateway",
    "chat",
    "ask",
    "mcp",
    "agents",
    "approvals",
    "sessions",
    "models",
    "people",
    "keys",
    "config",
    "doctor",
)
OPTIONS = (
    ("--home PATH", "cli.option.home"),
    ("--host ADDRESS", "cli.option.host"),
    ("--port NUMBER", "cli.option.port"),
    ("--no-browser", "cli.option.no_browser"),
    ("--json", "cli.option.json"),
    ("--version", "cli.option.version"),
    ("--help", "cli.option.help"),
)
Rows = Sequence[tuple[str, str]]


def overview(language: Language) -> str:
    commands = [(name, text(language, f"cli.command.{name}")) for name in COMMANDS]
    options = [(name, text(language, key)) for name, key in OPTIONS]
    return render(
        language,
        "teahouse [OPTIONS] [COMMAND] [ARGS]...",
        text(language, "cli.command.teahouse"),
        (("cli.help.commands", commands), ("cli.help.options", options)),
    )


def render(language: Language, usage: str, about: str, sections: Iterable[tuple[str, Rows]]) -> str:
    """Plain text in two columns. The left one is ASCII, so that its width is its length."""
    lines = [text(language, "cli.help.usage", usage=usage), "", f"  {about}"]
    for title, rows in sections:
        if rows:
            width = max(len(name) for name, _ in rows)
            lines += ["", text(language, title)]
            lines += [f"  {name.ljust(width)}  {help_text}".rstrip() for name, help_text in rows]
    return "\n".join(lines) + "\n"
