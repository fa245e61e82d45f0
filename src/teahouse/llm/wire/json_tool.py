"""The tool whose arguments are the reply: how JSON is had where a schema cannot be given."""

from __future__ import annotations

from typing import Final

from teahouse.core.messages import JsonObject
from teahouse.llm.provider import ToolSpec

ANSWER: Final = "final_answer"


def answer_tool(schema: JsonObject) -> ToolSpec:
    return ToolSpec(name=ANSWER, description="Give the reply.", parameters=schema)
