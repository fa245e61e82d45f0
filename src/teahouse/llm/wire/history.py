"""Writes a conversation in a dialect. It is whole already: `llm.repair` has seen to that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from teahouse.core.messages import Blob, JsonObject, Message, Part, Text, ToolCall, ToolResult
from teahouse.llm.errors import NoAddresses
from teahouse.llm.media import Files, is_address, result_files
from teahouse.llm.profiles import Profile


class History(ABC):
    """`origin` is the endpoint and model asked: what a vendor wants back untouched (signatures,
    thoughts) goes only to where it came from."""

    def __init__(self, profile: Profile, origin: str, files: Files) -> None:
        self.written: list[JsonObject] = []
        self._profile, self._origin, self._files = profile, origin, files
        self._calls: dict[str, ToolCall] = {}  # of the latest reply, whose results come next
        self._aside: list[Part] = []  # of these results, shown by the user behind them all

    async def write(self, messages: Iterable[Message]) -> None:
        for message in messages:
            await self._add(message)
        await self._show_aside()

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

    async def _bytes(self, blob: Blob) -> str:
        """In base64, where the dialect has no way to say where a file lies."""
        if is_address(blob):
            raise NoAddresses(self._origin.partition("/")[0], blob.name)
        return await self._files.base64(blob)

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

    def _lay_aside(self, call: ToolCall, blobs: Sequence[Blob]) -> None:
        """Files that the result of `call` cannot hold."""
        if blobs:
            self._aside += [Text(text=result_files(call.name, call.id)), *blobs]

    async def _show_aside(self, said: Sequence[Part] = ()) -> None:
        """With what the user `said` next, as many want the roles in turn."""
        shown, self._aside = (*self._aside, *said), []
        if shown:
            await self._user(shown)

    def _own(self, opaque: JsonObject | None) -> JsonObject:
        """What this very endpoint and model gave with a part."""
        if opaque is None or opaque.get("origin") != self._origin:
            return {}
        given: JsonObject = opaque.get("given", {})
        return given

    async def _add(self, message: Message) -> None:
        match message.role:
            case "system":
                self._system(message.parts)
            case "user":
                await self._show_aside(message.parts)
            case "assistant":
                spoken = self._spoken(message.parts)
                if spoken:
                    await self._show_aside()
                    self._say(spoken)
                    self._calls = {call.id: call for call in message.tool_calls}
            case "tool":
                for part in message.parts:
                    if isinstance(part, ToolResult) and part.call in self._calls:
                        await self._result(self._calls[part.call], part)
