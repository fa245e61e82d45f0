"""Writes docs/reference from the code itself, so that it cannot lie; `--check` only compares."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from teahouse.cli.main import application
from teahouse.cli.overview import overview
from teahouse.config import keys
from teahouse.config.load import variable
from teahouse.config.tree import ENVIRONMENT_ONLY
from teahouse.core import i18n
from teahouse.server.schema import events_schema, openapi_schema

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Written by `make reference` from the code. Change the code, not this page. -->\n\n"
Schema = dict[str, Any]

CLI = (
    "Every command takes `--home` and `--json`, and speaks the language of `TEAHOUSE_LANGUAGE`, "
    "else that of the house, else that of `LANG`. Exit codes: 0 done, 1 failed, 2 called wrongly, "
    "3 another process has the home, 130 interrupted."
)
SETTINGS = (
    "In `config.toml` below the home, in the page, or as environment variables, which win. Names "
    "in capitals are yours to choose. Those in brackets are taken from the environment alone. "
    "[The guide](../settings.md) has examples."
)
API = (
    "Everything is JSON. Log in with a cookie or send `Authorization: Bearer KEY`; only "
    "`/healthz`, `/api/status`, `/api/setup` and `/api/login` are open. A running server "
    "shows the same as OpenAPI 3.1 at `/api/openapi.json`. [The API by curl](../api.md) is "
    "the guide to this list; what can go wrong is on [its own page](errors.md)."
)
EVENTS = (
    "The same names on the WebSocket `/ws`, in the server-sent events of "
    "`GET /api/runs/{run}/events`, and in the journal. Every event comes in an "
    "[`Envelope`](#envelope); a reader that knows the last `seq` it has seen asks for what "
    "came after it. How to follow them is told in [the guide](../api.md#following-live)."
)
ERRORS = (
    'A refused request answers `{"error": {"code", "message", "hint"}}` in the language that '
    "`Accept-Language` asks for. The `code` is stable, programs may rely on it; the words may "
    "change. `{…}` stands for a value."
)


def api() -> str:
    """One section per route: what it takes, what it answers."""
    document = openapi_schema()
    schemas: Schema = document["components"]["schemas"]
    lines = [
        "# REST routes",
        "",
        API,
        "",
    ]
    named: list[str] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            lines += [f"## {method.upper()} {path}", ""]
            if operation.get("description"):
                lines += [operation["description"], ""]
            for parameter in operation.get("parameters", []):
                needed = "" if parameter.get("required") else ", optional"
                kind = kind_of(parameter.get("schema", {}))
                lines.append(f"- `{parameter['name']}` in the {parameter['in']}: {kind}{needed}")
            taken = content_of(operation.get("requestBody", {}))
            if taken:
                named += names_in(taken)
                lines.append(f"- takes {kind_of(taken)}")
            for status, answer in operation["responses"].items():
                if status != "default":
                    named += names_in(content_of(answer))
                    lines.append(f"- answers {status} {kind_of(content_of(answer))}".rstrip())
            lines.append("")
    lines += ["# What goes in and out", ""]
    return "\n".join([*lines, *tables(schemas, named)])


def events() -> str:
    """The socket's frames in both directions."""
    document = events_schema()
    schemas: Schema = document["components"]["schemas"]
    names = document["x-names"]
    lines = [
        "# Events",
        "",
        EVENTS,
        "",
        "## What the server sends",
        "",
        "| `type` | value | meaning |",
        "|---|---|---|",
        *(row(schemas, tag, name) for tag, name in names["events"].items()),
        "",
        "## What a client sends",
        "",
        "| `type` | value | meaning |",
        "|---|---|---|",
        *(row(schemas, tag, name) for tag, name in names["inbound"].items()),
        "",
        "## Their fields",
        "",
    ]
    ordered = ["Envelope", *names["events"].values(), *names["inbound"].values()]
    return "\n".join([*lines, *tables(schemas, ordered)])


def errors() -> str:
    """Every error code with its words and, for a person, the way out."""
    texts = i18n.texts("en-US")
    codes = sorted(
        key.removeprefix("errors.")
        for key in texts
        if key.startswith("errors.") and not key.endswith(".hint")
    )
    lines = [
        "# Errors",
        "",
        ERRORS,
        "",
        "| code | message | what to do |",
        "|---|---|---|",
    ]
    for code in codes:
        message, hint = texts[f"errors.{code}"], texts.get(f"errors.{code}.hint", "")
        lines.append(f"| `{code}` | {cell(message)} | {cell(hint)} |")
    return "\n".join([*lines, ""])


