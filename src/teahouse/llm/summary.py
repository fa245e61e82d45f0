"""Fits a conversation into a model's window by folding its oldest turns into a summary.

A summary is written once for a beginning and used again as long as what came after it fits; then
it is itself folded together with what it does not cover. So a long conversation pays for one
summary in many turns, not for one in each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core import i18n
from teahouse.core.codec import encode
from teahouse.core.messages import Blob, Message, Part, Text, ToolCall, ToolResult
from teahouse.llm.context import divided, fit, latest, shorten
from teahouse.llm.media import mention
from teahouse.llm.tokens import estimate_messages

LONGEST = 1000  # tokens of a summary, or a quarter of a small window
LEAST_ROOM = 200  # tokens: in less a summary is not worth its place
_LONGEST_MESSAGE = 1500  # tokens of one message that is to be summarised

Write: TypeAlias = Callable[[str, int], Awaitable[str]]
"""Asks a model: the question, and how many tokens its answer may have. Raises `ProviderError`."""


class _Written(Struct, frozen=True):
    text: str
    count: int  # of the messages it stands for


class Summaries:
    """Keeps the latest `most` of them, in memory, by what they stand for."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._kept: dict[bytes, _Written] = {}

    async def fit(
        self,
        messages: Sequence[Message],
        tokens: int,
        write: Write,
        language: i18n.Language,
        *,
        readable: int | None = None,
    ) -> tuple[Message, ...]:
        """Return what of `messages` takes about `tokens` at most, as `context.fit` does, with a
        note before the rest that says how many are summarised and how. Raises what `write` does.

        `readable`: tokens that who writes can take, if that is less.
        """
        system, turns = divided(messages)
        room = tokens - estimate_messages(system)
        if estimate_messages(messages) <= tokens or len(turns) < 2 or room < LEAST_ROOM:
            return fit(messages, tokens)
        marks = _marks(turns)
        known = next((n for n in range(len(turns) - 1, 0, -1) if marks[n] in self._kept), 0)
        written = self._found(marks[known])
        whole = _whole(system, turns[known:], written, language)
        if written is not None and estimate_messages(whole) <= tokens:
            return whole
        # the rest takes half of the room, so that the next turns find place without a new summary
        start = len(turns) - latest(turns[known:], room // 2)
        if start > known:
            longest = min(LONGEST, room // 4)
            folded = [message for turn in turns[known:start] for message in turn]
            most = min(tokens, readable or tokens) - longest
            question = _question(written, folded, most, longest, language)
            text = shorten((await write(question, 2 * longest)).strip(), longest)
            if not text:
                return fit(messages, tokens)
            count = len(folded) + (written.count if written else 0)
            written = self._keep(marks[start], _Written(text, count))
        return fit(_whole(system, turns[start:], written, language), tokens)

    def _found(self, mark: bytes) -> _Written | None:
        found = self._kept.pop(mark, None)
        return found and self._keep(mark, found)

    def _keep(self, mark: bytes, written: _Written) -> _Written:
        if len(self._kept) >= self._most:
            del self._kept[next(iter(self._kept))]  # the one that was used least lately
        self._kept[mark] = written
        return written


def _marks(turns: Sequence[Sequence[Message]]) -> list[bytes]:
    """What names the first 0, 1, 2 … turns."""
    digest = hashlib.sha256()
    marks = [digest.digest()]
    for turn in turns:
        digest.update(encode(turn))
        marks.append(digest.digest())
    return marks


def _whole(
    system: Sequence[Message],
    turns: Sequence[Sequence[Message]],
    written: _Written | None,
    language: i18n.Language,
) -> tuple[Message, ...]:
    """The note stands in the first user message that is left: roles go on taking turns, and what
    people wrote gains no weight by being summarised."""
    rest = [message for turn in turns for message in turn]
    if written is None:
        return (*system, *rest)
    words = i18n.text(
        language, "prompts.summary_note", count=str(written.count), summary=written.text
    )
    note = Text(text=f"{words}\n\n")
    first = rest[0]
    if first.role != "user":
        return (*system, Message(role="user", parts=(note,)), *rest)
    return (*system, replace(first, parts=(note, *first.parts)), *rest[1:])


def _question(
    before: _Written | None,
    messages: Sequence[Message],
    tokens: int,
    longest: int,
    language: i18n.Language,
) -> str:
    told = [f"<summary>\n{before.text}\n</summary>"] if before else []
    told += [f"{m.role}: {shorten(_told(m.parts), _LONGEST_MESSAGE)}" for m in messages]
    request = i18n.text(language, "prompts.summary_request", limit=str(longest // 2))
    material = shorten("\n\n".join(told), tokens - LEAST_ROOM)
    return f"<conversation>\n{material}\n</conversation>\n\n{request}"


def _told(parts: Sequence[Part]) -> str:
    """What of a message a summary can be made of; thoughts are not."""
    lines: list[str] = []
    for part in parts:
        match part:
            case Text():
                lines.append(part.text)
            case Blob():
                lines.append(mention(part))
            case ToolCall():
                lines.append(f"[{part.name} {part.malformed or encode(part.arguments).decode()}]")
            case ToolResult():
                lines.append(f"[→ {_told(part.content)}]")
            case _:
                pass
    return "\n".join(lines)
