"""Keeps responses for a while: clients of OpenAI point to what was said before, instead of sending
it again.

They lie in memory, each on the shelf of the one who asked, and nobody reaches another's. Together
they take no more than so many bytes; what was not used for longest goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from teahouse.core.clock import Clock
from teahouse.core.codec import encode
from teahouse.core.messages import JsonObject

MOST_BYTES: Final = 64 << 20
AGE_S: Final = 3600.0

_Place: TypeAlias = tuple[str, str]  # owner, response
_items = msgspec.json.Decoder(list[dict[str, Any]])


class _Told(Struct, frozen=True):
    output: list[dict[str, Any]]


_told = msgspec.json.Decoder(_Told)


class _Kept(Struct):
    """`given` are the items that were new in its request, `told` is the response, both as JSON."""

    given: bytes
    told: bytes
    previous: str | None
    used: float = 0.0


class KeptResponses:
    def __init__(self, clock: Clock, *, most: int = MOST_BYTES, age_s: float = AGE_S) -> None:
        self._clock, self._most, self._age_s = clock, most, age_s
        self._kept: OrderedDict[_Place, _Kept] = OrderedDict()  # the last used at the end
        self._bytes = 0

    def shelf(self, owner: str) -> Shelf:
        return Shelf(self, owner)

    def put(self, place: _Place, kept: _Kept) -> None:
        if _size(kept) > self._most:
            return
        self.remove(place)
        kept.used = self._clock.monotonic()
        self._kept[place] = kept
        self._bytes += _size(kept)
        self._tidy()

    def get(self, place: _Place) -> _Kept | None:
        self._tidy()
        kept = self._kept.get(place)
        if kept is not None:
            kept.used = self._clock.monotonic()
            self._kept.move_to_end(place)
        return kept

    def remove(self, place: _Place) -> bool:
        kept = self._kept.pop(place, None)
        if kept is not None:
            self._bytes -= _size(kept)
        return kept is not None

    def _tidy(self) -> None:
        since = self._clock.monotonic() - self._age_s
        while self._kept:
            place, oldest = next(iter(self._kept.items()))
            if oldest.used >= since and self._bytes <= self._most:
                return
            self.remove(place)


class Shelf:
    """What one owner has there."""

    def __init__(self, kept: KeptResponses, owner: str) -> None:
        self._kept, self._owner = kept, owner

    def keep(
        self, name: str, told: bytes, given: Sequence[JsonObject], previous: str | None
    ) -> None:
        self._kept.put((self._owner, name), _Kept(encode(given), told, previous))

    def response(self, name: str) -> bytes | None:
        kept = self._kept.get((self._owner, name))
        return kept and kept.told

    def until(self, name: str) -> Sequence[JsonObject] | None:
        """All items of the conversation that ends with this response; None where one is gone."""
        turns: list[list[JsonObject]] = []
        previous: str | None = name
        while previous is not None:
            kept = self._kept.get((self._owner, previous))
            if kept is None:
                return None
            turns.append([*_items.decode(kept.given), *_told.decode(kept.told).output])
            previous = kept.previous
        return [item for turn in reversed(turns) for item in turn]

    def item(self, name: str) -> JsonObject | None:
        """An item that was told: its name holds that of its response."""
        told = self.response("resp_" + name.partition("_")[2].rpartition("_")[0])
        output = _told.decode(told).output if told else []
        return next((item for item in output if item.get("id") == name), None)

    def forget(self, name: str) -> bool:
        return self._kept.remove((self._owner, name))


def _size(kept: _Kept) -> int:
    return len(kept.given) + len(kept.told)
