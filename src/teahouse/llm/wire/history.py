"""Writes a conversation in a dialect: what all of them demand of calls and their results.

Each call gets its result directly after its message; one without a result gets a line that says
so, a result without a call is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from teahouse.core.messages import Blob, JsonObject, Message, Part, Text, ToolCall, ToolResult
from teahouse.llm.media import BlobReader
from teahouse.llm.profiles import Profile

_NO_RESULT = "This call was interrupted; there is no result."


class History(ABC):
    """`origin` is the endpoint and model asked: what a vendor wants back untouched (signatures,
    thoughts) goes only to where it came from."""

    def __init__(self, profile: Profile, origin: str, files: BlobReader | None) -> None:
        self.written: list[JsonObject] = []
        self._profile, self._origin, self._files = profile, origin, files
        self._open_calls: dict[str, ToolCall] = {}

    async def write(self, messages: Iterable[Message]) -> None:
        for message in messages:
            await self._add(message)
        await self._close()

    @abstractmethod
    def _system(self, parts: Sequence[Part]) -> None: ...
    @abstractmethod
    async def _user(self, parts: Sequence[Part]) -> None: ...
    @abstractmethod
    def _spoken(self, parts: Sequence[Part]) -> list[JsonObject]:
        """What the model said in one reply; empty when there is nothing to tell of it."""

    @abstractmethod
    def _say(self, spoken: list[JsonObject]) -> None:
        """Write what `_spoken` gave."""

    @abstractmethod
    async def _result(self, call: ToolCall, result: ToolResult) -> None: ...

    @abstractmethod
    async def _blob(self, blob: Blob) -> JsonObject:
        """A picture or file, or what is said of it where it cannot be shown."""

    @abstractmethod
    def _text(self, text: str) -> JsonObject: ...

    async def _content(self, parts: Iterable[Part]) -> list[JsonObject]:
        content: list[JsonObject] = []
        for part in parts:
            if isinstance(part, Text):
                content.append(self._text(part.text))
            elif isinstance(part, Blob):
                content.append(await self._blob(part))
        return content

    def _own(self, opaque: JsonObject | None) -> JsonObject:
        """What this very endpoint and model gave with a part."""
        if opaque is None or opaque.get("origin") != self._origin:
            return {}
        given: JsonObject = opaque.get("given", {})
        return given

    async def _add(self, message: Message) -> None:
        if message.role in {"assistant", "tool"}:
            said: list[Part] = []
            for part in message.parts:  # the parts of a whole run hold several replies in a row
                if isinstance(part, ToolResult):
                    await self._reply(said)
                    said = []
                    call = self._open_calls.pop(part.call, None)
                    if call is not None:
                        await self._result(call, part)
                else:
                    said.append(part)
            await self._reply(said)
            return
        await self._close()
        if message.role == "system":
            self._system(message.parts)
        else:
            await self._user(message.parts)

    async def _reply(self, parts: Sequence[Part]) -> None:
        spoken = self._spoken(parts)
        if not spoken:
            return
        await self._close()
        self._say(spoken)
        self._open_calls = {part.id: part for part in parts if isinstance(part, ToolCall)}

    async def _close(self) -> None:
        """Give the calls that are still open a result."""
        for call in self._open_calls.values():
            content = (Text(text=_NO_RESULT),)
            await self._result(call, ToolResult(call=call.id, content=content, is_error=True))
        self._open_calls = {}