def cli() -> str:
    """What every command says to `--help`."""
    group = typer.main.get_command(application())
    lines = ["# Commands", "", CLI, "", "## teahouse", "", *code(overview("en-US"))]
    for path, words in helps(group, group.make_context("teahouse", [], resilient_parsing=True)):
        lines += [f"{'#' * min(len(path), 3)} {' '.join(path)}", "", *code(words)]
    return "\n".join(lines)


def helps(group: Any, context: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        own = command.make_context(name, [], parent=context, resilient_parsing=True)
        yield tuple(own.command_path.split()), command.get_help(own)
        if hasattr(command, "list_commands"):
            yield from helps(command, own)


def code(words: str) -> list[str]:
    return ["```text", words.rstrip(), "```", ""]


def settings() -> str:
    """Every setting with what it takes, its default and the variable that fixes it."""
    texts = i18n.texts("en-US")
    lines = [
        "# Settings",
        "",
        SETTINGS,
        "",
        "| setting | takes | default | variable | what it is for |",
        "|---|---|---|---|---|",
    ]
    for key, kind, default in keys.reference():
        name = keys.dotted(key)
        shown = "" if default in (None, (), {}) else f"`{json.dumps(default)}`"
        help_text = texts.get(f"cli.setting.{name}", "")
        taken = f"`{cell(keys.takes(kind))}`"
        where = "" if key in ENVIRONMENT_ONLY else f"`{name}`"
        lines.append(
            f"| {where or f'(`{name}`)'} | {taken} | {shown} | `{variable(key)}` "
            f"| {cell(help_text)} |"
        )
    return "\n".join([*lines, ""])


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli,
    "settings.md": settings,
    "api.md": api,
    "events.md": events,
    "errors.md": errors,
}


def tables(schemas: Schema, named: Iterable[str]) -> list[str]:
    """A table of fields for each value named and for all that they hold."""
    lines: list[str] = []
    waiting, done = list(dict.fromkeys(named)), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in done or name not in schemas:
            continue
        done.add(name)
        schema = schemas[name]
        lines += [f"## {name}", ""]
        if schema.get("description"):
            lines += [schema["description"], ""]
        fields: Schema = schema.get("properties", {})
        if fields:
            lines += ["| field | kind |", "|---|---|"]
        elif schema.get("anyOf"):
            lines += [kind_of(schema), ""]
        for field, kind in fields.items():
            optional = "" if field in schema.get("required", []) else ", optional"
            lines.append(f"| `{field}` | {cell(kind_of(kind) + optional)} |")
        waiting += [found for found in names_in(schema) if found not in done]
        lines.append("")
    return lines


def row(schemas: Schema, tag: str, name: str) -> str:
    meaning = schemas[name].get("description", "").split("\n\n")[0]
    return f"| `{tag}` | [{name}](#{name.lower()}) | {cell(meaning)} |"


def kind_of(schema: Schema) -> str:  # noqa: C901, PLR0911  one case for each shape
    """A schema in a few words, with links to the values it names."""
    match schema:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return " or ".join(f"`{json.dumps(value)}`" for value in values)
        case {"anyOf": kinds} | {"oneOf": kinds}:
            return " or ".join(dict.fromkeys(kind_of(kind) for kind in kinds))
        case {"type": "array", "items": dict(items)}:
            return f"list of {kind_of(items)}"
        case {"type": "array"}:
            return "list"
        case {"type": "object", "properties": dict(fields)}:
            return "object with " + ", ".join(f"`{field}`" for field in fields)
        case {"type": list(kinds)}:
            return " or ".join(kinds)
        case {"format": form, "type": kind}:
            return f"{kind} ({form})"
        case {"type": kind}:
            return str(kind)
        case _:
            return "any" if schema else ""


def names_in(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in names_in(item)]
    if isinstance(schema, dict):
        if "$ref" in schema:
            return [schema["$ref"].rpartition("/")[2]]
        return [name for item in schema.values() for name in names_in(item)]
    return []


def content_of(body: Schema) -> Schema:
    contents = list(body.get("content", {}).values())
    return contents[0].get("schema", {}) if contents else {}


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    stale: list[str] = []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, write in PAGES.items():
        path = FOLDER / name
        content = NOTE + write().rstrip() + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(content, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"Out of date: {', '.join(stale)}. Run make reference and commit what it writes.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
