"""What monitors are told of a call: its labels in the words of OpenTelemetry's GenAI conventions.

Metrics and traces share them. Every value comes out of a bounded set: a client may ask for models
that do not exist, without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teahouse.llm.usage import CallRecord, Purpose

TOKENS: Final = tuple(4.0**power for power in range(14))
SECONDS: Final = tuple(round(0.01 * 2**power, 2) for power in range(14))
FIRST_SECONDS: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25),
    *(0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0),
)
OTHER: Final = "other"
MOST_MODELS: Final = 200

_OPERATIONS: Mapping[Purpose, str] = {
    "embedding": "embeddings",
    "speech": "generate_content",
    "transcription": "generate_content",
    "image": "generate_content",
}


def operation(record: CallRecord) -> str:
    return _OPERATIONS.get(record.caller.purpose, "chat")


class KnownModels:
    """Only models that have answered have a name of their own, and not more than so many."""

    def __init__(self, most: int = MOST_MODELS) -> None:
        self._known: set[str] = set()
        self._most = most

    def named(self, record: CallRecord) -> str:
        """The model's own name, without the provider's."""
        if record.model not in self._known:
            if record.outcome != "answered" or len(self._known) >= self._most:
                return OTHER
            self._known.add(record.model)
        return record.model.partition("/")[2]
