"""Options that several commands share. Their help is a key of the locale files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Home: TypeAlias = Annotated[
    Path | None, typer.Option("--home", help="cli.option.home", metavar="PATH")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="cli.option.json")]
Model: TypeAlias = Annotated[
    str | None, typer.Option("--model", help="cli.option.model", metavar="PROVIDER/MODEL")
]
AgentName: TypeAlias = Annotated[
    str | None, typer.Option("--agent", help="cli.option.agent", metavar="NAME")
]
Conversation: TypeAlias = Annotated[
    str | None, typer.Option("--conversation", help="cli.option.conversation", metavar="ID")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="cli.option.yes")]
ListenHost: TypeAlias = Annotated[
    str | None, typer.Option("--host", help="cli.option.host", metavar="ADDRESS")
]
ListenPort: TypeAlias = Annotated[
    int | None,
    typer.Option("--port", help="cli.option.port", metavar="NUMBER", min=0, max=65535),
]
