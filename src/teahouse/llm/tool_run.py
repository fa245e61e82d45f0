"""One tool call with everything that can go wrong in it: the model always gets a result to read.

Texts here are for models, and in English for that reason.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from traceback import format_tb

from msgspec.structs import replace

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import Text, ToolCall, ToolResult
from teahouse.llm.tool import Tool, ToolContext
from teahouse.llm.wall import Wall

log = logging.getLogger(__name__)

INTERRUPTED = (
    "This call was interrupted and its outcome is unknown. Check before you make it again."
)
NOT_RUN = "This call was not run: the run has reached its limit."
OUT_OF_TIME = "This call was stopped: the run has used up its time."
BROKEN = "The tool failed because of an internal error. Do not call it again in the same way."
_QUOTED = 500  # characters of malformed arguments that the model gets to see again


async def run_tool(
    tool: Tool | None,
    call: ToolCall,
    context: ToolContext,
    *,
    known: Iterable[str] = (),
    wall: Wall,
) -> ToolResult:
    """Run `call` as long as `wall` allows. Only cancellation gets out of here."""
    if tool is None:
        names = ", ".join(sorted(known)) or "none"
        return failed(call, f"There is no tool named {call.name!r}. Available tools: {names}.")
    if call.malformed is not None:
        raw = call.malformed[:_QUOTED]
        return failed(call, f"The arguments were not a JSON object, so nothing was run: {raw}")
    within = replace(context, call=call.id, waiting=wall.stopped)
    try:
        async with wall.limit():
            content = await tool(call.arguments, within)
    except ToolFailed as error:
        return failed(call, error.text)
    except Exception as error:  # foreign code ends here
        if isinstance(error, TimeoutError) and wall.late:
            return failed(call, OUT_OF_TIME)
        names, at = sorted(call.arguments), _where(error)
        log.error("Tool %s failed with arguments %s: %s", call.name, names, at)
        return failed(call, BROKEN)
    return ToolResult(call=call.id, content=content)


def _where(error: BaseException) -> str:
    """Kinds and places alone: what a tool's errors say may be what it was given."""
    told: list[str] = []
    found: BaseException | None = error
    while found is not None:
        told.append(f"{type(found).__qualname__}\n{''.join(format_tb(found.__traceback__))}")
        found = found.__cause__ or found.__context__
    return "after ".join(told).rstrip()


def failed(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call=call.id, content=(Text(text=text),), is_error=True)
