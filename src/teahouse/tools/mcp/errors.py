"""How a server of others can fail us, in words for the model and with a code for the house."""

from __future__ import annotations

from teahouse.core.errors import TeahouseError, ToolFailed, told


class McpFailed(ToolFailed):
    def __init__(self, code: str, /, **values: object) -> None:
        TeahouseError.__init__(self, code, **values)
        problem = self.problem()
        self.text = told(problem.message, problem.hint)


class ServerSaid(ToolFailed):
    """The tool itself says that it failed; its words go to the model as they are."""
