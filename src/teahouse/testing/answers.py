"""What a fake model endpoint says: answers as bytes in time, and commands of its default script.

The default script echoes (`echo: TEXT`, eight characters a piece), so that a test knows the answer.
Commands stand anywhere in the last user text; TEXT is that text with its commands:

- `[slow N]`, `[slow N MS]`: echoes, then N pieces ` 1` … ` N`, 20 (or MS) milliseconds apart
- `[long N]`: answers N words, `word1 … wordN`
- `[markdown]`: answers a sample with heading, list, table, code and quote
- `[think]`: first thinks `thinking about TEXT` (`reasoning_content`)
- `[tool NAME]`, `[tool NAME {JSON}]`: asks for the tool once, then answers
  `echo: TEXT NAME: RESULT`
- `[fail STATUS]`, `[fail STATUS once]`: answers the status with an error body, always or only the
  first time for this text; 429 bears `Retry-After: 1`
- `[cut]`, `[reset]`: sends `echo: ` and closes the connection, or resets it
- `[error]`: sends `echo: ` and then an error object inside the stream
- `[hang]`, `[hang first]`, `[hang mid]`: is silent for ever, before the headers, before the first
  token, after `echo: `
- `[hold GATE]`: sends `echo: `, waits until GATE is released, then sends the rest
- `[html]`, `[garbage]`: answers an HTML page with status 200, or a line that is no JSON
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct, field


class Hold(Struct, frozen=True):
    """Wait until this gate is released."""

    gate: str


Step: TypeAlias = bytes | float | Hold | Literal["hang", "cut", "reset"]
"""One TCP write, seconds of silence, a gate, silence for ever, or an end of the connection."""


class Answer(Struct, frozen=True, kw_only=True):
    """One response. `before` is waited for ahead of the status line, `steps` are the body.

    `framing`: `chunked` keeps the connection for the next request, `close` ends the body with it,
    `raw` sends the steps alone: they bring their own status line, or none.
    """

    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(
        default_factory=lambda: {"Content-Type": "text/event-stream; charset=utf-8"}
    )
    framing: Literal["chunked", "close", "raw"] = "chunked"


def frame(value: object) -> bytes:
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"data: {data}\n\n".encode()


DONE = frame("[DONE]")


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: object) -> bytes:
    """One `chat.completion.chunk` as an SSE event."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return frame(
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "fake",
            "choices": [] if delta is None else [choice],
            **more,
        }
    )


def usage(prompt: int, completion: int) -> bytes:
    total = prompt + completion
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
    return chunk(None, usage=counts)


def text_answer(
    pieces: Sequence[str], *, thinking: str = "", between: Sequence[Step] = (), prompt: int = 5
) -> Answer:
    """A whole reply in pieces; `between` stands before each piece but the first."""
    steps: list[Step] = []
    steps.append(chunk({"role": "assistant", "content": ""}))
    if thinking:
        steps.append(chunk({"reasoning_content": thinking}))
    for place, piece in enumerate(pieces):
        steps.extend(between if place else ())
        steps.append(chunk({"content": piece}))
    return Answer(steps=(*steps, chunk({}, "stop"), usage(prompt, len(pieces)), DONE))


def tool_answer(calls: Sequence[tuple[str, str, dict[str, Any]]], *, text: str = "") -> Answer:
    """A reply that asks for tools: `(id, name, arguments)` each."""
    steps = [chunk({"role": "assistant", "content": text or None})]
    for index, (call, name, arguments) in enumerate(calls):
        head = {"index": index, "id": call, "type": "function"}
        steps.append(chunk({"tool_calls": [head | {"function": {"name": name, "arguments": ""}}]}))
        piece = {"arguments": json.dumps(arguments, ensure_ascii=False)}
        steps.append(chunk({"tool_calls": [{"index": index, "function": piece}]}))
    return Answer(steps=(*steps, chunk({}, "tool_calls"), usage(5, len(calls)), DONE))


