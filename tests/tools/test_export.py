from __future__ import annotations

from teahouse.core.clock import SystemClock
from teahouse.tools.export import openai_functions
from teahouse.tools.now import Now


def test_a_tool_is_told_as_a_function_of_openai() -> None:
    spec = Now(SystemClock()).spec

    assert openai_functions([spec]) == [
        {
            "type": "function",
            "function": {
                "name": "now",
                "description": spec.description,
                "parameters": spec.parameters,
            },
        }
    ]
