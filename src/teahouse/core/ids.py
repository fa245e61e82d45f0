"""Ids that sort by the time they were made; with `clock`, the only source of randomness."""

from __future__ import annotations

import secrets
import threading
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case
_RANDOM_BITS = 64

_lock = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """Return `prefix_` and 23 characters. Later ids of one process sort after earlier ones."""
    global _last  # noqa: PLW0603  one counter, guarded by the lock
    with _lock:
        _last = max(_last + 1, time.time_ns() // 1_000_000 << _RANDOM_BITS | secrets.randbits(63))
        value = _last
    characters = [_ALPHABET[value >> shift & 31] for shift in range(110, -5, -5)]
    return f"{prefix}_{''.join(characters)}"


def new_secret() -> str:
    """Return 43 URL-safe characters that hold 256 random bits."""
    return secrets.token_urlsafe(32)


def new_bytes(count: int) -> bytes:
    """Return random bytes fit for keys and nonces."""
    return secrets.token_bytes(count)


def kind_of(identifier: str) -> str:
    """Return the prefix of an id: `a` agent, `u` person, `c` conversation, `p` post, `r` run."""
    return identifier.partition("_")[0]


def fraction() -> float:
    """Return a number of at least 0 and below 1, for jitter."""
    return secrets.randbits(53) / (1 << 53)
