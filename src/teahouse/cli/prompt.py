"""Where a person types: one line or a pasted text, with history and completion."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from teahouse.cli.terminal import Terminal
from teahouse.core.errors import Invalid

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings

PROMPT = "› "


class Prompt:
    """The history is a file for its owner alone. Ctrl-D leaves, and so does Ctrl-C twice."""

    def __init__(self, terminal: Terminal, history: Path, commands: Sequence[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory

        history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        history.touch(mode=0o600)
        self._terminal = terminal
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(history),
            completer=WordCompleter([f"/{name}" for name in commands], sentence=True),
            complete_while_typing=False,
            key_bindings=_keys(),
            prompt_continuation="  ",
        )

    async def read(self) -> str | None:
        """What the person typed; None when they leave."""
        warned = False
        while True:
            try:
                return await self._session.prompt_async(PROMPT)
            except EOFError:
                return None
            except KeyboardInterrupt:
                typed = self._session.default_buffer.text
                if warned and not typed:
                    return None
                warned = not typed
                self._terminal.say(self._terminal.t("cli.chat.leave"))


def _keys() -> KeyBindings:
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        event.current_buffer.insert_text("\n")

    return keys


def read_lines(stream: IO[bytes]) -> Callable[[], Awaitable[str | None]]:
    """Without a person each line is a message."""

    async def read() -> str | None:
        line = await asyncio.to_thread(stream.readline)
        try:
            return line.decode("utf-8").rstrip("\r\n") if line else None
        except UnicodeDecodeError as error:
            raise Invalid("input_not_utf8", detail=error) from error

    return read
