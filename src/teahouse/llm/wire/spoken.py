"""Replies whose text and thoughts each flow in one stream, and whose calls may come whole."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from teahouse.core.messages import JsonObject
from teahouse.llm.profiles import Profile
from teahouse.llm.think import Kind, ThinkTags
from teahouse.llm.tool_calls import arguments_text
from teahouse.llm.wire.reply import Reply

Channel: TypeAlias = Literal["text", "thinking", "refusal"]
_CHANNELS: Final[tuple[Channel, ...]] = get_args(Channel)


class SpokenReply(Reply):
    """The thoughts may stand inside of the text, as the profile says."""

    def __init__(self, provider: str, model: str, profile: Profile, *, input_estimate: int) -> None:
        super().__init__(provider, model, input_estimate=input_estimate)
        self._think = ThinkTags(inside=profile.think_open) if profile.think_tags else None
        self._field: str | None = None  # the name under which thoughts came
        self.parts.bears = lambda: self._own(self._given())

    def keep(self) -> None:
        for channel in _CHANNELS:
            self._say(channel, "", last=True)
        if self._think is not None:
            for kind, text in self._think.end():
                self.parts.say(kind, text)
        self.parts.close()
        opaque = self._own(self._given())
        if opaque is not None:
            self.parts.mark_thoughts(opaque)

    def _given(self) -> JsonObject:
        """What the vendor wants back with the thoughts."""
        return {"field": self._field} if self._field else {}

    def _say(self, channel: Channel, text: str, *, last: bool = False) -> str:
        """Say it, and return it as it was said: half a character waits for its other half."""
        text = self._whole(channel, text, last=last)
        if self._think is not None and channel == "text":
            for kind, piece in self._think.feed(text):
                self.parts.say(kind, piece)
        else:
            shown: Kind = "thinking" if channel == "thinking" else "text"
            self.parts.say(shown, text)
        return text

    def _call_whole(
        self, identity: object, name: object, arguments: object, given: JsonObject
    ) -> None:
        """Add a call that comes in one piece. The same one again is none, and an id that another
        call has is no id."""
        text = arguments_text(arguments) or "{}"
        own = identity if isinstance(identity, str) and identity else None
        known = next((block for block in self._call_blocks if block.id == own), None)
        if own is not None and known is not None:
            if (known.name, known.text) == (name, text):
                return
            own = None
        block = self._open_call(own, str(name or ""), given)
        self._add(block, text, last=True)
