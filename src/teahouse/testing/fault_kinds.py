"""What a fault of an endpoint is, and the pieces that such faults are put together from.

Bytes are of the OpenAI chat dialect, the one that most endpoints speak and spoil.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from teahouse.core.errors import ProviderError
from teahouse.testing.answers import DONE, Answer, Step, chunk, error_answer, usage

End: TypeAlias = type[ProviderError] | None
Row: TypeAlias = tuple[str, tuple[End, ...], Answer]


class WireFault(Struct, frozen=True, kw_only=True):
    """One way in which an endpoint goes wrong, and what must come of it.

    `ends`: what one attempt may come to, None for an answer; whether it may be tried again is the
    error's own `retryable`. `silent`: it is over only when one of the four clocks runs out. `at`:
    not the endpoint's own address is called, but a port where nobody listens, or the same over TLS.
    """

    name: str
    about: str
    ends: tuple[End, ...]
    answer: Answer = Answer(steps=())
    silent: bool = False
    at: Literal["endpoint", "closed", "tls"] = "endpoint"


START: Final = chunk({"role": "assistant", "content": ""})
SAID: Final = (START, chunk({"content": "half of "}))
WHOLE: Final = (*SAID, chunk({"content": "a reply"}), chunk({}, "stop"))
COUNTED: Final = (*WHOLE, usage(5, 4), DONE)
ONCE: Final = b"".join(COUNTED)
TEA: Final = chunk({"content": "茶"})
PAGE: Final = b"<!doctype html><html><title>Bad gateway</title><body>nginx</body></html>"
JSON: Final = {"Content-Type": "application/json"}


def answers(about: str, *steps: Step, headers: dict[str, str] | None = None) -> Row:
    """It is strange, and yet a reply."""
    answer = Answer(steps=steps)
    return about, (None,), answer if headers is None else Answer(steps=steps, headers=headers)


def fails(about: str, end: End, *steps: Step) -> Row:
    return about, (end,), Answer(steps=steps)


def raw(*lines: bytes) -> Answer:
    """An answer whose head is in `lines` too."""
    return Answer(steps=(b"\r\n".join(lines),), framing="raw")


def status(code: int, end: type[ProviderError], message: str = "", wait: str | None = None) -> Row:
    about = f"status {code}" + (f": {message}" if message else "")
    about += "" if wait is None else f", Retry-After: {wait}"
    return about, (end,), error_answer(code, message, retry_after=wait)


def page(code: int, end: type[ProviderError]) -> Row:
    answer = Answer(status=code, headers={"Content-Type": "text/html"}, steps=(PAGE,))
    return f"a web page with status {code}", (end,), answer


def call(*fragments: Mapping[str, object], finish: str = "tool_calls") -> tuple[bytes, ...]:
    pieces = [chunk({"tool_calls": [fragment]}) for fragment in fragments]
    return (START, *pieces, chunk({}, finish), usage(5, 3), DONE)


def wish(arguments: object = "{}", name: object = "now", **more: Any) -> dict[str, Any]:
    """One fragment of a call."""
    function = {"name": name, "arguments": arguments}
    return {"index": 0, "id": "call_1", "type": "function", "function": function, **more}


def counts(*values: Mapping[str, object]) -> tuple[bytes, ...]:
    """A whole reply, and then these for its usage."""
    return (*WHOLE, *(chunk(None, usage=value) for value in values), DONE)


def bytewise(data: bytes) -> tuple[bytes, ...]:
    return tuple(data[place : place + 1] for place in range(len(data)))
