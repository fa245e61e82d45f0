"""The tool `exec`: a shell command in the agent's workspace, behind the sandbox's wall.

Whether it may run at all is asked elsewhere; this is how it runs. Texts are for models.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct, structs

from teahouse.agent.permission import Judged
from teahouse.core.errors import ToolFailed
from teahouse.core.events import Effect
from teahouse.core.messages import JsonObject, Text
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.command_call import judged
from teahouse.tools.sandbox import view
from teahouse.tools.sandbox.command import Command, Hear, Limits, SandboxUnavailable, Stream
from teahouse.tools.sandbox.runner import Sandbox
from teahouse.tools.told import told

_Given = TypeVar("_Given", bound=Struct)

LONGEST_S = 600
LONGEST_COMMAND = 60_000  # characters; the kernel takes no more in one word

Workspace: TypeAlias = Callable[[ToolContext], Path]
"""The folder of whoever calls. Raises `ToolFailed` when there is none."""

Live: TypeAlias = Callable[[ToolContext, Stream, str], None]
"""Called with what a command prints, as it comes; it must not block."""


class Seat(Struct, frozen=True, kw_only=True):
    """What tools that run commands share. `egress` is the socket of the way out, if any."""

    sandbox: Sandbox
    workspace: Workspace
    limits: Limits = Limits()
    live: Live | None = None
    egress: Path | None = None

    async def run(
        self,
        context: ToolContext,
        argv: tuple[str, ...],
        timeout_s: float | None,
        stdin: str | None = None,
    ) -> Content:
        limits = self.limits
        if timeout_s is not None:
            limits = structs.replace(limits, wall_s=timeout_s)
        command = Command(
            argv=argv,
            workspace=self.workspace(context),
            stdin=None if stdin is None else stdin.encode("utf-8", "surrogatepass"),
            egress=self.egress,
            limits=limits,
        )
        try:
            outcome = await self.sandbox.run(command, self._hear(context))
            return (Text(text=await told(self.sandbox, command, outcome)),)
        except SandboxUnavailable as error:
            raise ToolFailed(str(error)) from error

    def _hear(self, context: ToolContext) -> Hear | None:
        live = self.live
        if live is None:
            return None
        make = codecs.getincrementaldecoder("utf-8")
        decoders = {"stdout": make("replace"), "stderr": make("replace")}

        def hear(stream: Stream, data: bytes) -> None:
            text = decoders[stream].decode(data)
            if text:
                live(context, stream, text)

        return hear


class _Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, max_length=LONGEST_COMMAND)]
    timeout_s: Annotated[float, Meta(gt=0, le=LONGEST_S)] | None = None


class Exec:
    repeatable = False
    effect: Effect = "write"
    spec = ToolSpec(
        name="exec",
        description=(
            "Run a shell command in your workspace and return what it prints. It sees the system's"
            " programs and the workspace, no network and no other files; it gets no input."
        ),
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "for example: ls -l | head"},
                "timeout_s": {
                    "type": "number",
                    "description": f"stop it after so many seconds, at most {LONGEST_S}",
                },
            },
            "required": ["command"],
        },
    )

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def judge(self, arguments: JsonObject, /) -> Judged:
        """Asked before a call, see `agent.permission`."""
        return judged(str(arguments.get("command", "")))

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        given = taken(arguments, _Arguments)
        if "\0" in given.command:
            raise ToolFailed("A command cannot hold a NUL character.")
        argv = (view.shell(), "-c", given.command)
        return await self._seat.run(context, argv, given.timeout_s)


def taken(arguments: JsonObject, kind: type[_Given]) -> _Given:
    try:
        return msgspec.convert(arguments, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ToolFailed(str(error)) from error
