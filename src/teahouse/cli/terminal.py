"""The screen: results to standard output, everything else to standard error, in one language."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TextIO

from teahouse.cli.ports import Host
from teahouse.core import i18n

MOST_INPUT = 1 << 20  # bytes; more fits no message
WIDE = 10_000  # columns where no screen cuts the lines


class Terminal:
    def __init__(self, host: Host, language: i18n.Language) -> None:
        self.host = host
        self.language: i18n.Language = language
        self.surroundings = host.surroundings()
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:  # a terminal without Unicode shows ? and does not break
                reconfigure(errors="replace")

    def t(self, key: str, /, **values: object) -> str:
        return i18n.text(self.language, key, **values)

    def say(self, text: str = "") -> None:
        self.write(text + "\n")

    def write(self, text: str) -> None:
        """Print a piece of a line at once. Raises `Invalid` when the output takes no more."""
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise unprintable(error) from error

    def tell(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def give(self, value: Any) -> None:
        """Print one JSON value on one line."""
        import msgspec

        self.say(msgspec.json.encode(value).decode())

    def fail(self, what: str, hint: str | None) -> None:
        self.tell(what)
        if hint:
            self.tell(hint)

    def dim(self, text: str, stream: TextIO | None = None) -> str:
        if self.surroundings.color and (stream or sys.stdout).isatty():
            return f"\x1b[2m{text}\x1b[0m"
        return text

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Columns that also fit Chinese; a pipe gets whole lines without colours."""
        from rich.console import Console
        from rich.table import Table

        on_screen = sys.stdout.isatty()
        console = Console(
            no_color=not self.surroundings.color,
            highlight=False,
            width=None if on_screen else WIDE,
        )
        table = Table(box=None, pad_edge=False, header_style="bold" if on_screen else "")
        for head in heads:
            table.add_column(head, overflow="fold")
        for row in rows:
            table.add_row(*(_plain(cell) for cell in row))
        with console.capture() as captured:
            console.print(table)
        self.say("\n".join(line.rstrip() for line in captured.get().splitlines()))

    def is_interactive(self) -> bool:
        return sys.stdin.isatty() and sys.stdout.isatty()

    def ask_secret(self, prompt: str) -> str:
        import getpass

        return getpass.getpass(f"{prompt} ", stream=sys.stderr)

    def confirm(self, question: str) -> bool:
        """Ask before something is gone for good; where nobody can answer it stays."""
        if not sys.stdin.isatty():
            return False
        self.tell(question)
        with suppress(EOFError):
            return input("> ").strip().lower() in self.t("cli.yes").split()
        return False


def unprintable(error: OSError) -> Exception:
    """What to raise when standard output, a file on a full disk say, takes no more."""
    from teahouse.core.errors import Invalid

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left at the end
    return Invalid("output_unwritable", detail=error.strerror or error)


def when(instant: str) -> str:
    """An instant as the API tells it, by this computer's clock and to the minute."""
    return f"{datetime.fromisoformat(instant).astimezone():%Y-%m-%d %H:%M}"


def _plain(cell: object) -> Any:
    from rich.text import Text

    return Text(str(cell))


def read_standard_input() -> str:
    """All of it, when it is no keyboard; raises `Invalid` when it is not UTF-8, and `TooLarge`."""
    from teahouse.core.errors import Invalid, TooLarge

    if sys.stdin is None or sys.stdin.isatty():
        return ""
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        raise TooLarge("input_too_large", limit=MOST_INPUT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid("input_not_utf8", detail=error) from error
