"""What a vendor wants back with a part, as a sealed block among the parts of Anthropic's dialect.

Its clients give blocks of type `redacted_thinking` back untouched and in their place. What belongs
to a thought goes into its signature; all else has no field of its own and travels in such a block.
"""

from __future__ import annotations

from msgspec import Struct

from teahouse.core.messages import JsonObject
from teahouse.llm.wire.fields import as_object
from teahouse.server.gateway.carry import pack, unpack


class Sealed(Struct, frozen=True, kw_only=True):
    """`opaque` belongs to the call of this id, or to the thought of this place among the thoughts
    of its message, whose block had ended already; or it stands for itself."""

    opaque: JsonObject
    call: str | None = None
    thought: int | None = None


def seal(sealed: Sealed) -> str:
    if sealed.call is not None:
        return pack({"call": sealed.call, "opaque": sealed.opaque})
    if sealed.thought is not None:
        return pack({"thought": sealed.thought, "opaque": sealed.opaque})
    return pack(sealed.opaque)


def unseal(data: str) -> Sealed | None:
    """None for what was sealed elsewhere, by a vendor for itself."""
    carried = unpack(data)
    if not carried:
        return None
    if carried.keys() == {"call", "opaque"}:
        return Sealed(opaque=as_object(carried["opaque"]), call=str(carried["call"]))
    if carried.keys() == {"thought", "opaque"} and isinstance(carried["thought"], int):
        return Sealed(opaque=as_object(carried["opaque"]), thought=carried["thought"])
    return Sealed(opaque=carried)
