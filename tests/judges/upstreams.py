"""What five fake vendors answer to the judges, by the model's name: one story, five dialects.

The name is the scene: `text`, `tools`, `long`, `object`, `empty`, `cut`, `late`, `slow`, `hang`,
`silent`, `busy`, or `fail-STATUS`. In `tools` the model thinks, asks for the weather of two cities
at once, and answers when it has been told it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from teahouse.testing import anthropic_answers as claude
from teahouse.testing import gemini_answers as gemini
from teahouse.testing import ollama_answers as ollama
from teahouse.testing import responses_answers as responses
from teahouse.testing.answers import (
    Answer,
    Step,
    chunk,
    error_answer,
    json_answer,
    text_answer,
    tool_answer,
)
from teahouse.testing.endpoint import Endpoint, Recorded

TEXT: Final = ("Green tea, ", "绿茶", ", two\u2028lines", " and 🍵.")
THOUGHT: Final = "Both cities are asked for."
SIGNATURES: Final = {
    "claude": "c2lnbmVkIGJ5IGNsYXVkZQ==",
    "gemini": "c2lnbmVkIGJ5IGdlbWluaQ==",
    "gpt": "c2VhbGVkIGJ5IG9wZW5haQ==",
}
CALLS: Final = (
    ("call_1", "weather", {"city": "Paris", "unit": "celsius"}),
    ("call_2", "weather", {"city": "東京"}),
)
LONG: Final = "tea \u2028\"'\\ 茶 " * 20_000
OBJECT: Final = '{"name": "Assam", "degrees": 95}'
TOLD: Final = "18 degrees"  # in the result of a tool
TOO_LONG: Final = "This model's maximum context length is 8192 tokens. Please reduce the length."

Calls = Sequence[tuple[str, str, dict[str, Any]]]


class Vendor:
    """One dialect's words for a text, an object, calls, and a reply that thinks and then calls."""

    def __init__(
        self,
        text: Callable[[Sequence[str]], Answer],
        calls: Callable[[Calls], Answer],
        thinks: Callable[[], Answer],
        cut: Callable[[], tuple[Step, ...]],
    ) -> None:
        self.text, self.calls, self.thinks, self.cut = text, calls, thinks, cut
        self._busy = 3  # times

    def answer(self, recorded: Recorded) -> Answer:
        scene = scene_of(recorded)
        if scene.startswith("fail-"):
            return failure(scene.removeprefix("fail-"))
        if scene in self._scenes:
            return self._scenes[scene](self)
        if scene != "tools":
            return error_answer(404, f"The model `{scene}` does not exist.")
        return self.text(("It is mild.",)) if TOLD in _sent(recorded) else self.thinks()

    def _moment(self) -> Answer:
        """Too much is asked for a moment."""
        self._busy -= 1
        if self._busy >= 0:
            return error_answer(429, "Too many requests.", retry_after="1")
        return self.text(TEXT)

    def _late(self) -> Answer:
        """Silent before its head for longer than any heart beats."""
        whole = self.text(TEXT)
        return Answer(before=(2.5,), headers=whole.headers, steps=whole.steps)

    def _slow(self) -> Answer:
        whole = self.text(TEXT)
        first, *rest = whole.steps
        return Answer(headers=whole.headers, steps=(first, 2.5, *rest))

    def _cut(self, then: Step) -> Answer:
        return Answer(headers=self.text(()).headers, steps=(*self.cut(), then))

    _scenes: Final[dict[str, Callable[[Vendor], Answer]]] = {
        "text": lambda self: self.text(TEXT),
        "empty": lambda self: self.text(()),
        "object": lambda self: self.text((OBJECT[:9], OBJECT[9:])),
        "long": lambda self: self.calls([("call_1", "write", {"text": LONG})]),
        "busy": _moment,
        "late": _late,
        "slow": _slow,
        "cut": lambda self: self._cut("cut"),
        "hang": lambda self: self._cut("hang"),
        "silent": lambda _: Answer(before=("hang",), steps=()),
    }


def scene_of(recorded: Recorded) -> str:
    """Gemini's model stands in the path."""
    named = recorded.path.partition("/models/")[2].partition(":")[0]
    return named or str(recorded.body.get("model"))


def _sent(recorded: Recorded) -> str:
    return json.dumps(recorded.body, ensure_ascii=False)