def json_answer(
    body: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    data = json.dumps(body, ensure_ascii=False).encode()
    return Answer(
        status=status,
        headers={"Content-Type": "application/json", **(headers or {})},
        steps=(data,),
    )


def error_answer(status: int, message: str = "", *, retry_after: str | None = None) -> Answer:
    kind = {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
    error = {"message": message or f"fake failure {status}", "type": kind, "code": None}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return json_answer({"error": error}, status=status, headers=headers)


MARKDOWN = """# 茶馆 Teahouse

Some **bold**, some *slanted* text and `inline code`.

1. first
2. second
   - nested

| tea | 温度 |
|---|---:|
| 绿茶 | 80 °C |
| 红茶 | 95 °C |

```python
def greet(name: str) -> str:
    return f"你好, {name}"
```

> A quote, with a [link](https://example.com/).
"""

_COMMAND = re.compile(r"\[([a-z]+)((?: [^\[\]{}]*)?(?: ?\{.*?\})?)\]")
_PIECE = 8
_START = (chunk({"role": "assistant", "content": ""}), chunk({"content": "echo: "}))
_PAGE = b"<!doctype html><title>Welcome</title><p>Log in first.</p>"
_BROKEN = {
    "cut": Answer(steps=(*_START, "cut")),
    "reset": Answer(steps=(*_START, "reset")),
    "error": Answer(steps=(*_START, frame({"error": {"message": "overloaded", "code": 529}}))),
    "hang": Answer(before=("hang",), steps=()),
    "hang first": Answer(steps=("hang",)),
    "hang mid": Answer(steps=(*_START, "hang")),
    "html": Answer(headers={"Content-Type": "text/html"}, steps=(_PAGE,)),
    "garbage": Answer(steps=(frame('{"choices": [{"ind'), DONE)),
}


class DefaultScript:
    """Answers by the commands in the last user text; see the module's table."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def __call__(self, body: dict[str, Any]) -> Answer:
        messages: list[dict[str, Any]] = body.get("messages") or []
        text = next((_text(m) for m in reversed(messages) if m.get("role") == "user"), "")
        commands = {name: rest.strip() for name, rest in _COMMAND.findall(text)}
        prompt = sum(len(_text(m)) for m in messages) // 4 + 1
        broken = self._broken(text, commands)
        if broken is not None:
            return broken
        if "tool" in commands and messages[-1].get("role") != "tool":
            name, _, arguments = commands["tool"].partition(" ")
            return tool_answer([(f"call_{len(messages)}", name, json.loads(arguments or "{}"))])
        pieces, between = self._whole(text, commands, messages)
        thinking = f"thinking about {text}" if "think" in commands else ""
        return text_answer(pieces, thinking=thinking, between=between, prompt=prompt)

    def _broken(self, text: str, commands: dict[str, str]) -> Answer | None:
        if "fail" in commands:
            status, *once = commands["fail"].split()
            if not once or text not in self._failed:
                self._failed.add(text)
                return error_answer(int(status), retry_after="1" if status == "429" else None)
        for name, rest in commands.items():
            found = _BROKEN.get(f"{name} {rest}".strip())
            if found is not None:
                return found
        return None

    def _whole(
        self, text: str, commands: dict[str, str], messages: list[dict[str, Any]]
    ) -> tuple[list[str], tuple[Step, ...]]:
        if "markdown" in commands:
            return _cut(MARKDOWN, 40), ()
        if "long" in commands:
            return [f"word{n} " for n in range(1, int(commands["long"] or 100) + 1)], ()
        if "slow" in commands:
            count, *pace = commands["slow"].split() or ["20"]
            numbers = [f" {n}" for n in range(1, int(count) + 1)]
            return [f"echo: {text}", *numbers], ((float(pace[0]) if pace else 20.0) / 1000,)
        if "hold" in commands:
            return ["echo: ", text], (Hold(commands["hold"] or "gate"),)
        results = [_text(m) for m in messages if m.get("role") == "tool"]
        said = ""
        if "tool" in commands and results:
            said = f" {commands['tool'].split()[0]}: {results[-1]}"
        return _cut(f"echo: {text}{said}", _PIECE), ()


def _text(message: dict[str, Any]) -> str:
    content: Any = message.get("content")
    if isinstance(content, list):
        parts = cast("list[dict[str, Any]]", content)
        return "".join(str(part.get("text") or "") for part in parts)
    return str(content or "")


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
