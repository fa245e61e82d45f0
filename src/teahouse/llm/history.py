"""Where a conversation is kept between turns: in memory, or wherever somebody else keeps it.

For programs that use this layer alone; the product keeps its conversations in the store. A third
party's is found by the entry point `teahouse.history`: a function of its options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast

from teahouse.core.errors import SettingsError
from teahouse.core.messages import Message
from teahouse.llm.context import divided

GROUP: Final = "teahouse.history"
MEMORY: Final = "memory"


class History(Protocol):
    """Keeps what was said in each conversation, in order; `conversation` is any name.

    `load` of one that nobody has written to is empty. What one `append` brings stays together, and
    all of it is kept when it returns.
    """

    async def load(self, conversation: str, /) -> Sequence[Message]: ...
    async def append(self, conversation: str, messages: Sequence[Message], /) -> None: ...


class MemoryHistory:
    """Keeps the latest `messages` of the latest `conversations`, as long as the program runs.

    The oldest turns go first and go whole; the latest one stays, however long it is.
    """

    def __init__(self, *, messages: int = 1000, conversations: int = 1000) -> None:
        self._messages, self._conversations = messages, conversations
        self._kept: dict[str, tuple[Message, ...]] = {}

    async def load(self, conversation: str, /) -> Sequence[Message]:
        return self._kept.get(conversation, ())

    async def append(self, conversation: str, messages: Sequence[Message], /) -> None:
        kept = (*self._kept.pop(conversation, ()), *messages)
        if len(kept) > self._messages:
            system, turns = divided(kept)
            while len(turns) > 1 and len(system) + sum(map(len, turns)) > self._messages:
                del turns[0]
            kept = (*system, *(message for turn in turns for message in turn))
        if kept:
            self._kept[conversation] = kept
        while len(self._kept) > self._conversations:
            del self._kept[next(iter(self._kept))]


Opens: TypeAlias = Callable[[Mapping[str, Any]], History]


def find_history(name: str, options: Mapping[str, Any] | None = None) -> History:
    """The history of this name, with its options. Raises `SettingsError` if there is none."""
    options = options or {}
    if name == MEMORY:
        return MemoryHistory(**options)
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        return cast("Opens", point.load())(options)
    known = ", ".join(sorted({MEMORY, *(point.name for point in entry_points(group=GROUP))}))
    raise SettingsError("history_unknown", name=name, known=known)
