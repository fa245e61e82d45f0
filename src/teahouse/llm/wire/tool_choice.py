"""Which tools are offered and how the model may choose, in dialects that lack words for it."""

from __future__ import annotations

from collections.abc import Collection

from teahouse.llm.profiles import ChoiceWord
from teahouse.llm.provider import ModelRequest, OneTool, ToolChoice, ToolSpec


def offered(
    request: ModelRequest, words: Collection[ChoiceWord]
) -> tuple[tuple[ToolSpec, ...], ToolChoice | None]:
    """The tools and the choice to send where only `words` are known beside `auto`.

    Without `one` that tool alone is offered, and must be called where `required` is known; without
    `required` the model is free; without `none` no tool is offered, also after earlier calls:
    endpoints that lack the word take a history of calls without any.
    """
    tools, choice = request.tools, request.tool_choice
    if not tools:
        return (), None
    if isinstance(choice, OneTool) and "one" not in words:
        tools = tuple(tool for tool in tools if tool.name == choice.name) or tools
        choice = "required"
    if choice == "required" and "required" not in words:
        choice = None
    if choice == "none" and "none" not in words:
        return (), None
    return tools, choice
