"""One answer as it comes: shown piece by piece, stopped with Ctrl-C, and kept as a whole."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

from msgspec import Struct

from teahouse.cli.client import Client, Refused, ServerGone
from teahouse.cli.question import Ask, Questions
from teahouse.core.errors import Problem
from teahouse.core.events import (
    Approval,
    Event,
    PartDelta,
    PartDone,
    PostAdded,
    ReplyDone,
    RunFailed,
    StreamEnd,
    StreamStart,
    ToolFinished,
    ToolStarted,
    Unknown,
    Usage,
    fold,
)
from teahouse.core.messages import Ending, Post, Text, text_of
from teahouse.core.tasks import Supervisor
from teahouse.core.visible import visible

SHOWN_OF_TOOL = 120


class Answer(Struct, kw_only=True):
    """What a run came to."""

    run: str
    conversation: str
    text: str = ""
    ending: Ending = "stop"
    usage: Usage = Usage()
    problem: Problem | None = None

    def told(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "usage": self.usage,
            "run": self.run,
            "conversation": self.conversation,
            "ending": self.ending,
        }


class Show:
    """Writes an answer's text as it comes; `note` is told of everything that is not text."""

    def __init__(self, write: Callable[[str], None], note: Callable[[str, str], None]) -> None:
        self._write, self._note = write, note
        self._parts: dict[int, str] = {}  # what is on the screen of each part of this reply
        self._wrote = ""  # the end of what was written

    def take(self, event: Event | Unknown) -> None:
        match event:
            case StreamStart(attempt=attempt) if attempt > 1 and self._wrote:
                self._start_line()
                self._note("again", "")
                self._parts = {}
            case PartDelta(kind="text"):
                self._text(event.index, event.delta)
            case PartDelta(kind="thinking"):
                if event.index not in self._parts:
                    self._parts[event.index] = ""
                    self._note("thinking", "")
            case PartDone(part=Text(text=text)):
                shown = self._parts.get(event.index, "")
                if text.startswith(shown):
                    self._text(event.index, text[len(shown) :])
            case ReplyDone():
                self._parts = {}
            case ToolStarted():
                self._start_line()
                arguments = json.dumps(event.arguments, ensure_ascii=False)
                self._note("tool", _short(f"{event.name} {arguments}"))
            case ToolFinished():
                self._start_line()
                key = "tool_failed" if event.result.is_error else "tool_done"
                self._note(key, _short(text_of(event.result.content)))
            case _:
                pass

    def end(self) -> None:
        """Leave the cursor at the start of a line."""
        self._start_line()

    def _text(self, index: int, text: str) -> None:
        if text:
            self._parts[index] = self._parts.get(index, "") + text
            self._write(text)
            self._wrote = text[-1]

    def _start_line(self) -> None:
        if self._wrote and self._wrote != "\n":
            self._write("\n")
            self._wrote = "\n"


async def listen(client: Client, run: str, conversation: str, show: Show, ask: Ask) -> Answer:
    """Show a run until its end. The first Ctrl-C stops the run and its part is kept; a second one
    leaves at once (`CancelledError`)."""
    async with _stoppable(client, run):
        return await hear(client, run, conversation, show, ask)


async def hear(
    client: Client, run: str, conversation: str, show: Show, ask: Ask | None = None
) -> Answer:
    """Show a run until its end. What it asks is put to `ask`, or left for the page."""
    answer = Answer(run=run, conversation=conversation)
    story: list[Event | Unknown] = []
    post: Post | None = None
    async with Supervisor() as tasks, aclosing(client.follow(run)) as events:
        questions = None if ask is None else Questions(client, ask, tasks)
        async for event in events:
            show.take(event)
            match event:
                case Approval() if questions is not None:
                    show.end()
                    questions.take(event)
                case StreamStart():
                    story, answer.problem = [], None
                case PostAdded() if event.post.run == run:
                    post = event.post
                case RunFailed():
                    answer.problem = event.problem
                case StreamEnd():
                    answer.ending, answer.usage = event.reason, event.usage
                case _:
                    pass
            story.append(event)
    show.end()
    answer.text = post.text if post else fold(story).text
    if answer.problem is None and post is not None:
        answer.problem = post.problem
    return answer


@asynccontextmanager
async def _stoppable(client: Client, run: str) -> AsyncGenerator[None]:
    loop, reader = asyncio.get_running_loop(), asyncio.current_task()
    presses = 0

    async def stop() -> None:
        with suppress(Refused, ServerGone):  # it has ended, or the reader finds out by itself
            await client.post(f"/api/runs/{run}/stop")

    async with Supervisor() as tasks:

        def pressed() -> None:
            nonlocal presses
            presses += 1
            if presses == 1:
                tasks.start("stop", stop())
            elif reader is not None:
                reader.cancel()

        before = signal.getsignal(signal.SIGINT)
        loop.add_signal_handler(signal.SIGINT, pressed)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= SHOWN_OF_TOOL else f"{line[: SHOWN_OF_TOOL - 1]}…"
