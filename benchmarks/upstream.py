"""A model's endpoint that costs next to nothing: what is measured before it is the gateway alone.

`python benchmarks/upstream.py` prints its port. A reply has 100 pieces; the model's name says how
they come: `burst` all at once, `paced` one each 5 ms. Whoever asks for no stream gets one object.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import uvloop

PIECES, EVERY_S = 100, 0.005
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STREAM = re.compile(rb'"stream": *true')
_COUNTS = {"prompt_tokens": 12, "completion_tokens": PIECES, "total_tokens": 12 + PIECES}
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _object(kind: str, choices: list[Any], **more: Any) -> bytes:
    told = {"id": "chatcmpl-1", "object": kind, "created": 1700000000, "model": "fake", **more}
    return json.dumps(told | {"choices": choices}, separators=(",", ":")).encode()


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _object("chat.completion.chunk", [choice])


def _event(data: bytes) -> bytes:
    event = b"data: %s\n\n" % data
    return b"%x\r\n%s\r\n" % (len(event), event)


_PIECES = [
    _event(_chunk({"role": "assistant", "content": ""})),
    *(_event(_chunk({"content": f"word{n:02} "})) for n in range(PIECES)),
    _event(_chunk({}, "stop")),
    _event(_object("chat.completion.chunk", [], usage=_COUNTS)),
    _event(b"[DONE]"),
]
_END = b"0\r\n\r\n"
_BURST = _HEAD + b"".join(_PIECES) + _END
_MESSAGE = {"role": "assistant", "content": "".join(f"word{n:02} " for n in range(PIECES))}
_CHOICE = {"index": 0, "message": _MESSAGE, "finish_reason": "stop"}
_BODY = _object("chat.completion", [_CHOICE], usage=_COUNTS)
_WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)


class Upstream(asyncio.Protocol):
    def __init__(self) -> None:
        self._got = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, _: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, end, body = self._got.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if end and len(body) >= int(length[1] if length else 0):
            self._got = b""
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        if not _STREAM.search(body):
            self._transport.write(_WHOLE)
        elif b"paced" not in body:
            self._transport.write(_BURST)
        else:
            self._transport.write(_HEAD)
            self._next(iter([*_PIECES, _END]), self._loop.time())

    def _next(self, pieces: Any, at: float) -> None:
        """Each at its time after the first, however late the one before it was."""
        piece = next(pieces, None)
        if piece is not None:
            self._transport.write(piece)
            at += EVERY_S
            self._timer = self._loop.call_at(at, self._next, pieces, at)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.Runner(loop_factory=uvloop.new_event_loop).run(main())
