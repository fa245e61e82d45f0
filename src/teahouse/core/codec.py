"""JSON for values: one codec for the wire, the journal and REST."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from teahouse.core.errors import Invalid
from teahouse.core.events import Envelope, Event, Unknown

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_event = msgspec.json.Decoder(Event)
_envelope = msgspec.json.Decoder(Envelope)


class _Typed(msgspec.Struct):
    type: str


_typed = msgspec.json.Decoder(_Typed)
KNOWN_EVENTS = frozenset(
    str(kind.__struct_config__.tag)
    for kind in Event.__args__  # type: ignore[attr-defined]
)


def encode(value: Any) -> bytes:
    return _encoder.encode(value)


def decode(data: bytes | str, kind: type[T]) -> T:
    """Decode strictly; raises `Invalid` that names the place."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid("not_json", detail=error) from error


def decode_event(data: bytes) -> Event | Unknown:
    """Decode one event. A type of a newer version comes back as `Unknown` with its bytes."""
    kind = _typed.decode(data).type
    return _event.decode(data) if kind in KNOWN_EVENTS else Unknown(type=kind, raw=data)


def decode_envelope(data: bytes) -> Envelope:
    return _envelope.decode(data)
