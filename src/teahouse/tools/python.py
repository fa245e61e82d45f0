"""The tool `python`: a snippet in a fresh interpreter, behind the sandbox's wall; never in ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from teahouse.core.messages import JsonObject
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.sandbox import view
from teahouse.tools.shell import LONGEST_S, Seat, taken

LONGEST_CODE = 1_000_000  # characters
_SNIPPET = Path(__file__).with_name("snippet.py")


class _Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    code: Annotated[str, Meta(min_length=1, max_length=LONGEST_CODE)]
    timeout_s: Annotated[float, Meta(gt=0, le=LONGEST_S)] | None = None


class Python:
    repeatable = False
    spec = ToolSpec(
        name="python",
        description=(
            "Run Python code in a fresh interpreter in your workspace. Returns what it prints, and"
            " the value of the last expression. No network; nothing is kept but files."
        ),
        parameters={
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "for example: sum(range(10))"},
                "timeout_s": {
                    "type": "number",
                    "description": f"stop it after so many seconds, at most {LONGEST_S}",
                },
            },
            "required": ["code"],
        },
    )

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._runner = _SNIPPET.read_text(encoding="utf-8")

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        given = taken(arguments, _Arguments)
        argv = (view.interpreter().program, "-u", "-c", self._runner)
        return await self._seat.run(context, argv, given.timeout_s, given.code)
