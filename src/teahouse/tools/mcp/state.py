"""How a server stands, for the page and the command line."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from teahouse.core.errors import Problem
from teahouse.tools.mcp.definition import Hints, Standing

Phase: TypeAlias = Literal["off", "starting", "login", "ready", "retrying", "failed"]


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`retrying` says since which `problem` and until when, `failed` waits for other settings.

    `login` waits for a person who opens `login_url`; nothing else of a server's may be opened.
    """

    phase: Phase
    problem: Problem | None = None
    retry_at: datetime | None = None
    failures: int = 0
    login_url: str | None = None


class ToolStatus(Struct, frozen=True, kw_only=True):
    """`name` is what models call; `digest` is what is accepted with `McpServers.accept`."""

    name: str
    tool: str
    description: str
    standing: Standing
    digest: str
    hints: Hints


class ServerStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`unfit` are tools that are not offered, with the reason: `name`, `size`, `depth`, `twice`."""

    server: str
    state: State
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    tools: tuple[ToolStatus, ...] = ()
    unfit: dict[str, str] = {}
    log: tuple[str, ...] = ()
