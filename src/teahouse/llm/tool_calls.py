"""Puts streamed tool calls together, for vendors that number, name and identify them as they like.

The dialect says: the first fragment of a call bears its id and name, and `index` joins the rest to
it. In the wild the index is missing, null, always 0 or wrong; ids come late, every time or never,
or change with each fragment; names are repeated or cut; arguments come as objects. So identity
decides before position, and what is still open decides before both where neither is given.
"""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from teahouse.core import ids
from teahouse.core.messages import JsonObject, ToolCall
from teahouse.llm.surrogates import mend


class _Open(Struct):
    """A call whose fragments are still coming."""

    place: int
    id: str | None
    name: str
    pieces: list[str] = field(default_factory=list[str])
    extra: JsonObject = field(default_factory=dict[str, Any])

    @property
    def arguments(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def complete(self) -> bool:
        return bool(self.pieces) and isinstance(_parsed(self.arguments), dict)


class ToolCallAssembler:
    """Takes fragments as they stream; `finish` gives the calls in the order of their start."""

    def __init__(self) -> None:
        self._calls: list[_Open] = []
        self._by_index: dict[int, _Open] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, fragment: JsonObject) -> tuple[int, str]:
        """Take one item of `delta.tool_calls`; return its call's place and the new arguments."""
        function: JsonObject = fragment.get("function") or {}
        identity = str(fragment.get("id") or "") or None
        name = str(function.get("name") or "")
        piece = arguments_text(function.get("arguments"))
        index = fragment.get("index")
        call = self._find(index, identity, name, piece)
        if call is None:
            call = _Open(len(self._calls), identity, name)
            self._calls.append(call)
        elif name != call.name and not call.pieces:
            call.name += name
        if isinstance(index, int):
            self._by_index[index] = call
        call.id = call.id or identity
        call.extra |= {k: v for k, v in fragment.items() if k not in _KNOWN and v is not None}
        if piece:
            call.pieces.append(piece)
        return call.place, piece

    def _find(self, index: object, identity: str | None, name: str, piece: str) -> _Open | None:
        """The open call that a fragment belongs to, or None when it begins a new one."""
        if identity is not None:
            known = next((call for call in self._calls if call.id == identity), None)
            if known is not None:
                return known
        if not self._calls:
            return None
        numbered = isinstance(index, int)
        last = self._by_index.get(index) if isinstance(index, int) else self._calls[-1]
        if last is None:  # an index not seen yet: a new call, or the rest of one that lost its own
            return None if name or identity else self._calls[-1]
        begins = _begins(last, identity, name, piece, numbered=numbered)
        return None if begins else last

    def finish(self, *, cut: bool) -> tuple[list[tuple[int, ToolCall]], bool]:
        """The calls, each with the place that `add` gave it, and whether any was left out.

        `cut`: the reply ended for its length, and a call whose arguments are not whole is left
        out. Else such a call is `malformed`: it is told to the model, never made.
        """
        whole: list[tuple[int, ToolCall]] = []
        left_out = False
        for call in self._calls:
            last = call is self._calls[-1]
            for made in _finished(call):
                if cut and left_out_when_cut(call.arguments, made, last=last):
                    left_out = True
                else:
                    whole.append((call.place, made))
        return whole, left_out


_KNOWN = frozenset({"index", "id", "type", "function"})


def _begins(last: _Open, identity: str | None, name: str, piece: str, *, numbered: bool) -> bool:
    if not name:
        # a head has a name; without one this is the rest of a call whose id keeps changing
        return identity is not None and last.id is not None and last.complete
    if identity is not None and last.id is not None:
        return True
    if name == last.name:  # repeated in each fragment, unless the call before it is whole
        return last.complete and bool(piece)
    return bool(last.pieces) or identity is not None or not numbered


def read_call(
    identity: str | None, name: str, text: str, opaque: JsonObject | None = None
) -> ToolCall:
    """The call whose arguments came as `text`; it is `malformed` when they are no object."""
    arguments = read_object(text.strip())
    return ToolCall(
        id=identity or ids.new_id("call"),
        name=name,
        arguments=arguments if arguments is not None else {},
        malformed=text.strip() if arguments is None else None,
        opaque=opaque,
    )


def left_out_when_cut(text: str, call: ToolCall, *, last: bool) -> bool:
    """Whether the arguments are not whole. A last call that had none yet may have been about to
    bear some: rather no call than one without them."""
    return call.malformed is not None or (last and not text.strip())


def _finished(call: _Open) -> list[ToolCall]:
    several = _glued(call.arguments.strip()) if call.id is None else []
    if not several:
        return [read_call(call.id, call.name, call.arguments, call.extra or None)]
    opaque = call.extra or None
    return [
        ToolCall(
            id=ids.new_id("call"),
            name=call.name,
            arguments=arguments,
            opaque=opaque if place == 0 else None,
        )
        for place, arguments in enumerate(several)
    ]


def read_object(text: str) -> JsonObject | None:
    """The object that `text` holds; None when it holds none."""
    if text in {"", "null", "[]"}:  # a tool without parameters
        return {}
    found = _parsed(text)
    if isinstance(found, str):  # encoded twice
        found = _parsed(found)
    try:
        return cast("JsonObject", mend(found)) if isinstance(found, dict) else None
    except RecursionError:  # what is nested so deeply means nothing
        return None


def _glued(text: str) -> list[JsonObject]:
    """The objects of several calls that came as one, because the vendor gave them no ids."""
    found: list[JsonObject] = []
    decoder = json.JSONDecoder(strict=False)
    while text:
        try:
            value, end = decoder.raw_decode(text)
            if not isinstance(value, dict):
                return []
            found.append(cast("JsonObject", mend(value)))
        except (ValueError, RecursionError):
            return []
        text = text[end:].lstrip(" \t\r\n,")
    return found if len(found) > 1 else []


def _parsed(text: str) -> object:
    try:
        return json.loads(text, strict=False)  # models write line breaks into strings
    except (ValueError, RecursionError):
        return None


def arguments_text(arguments: object) -> str:
    """Arguments as text, whether they came as that or as an object."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
