"""Titles of conversations: the first words at once, a model's own after two turns."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from teahouse.chat.perspective import project
from teahouse.chat.ports import ConversationChanges, Log, Run
from teahouse.core.bus import Bus
from teahouse.core.errors import NotFound, ProviderError
from teahouse.core.events import ConversationChanged
from teahouse.core.messages import ConversationId, Message, PersonId, Post
from teahouse.core.tasks import Supervisor

log = logging.getLogger(__name__)

TURNS = 2
FIRST_WORDS = 40  # characters

Suggest: TypeAlias = Callable[[Run, tuple[Message, ...]], Awaitable[str]]
"""Finds a title for what was said up to a run."""


def first_words(text: str) -> str:
    """What a conversation is called until it has a title of its own."""
    line = " ".join(text.split())
    return line if len(line) <= FIRST_WORDS else line[: FIRST_WORDS - 1].rstrip() + "…"


class Titles:
    def __init__(self, posts: Log, bus: Bus, suggest: Suggest, tasks: Supervisor) -> None:
        self._log, self._bus, self._suggest, self._tasks = posts, bus, suggest, tasks
        self._naming: set[str] = set()

    def after_run(self, run: Run, post: Post) -> None:
        """Give the conversation a title in the background, when it is time for one."""
        if post.ending == "stop" and run.conversation not in self._naming:
            self._naming.add(run.conversation)
            self._tasks.start(f"title {run.conversation}", self._name(run))

    async def name(self, person: PersonId, conversation: ConversationId, title: str) -> str:
        """Take a model's title, unless a person has chosen one; return the one that counts."""
        changes = ConversationChanges(title=title, title_by="model")
        changed = await self._log.change(person, conversation, changes)
        if changed.title_by == "model":
            self._bus.publish(conversation, None, [ConversationChanged(title=title)])
        return changed.title

    async def _name(self, run: Run) -> None:
        try:
            found = await self._log.conversation(run.person, run.conversation)
            if found.title_by != "none" or found.posts < 2 * TURNS:
                return
            page = await self._log.posts(run.person, run.conversation, limit=2 * TURNS)
            title = await self._suggest(run, project(page.items, run.participant))
            found = await self._log.conversation(run.person, run.conversation)
            if title and found.title_by == "none":  # nobody named it meanwhile
                await self.name(run.person, run.conversation, title)
        except (ProviderError, NotFound) as error:
            log.info("No title for %s (%s)", run.conversation, error.code)
        finally:
            self._naming.discard(run.conversation)
