"""Judges repaired histories by law: what strict endpoints take, and that no user's text is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from teahouse.core.messages import JsonObject
from teahouse.llm.repair import plain_text
from teahouse.llm.repair_json import repair_json
from teahouse.testing.case_files import Case, Verdict

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})


def judge(cases: Sequence[Case]) -> Iterator[Verdict]:
    for case in cases:
        yield Verdict(id=case["id"], problems=_problems(case["messages"]))


def _problems(history: object) -> dict[str, tuple[object, object]]:
    before = json.dumps(history)
    found = repair_json(history)
    problems: dict[str, tuple[object, object]] = {}
    flaws = list(flaws_of(found))
    if flaws:
        problems["strict"] = ([], flaws)
    lost = lost_texts(history, found)
    if lost:
        problems["user text"] = (lost, found)
    again = repair_json(found)
    if again != found:
        problems["twice"] = (found, again)
    if json.dumps(history) != before:
        problems["untouched"] = (before, history)
    return problems


def lost_texts(history: object, repaired: Sequence[JsonObject]) -> list[str]:
    """The texts of users in `history` that are not, or not as often, in `repaired`."""
    kept = "\n".join(text for message in repaired for text in _user_texts(message))
    wanted = Counter(plain_text(text) for text in _texts_of_users(history) if text)
    return [text for text, times in wanted.items() if kept.count(text) < times]


def _texts_of_users(history: object) -> list[str]:
    items = cast("list[object]", history) if isinstance(history, list) else [history]
    return [text for item in items for text in _user_texts(item)]


def _user_texts(item: object) -> list[str]:
    if isinstance(item, str):
        return [item]
    if not isinstance(item, dict) or cast("JsonObject", item).get("role") != "user":
        return []
    fields = cast("JsonObject", item)
    texts: list[str] = []
    for key in ("content", "parts"):
        value = fields.get(key)
        blocks = cast("list[Any]", value) if isinstance(value, list) else [value]
        for block in blocks:
            text = cast("JsonObject", block).get("text") if isinstance(block, dict) else block
            texts += [text] if isinstance(text, str) else []
    return texts


def flaws_of(messages: Sequence[JsonObject]) -> Iterator[str]:
    """What a strict endpoint would refuse."""
    roles = "".join(str(message["role"])[:1] for message in messages)
    if "s" in roles.lstrip("s"):
        yield "a system message after the start"
    if roles.lstrip("s")[:1] not in {"", "u"}:
        yield "no user message first"
    for place, message in enumerate(messages):
        if message["role"] not in _ROLES:
            yield f"{place}: role {message['role']!r}"
        if not _says(message):
            yield f"{place}: empty"
    yield from _pairing_flaws(messages)


def _pairing_flaws(messages: Sequence[JsonObject]) -> Iterator[str]:
    ids: set[str] = set()
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            call = message.get("tool_call_id")
            if call not in waiting:
                yield f"{place}: a result of no call, or a second one"
            else:
                waiting.remove(call)
            continue
        if waiting:
            yield f"{place}: calls without a result: {waiting}"
        waiting = []
        for call in message.get("tool_calls", []):
            waiting.append(call["id"])
            yield from (f"{place}: {flaw}" for flaw in _call_flaws(call, ids))
            ids.add(call["id"])
    if waiting:
        yield f"calls without a result: {waiting}"


def _says(message: JsonObject) -> bool:
    content = message.get("content") or ""
    blocks: list[Any] = [{"text": content}] if isinstance(content, str) else content
    said = any(block.get("text", "_").strip() for block in blocks)
    return said or bool(message.get("tool_calls"))


def _call_flaws(call: JsonObject, ids: set[str]) -> Iterator[str]:
    if not call["id"].strip() or call["id"] in ids:
        yield f"id {call['id']!r}"
    if not _NAME.fullmatch(call["function"]["name"]):
        yield f"name {call['function']['name']!r}"
    if not isinstance(json.loads(call["function"]["arguments"]), dict):
        yield f"arguments {call['function']['arguments']!r}"
