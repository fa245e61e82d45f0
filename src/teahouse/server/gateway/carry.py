"""What a vendor wants back untouched, on its way through a client that knows nothing of it.

Clients keep one opaque string with a thought or a call (a signature, encrypted content): there it
travels, with the endpoint and model that it came from.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from teahouse.core.messages import JsonObject

_MARK = "th1."
_decoder = msgspec.json.Decoder(dict[str, Any])


def pack(opaque: JsonObject) -> str:
    return _MARK + base64.urlsafe_b64encode(msgspec.json.encode(opaque)).decode("ascii")


def unpack(carried: str) -> JsonObject | None:
    """None for what was not packed here: it cannot go to any vendor as its own."""
    if not carried.startswith(_MARK):
        return None
    try:
        return _decoder.decode(base64.urlsafe_b64decode(carried.removeprefix(_MARK)))
    except (binascii.Error, msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return None