def failure(kind: str) -> Answer:
    match kind:
        case "context":
            return error_answer(400, TOO_LONG)
        case "filter":
            return error_answer(400, "Rejected by the content policy.")
        case "429":
            return error_answer(429, "Too many requests.", retry_after="31")
        case _:
            return error_answer(int(kind))


def _claude() -> Vendor:
    def thinks() -> Answer:
        steps = claude.thinking(0, THOUGHT, SIGNATURES["claude"])
        for index, (call, name, given) in enumerate(CALLS, 1):
            head: dict[str, Any] = {"type": "tool_use", "id": call, "name": name, "input": {}}
            piece = json.dumps(given, ensure_ascii=False)
            steps += claude.block(index, head, {"type": "input_json_delta", "partial_json": piece})
        return Answer(steps=(claude.start(), *steps, *claude.end("tool_use", 9)))

    def cut() -> tuple[Step, ...]:
        return claude.start(), *claude.text(0, TEXT[:2])[:-1]

    return Vendor(claude.text_answer, claude.tool_answer, thinks, cut)


def _gemini() -> Vendor:
    def thinks() -> Answer:
        (first, name, given), *rest = CALLS
        call = {"functionCall": {"id": first, "name": name, "args": given}}
        parts: list[dict[str, Any]] = [
            {"text": THOUGHT, "thought": True},
            call | {"thoughtSignature": SIGNATURES["gemini"]},
            *({"functionCall": {"id": ref, "name": n, "args": a}} for ref, n, a in rest),
        ]
        return Answer(steps=(gemini.chunk(parts, "STOP", prompt=5, candidates=9, thoughts=4),))

    def cut() -> tuple[Step, ...]:
        return (gemini.chunk([{"text": "".join(TEXT[:2])}]),)

    return Vendor(gemini.text_answer, gemini.tool_answer, thinks, cut)


def _responses() -> Vendor:
    def thinks() -> Answer:
        began, *rest = responses.tool_answer(CALLS).steps
        thought = responses.reasoning(7, THOUGHT, SIGNATURES["gpt"])
        return Answer(steps=(began, *thought, *rest))

    def cut() -> tuple[Step, ...]:
        began = responses.event("created", response=responses.response())
        return began, *responses.text(0, TEXT[:2])[:3]

    return Vendor(responses.text_answer, responses.tool_answer, thinks, cut)


def _ollama() -> Vendor:
    def thinks() -> Answer:
        whole = ollama.tool_answer(CALLS)
        return Answer(headers=whole.headers, steps=(ollama.line(thinking=THOUGHT), *whole.steps))

    def cut() -> tuple[Step, ...]:
        return (ollama.line("".join(TEXT[:2])),)

    return Vendor(ollama.text_answer, ollama.tool_answer, thinks, cut)


def _chat() -> Vendor:
    def thinks() -> Answer:
        first, *rest = tool_answer(CALLS).steps
        return Answer(steps=(first, chunk({"reasoning_content": THOUGHT}), *rest))

    def cut() -> tuple[Step, ...]:
        return tuple(text_answer(TEXT[:2]).steps[:3])

    return Vendor(text_answer, tool_answer, thinks, cut)


def embeddings(recorded: Recorded) -> Answer:
    inputs = recorded.body["input"]
    count = len(inputs) if isinstance(inputs, list) else 1
    rows = [{"index": place, "embedding": [1.0, 0.5]} for place in range(count)]
    return json_answer({"data": rows, "usage": {"prompt_tokens": 3, "total_tokens": 3}})


VENDORS: Final[dict[str, tuple[str, Callable[[], Vendor]]]] = {
    "chat": ("openai_chat", _chat),
    "gpt": ("openai_responses", _responses),
    "claude": ("anthropic", _claude),
    "gemini": ("gemini", _gemini),
    "ollama": ("ollama", _ollama),
}


def upstream(name: str) -> Endpoint:
    vendor = VENDORS[name][1]()

    def ask(recorded: Recorded) -> Answer:
        if recorded.path.endswith("/embeddings"):
            return embeddings(recorded)
        if recorded.path.endswith("/api/show"):
            return json_answer({"capabilities": ["completion", "tools", "thinking"]})
        return vendor.answer(recorded)

    return Endpoint(ask=ask)
