"""An error that two read: the model its words, the house its code and the values in it."""

from __future__ import annotations

from teahouse.core.errors import TeahouseError, ToolFailed, told


class Refused(ToolFailed):
    """The words stand under `CODE` in the locale files; the model gets them hint included."""

    def __init__(self, code: str, /, **values: object) -> None:
        TeahouseError.__init__(self, code, **values)
        problem = self.problem()
        self.text = told(problem.message, problem.hint)
