"""All routes, a file for each part of the house."""

from __future__ import annotations

from teahouse.server.routes import (
    agents,
    approvals,
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

MANAGING = (  # what a gateway alone has too
    *entry.HANDLERS,
    *people.HANDLERS,
    *settings.HANDLERS,
    *usage.HANDLERS,
    *docs.HANDLERS,
)
HANDLERS = (
    *MANAGING,
    *agents.HANDLERS,
    *approvals.HANDLERS,
    *conversations.HANDLERS,
    *runs.HANDLERS,
    *files.HANDLERS,
    *page.HANDLERS,
)
