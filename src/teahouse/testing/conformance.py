"""Replays recorded streams over loopback through the real provider and judges what comes out.

`python -m teahouse.testing.conformance FILE… [--bytewise | --whole]` sends the body in the writes
that each case gives, byte by byte, or in one write. Prints each failing id with expected and
actual, then `N/M`; exits 0 only if all pass. The form of a case:

- `dialect`; `status`, `headers`, `writes_b64`, `close` (`eof`, `reset`, or `open`: silence): what
  the endpoint answers; `profile`: quirks switched on
- `expect`, of which only what is there is judged: `text`, `reasoning`, `tools` `[[id or "*", name,
  arguments]]`, `finish` (`*` for any), `usage` `[in, out]`, `error` (null, `raise`, or
  `invalid_tool_args`), `roundtrip`: dotted paths that must occur in the next request's body
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from msgspec import Struct, field

from teahouse.core.errors import ProviderError
from teahouse.core.events import PartDelta, ReplyDone, StreamEvent, fold
from teahouse.core.messages import Message, Text, Thinking, ToolResult, Usage
from teahouse.llm.loop import said
from teahouse.llm.provider import ModelRequest, Provider, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings, Timeouts, WireName
from teahouse.llm.transport import Transport
from teahouse.testing.answers import Answer, Step, text_answer
from teahouse.testing.case_files import Case, Verdict, read_cases, report
from teahouse.testing.endpoint import Endpoint

Cut: TypeAlias = Literal["given", "bytewise", "whole"]

_WIRES: Final[Mapping[str, WireName]] = {
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
}
_TIMEOUTS = Timeouts(connect_s=5, first_event_s=20, idle_s=20, total_s=60)
_QUESTION = Message(role="user", parts=(Text(text="hi"),))
_TOOL = ToolSpec(name="f", description="", parameters={"type": "object", "properties": {}})
_A_READ_APART = (0.0, 0.0)  # turns of the loop between two writes, so that each is read alone


class Outcome(Struct, kw_only=True):
    """What a provider made of a stream."""

    events: list[StreamEvent] = field(default_factory=list[StreamEvent])
    error: ProviderError | None = None

    @property
    def message(self) -> Message:
        return fold(self.events)

    @property
    def done(self) -> ReplyDone | None:
        return next((e for e in self.events if isinstance(e, ReplyDone)), None)

    def shown(self, kind: Literal["text", "thinking"]) -> str:
        return "".join(e.delta for e in self.events if isinstance(e, PartDelta) and e.kind == kind)


def judge(cases: Sequence[Case], cut: Cut = "given") -> Iterator[Verdict]:
    yield from asyncio.run(_judge_all(cases, cut))


async def _judge_all(cases: Sequence[Case], cut: Cut) -> list[Verdict]:
    async with Transport() as transport:
        return [
            Verdict(id=case["id"], problems=await _judge(case, cut, transport)) for case in cases
        ]


async def _judge(case: Case, cut: Cut, transport: Transport) -> dict[str, tuple[object, object]]:
    wire = _WIRES.get(case.get("dialect", "openai-chat"))
    if wire is None:
        return {"dialect": (sorted(_WIRES), case.get("dialect"))}
    async with Endpoint([answer_of(case, cut), text_answer(["ok"])]) as endpoint:
        settings = ProviderSettings(
            wire=wire,
            base_url=endpoint.base_url,
            quirks=case.get("profile") or {},
            timeouts=_TIMEOUTS,
        )
        provider = build_provider("case", settings, "key", transport)
        outcome = await replay(provider, (_QUESTION,))
        problems = _compare(case["expect"], _actual(outcome, wire), outcome)
        problems |= _laws(outcome)
        wanted: dict[str, Any] = case["expect"].get("roundtrip") or {}
        if wanted:
            await replay(provider, _next_messages(outcome.message))
            body = endpoint.requests[-1].body
            problems |= {
                f"roundtrip {path}": (value, body)
                for path, value in wanted.items()
                if not _occurs(body, _snake(path).split("."), value)
            }
    return problems


def answer_of(case: Case, cut: Cut) -> Answer:
    writes = [base64.b64decode(write) for write in case["writes_b64"]]
    whole = b"".join(writes)
    if cut == "whole":
        writes = [whole]
    elif cut == "bytewise":
        writes = [whole[n : n + 1] for n in range(len(whole))]
    steps: list[Step] = []
    for write in writes:
        if write:
            steps.append(write)
            steps.extend(_A_READ_APART)
    if case.get("close") == "reset":
        steps.append("reset")
    elif case.get("close") == "open":
        steps.append("hang")
    headers = {"Content-Type": "text/event-stream"}
    given: dict[str, str] = case.get("headers") or {}
    if any(name.lower() == "content-type" for name in given):
        headers = {}
    return Answer(
        status=case.get("status") or 200,
        headers=headers | given,
        steps=tuple(steps),
        framing="close",
    )


async def replay(provider: Provider, messages: Sequence[Message]) -> Outcome:
    """Ask once and keep everything, the error too."""
    outcome = Outcome()
    request = ModelRequest(model="m", messages=tuple(messages), tools=(_TOOL,))
    try:
        async with aclosing(provider.stream(request)) as batches:
            async for batch in batches:
                outcome.events += batch
    except ProviderError as error:
        outcome.error = error
    return outcome


def _compare(
    expect: dict[str, Any], actual: dict[str, Any], outcome: Outcome
) -> dict[str, tuple[object, object]]:
    problems: dict[str, tuple[object, object]] = {}
    for key, wanted in expect.items():
        if key == "roundtrip" or key not in actual:
            continue
        got = actual[key]
        same = _same_tools(wanted, got) if key == "tools" else got == wanted
        if not same and not (key == "finish" and wanted == "*"):
            shown = f"{got} ({outcome.error})" if key == "error" and outcome.error else got
            problems[key] = (wanted, shown)
    return problems


def _actual(outcome: Outcome, wire: WireName) -> dict[str, Any]:
    done, calls = outcome.done, outcome.message.tool_calls
    broken = (done is not None and done.problem is not None) or any(c.malformed for c in calls)
    return {
        "text": outcome.shown("text"),
        "reasoning": outcome.shown("thinking"),
        "tools": [[c.id, c.name, c.arguments] for c in calls if c.malformed is None],
        "finish": done.reason if done else None,
        "usage": [_reported_input(done.usage, wire), done.usage.output] if done else None,
        "error": "raise" if outcome.error else "invalid_tool_args" if broken else None,
    }


def _reported_input(usage: Usage, wire: WireName) -> int:
    """As the vendor counts it: Anthropic tells what has to do with its cache apart."""
    return usage.input - (usage.cached + usage.written if wire == "anthropic" else 0)


def _same_tools(wanted: list[list[Any]], got: list[list[Any]]) -> bool:
    return len(wanted) == len(got) and all(
        call[1:] == want[1:] and want[0] in {"*", call[0]} and call[0]
        for want, call in zip(wanted, got, strict=True)
    )


def _laws(outcome: Outcome) -> dict[str, tuple[object, object]]:
    """What holds for every stream: one end, calls that can be told apart, and parts that say what
    the deltas said."""
    ends = sum(isinstance(event, ReplyDone) for event in outcome.events)
    ends += outcome.error is not None
    problems: dict[str, tuple[object, object]] = {}
    if ends != 1:
        problems["ends"] = (1, ends)
    identities = [call.id for call in outcome.message.tool_calls]
    if not all(identities) or len(set(identities)) < len(identities):
        problems["ids"] = ("one of its own for each call", identities)
    parts = said(outcome.events)
    kinds: tuple[tuple[Literal["text", "thinking"], type[Text | Thinking]], ...]
    kinds = (("text", Text), ("thinking", Thinking))
    for kind, of in kinds:
        folded = "".join(part.text for part in parts if isinstance(part, of))
        if folded != outcome.shown(kind):
            problems[f"folded {kind}"] = (outcome.shown(kind), folded)
    return problems


def _next_messages(reply: Message) -> list[Message]:
    results = tuple(
        ToolResult(call=call.id, content=(Text(text="done"),)) for call in reply.tool_calls
    )
    tail = Message(role="tool", parts=results) if results else _QUESTION
    return [_QUESTION, reply, tail]


def _occurs(value: object, path: Sequence[str], wanted: object) -> bool:
    """Whether `path` leads to `wanted` from anywhere inside of `value`."""
    if _at(value, path) == wanted:
        return True
    match value:
        case dict():
            inner = cast("dict[str, object]", value).values()
            return any(_occurs(item, path, wanted) for item in inner)
        case list():
            return any(_occurs(item, path, wanted) for item in cast("list[object]", value))
        case _:
            return False


def _at(value: object, path: Sequence[str]) -> object:
    for key in path:
        if not isinstance(value, dict):
            return None
        fields = {_snake(name): item for name, item in cast("dict[str, object]", value).items()}
        value = fields.get(key)
    return value


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def main() -> None:
    parser = argparse.ArgumentParser(description="Replay recorded streams through our wires.")
    parser.add_argument("files", nargs="+", type=Path)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--bytewise", dest="cut", action="store_const", const="bytewise")
    how.add_argument("--whole", dest="cut", action="store_const", const="whole")
    options = parser.parse_args()
    cases = [case for path in options.files for case in read_cases(path)]
    sys.exit(0 if report(judge(cases, options.cut or "given")) else 1)


if __name__ == "__main__":
    main()
