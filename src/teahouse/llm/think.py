"""Thoughts that stand in the text: `<think>…</think>` at the start of a reply, cut anywhere."""

from __future__ import annotations

from typing import Literal

Kind = Literal["text", "thinking"]
_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits pieces of text into thoughts and text. Only a tag at the very start counts: later
    ones are something the model writes about."""

    def __init__(self, *, inside: bool = False) -> None:
        self._state: Literal["start", "inside", "after"] = "inside" if inside else "start"
        self._held = ""  # what may turn out to be a tag

    def feed(self, piece: str) -> list[tuple[Kind, str]]:
        found: list[tuple[Kind, str]] = []
        text = self._held + piece
        self._held = ""
        if self._state == "start":
            text = self._begin(text)
        if self._state == "inside" and text:
            text = self._inside(text, found)
        if self._state == "after" and text:
            found.append(("text", text))
        return found

    def end(self) -> list[tuple[Kind, str]]:
        """What was held back at the end of the stream."""
        kind: Kind = "thinking" if self._state == "inside" else "text"
        held, self._held = self._held, ""
        return [(kind, held)] if held else []

    def _begin(self, text: str) -> str:
        bare = text.lstrip()
        if bare.startswith(_OPEN):
            self._state = "inside"
            return bare.removeprefix(_OPEN)
        if _OPEN.startswith(bare):
            self._held = text
            return ""
        self._state = "after"
        return text

    def _inside(self, text: str, found: list[tuple[Kind, str]]) -> str:
        thought, tag, rest = text.partition(_CLOSE)
        if tag:
            self._state = "after"
        else:
            keep = next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
            thought, self._held = text[: len(text) - keep], text[len(text) - keep :]
        if thought:
            found.append(("thinking", thought))
        return rest
