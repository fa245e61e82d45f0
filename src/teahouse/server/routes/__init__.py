"""All routes, a file for each part of the house."""

from __future__ import annotations

from teahouse.server.routes import (
    agents,
    conversations,
    docs,
    entry,
    files,
    page,
    people,
    runs,
    settings,
    usage,
)

HANDLERS = (
    *entry.HANDLERS,
    *people.HANDLERS,
    *agents.HANDLERS,
    *conversations.HANDLERS,
    *runs.HANDLERS,
    *files.HANDLERS,
    *settings.HANDLERS,
    *usage.HANDLERS,
    *docs.HANDLERS,
    *page.HANDLERS,
)
