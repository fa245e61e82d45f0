"""Quirks of endpoints and models, as data: what a dialect leaves open, or a vendor does alone."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec
from msgspec import Struct


class Profile(Struct, frozen=True, kw_only=True):
    """How to speak to one model. The defaults suit an endpoint of which nothing is known."""

    tools: Literal["native", "schema"] = "native"
    """`schema`: the model emits no tool calls of its own, so they are asked for as JSON."""
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    """Whether the parameter is accepted."""
    include_usage: bool = True
    """Whether to ask for token counts; some refuse the question and report them unasked."""
    system_role: Literal["system", "developer"] = "system"
    empty_content: Literal["null", "string"] = "null"
    """What stands for the text of a message that only calls tools."""
    reasoning_back: Literal["never", "tools", "always"] = "tools"
    """On which of its own messages a model wants its thoughts back; `tools`: those with calls."""
    reasoning_field: str | None = None
    """The name to give them back under; None: the one under which they came."""
    think_tags: bool = False
    """Whether thoughts stand in the text, between `<think>` and `</think>` at its start."""
    think_open: bool = False
    """Whether the text begins inside of them, because the template wrote `<think>` itself."""
    vision: bool = True
    """Whether pictures may be sent; else the model reads their names."""
    json_schema: bool = True
    """Whether a reply may be bound to a schema; else only JSON is asked for (`openai_chat`), or
    the reply is made to come as the arguments of a tool (`anthropic`)."""
    output_tokens: int = 8192
    """How long a reply may be where the dialect demands a number and the request says none."""
    prompt_cache: bool = False
    """Whether to ask that the beginning of a request be remembered for the next one."""
    encrypted_reasoning: bool = True
    """Whether thoughts may be asked for in sealed form, to be given back later."""
    item_ids: bool = True
    """Whether what a stateless endpoint said goes back under the ids that it had."""
    thoughts: bool = False
    """Whether to ask a model that thinks to show a summary of its thoughts (`gemini`)."""
    call_signatures: bool = False
    """Whether every call must bear a signature, also one that another model made (`gemini`)."""
    continues: Literal["no", "plain", "prefix", "final"] = "no"
    """Whether the model goes on with the beginning of a reply where that comes last, so that one
    which was cut can be taken up: as it is, marked as `prefix`, or with vLLM's `final` message."""
    window: int | None = None
    """How many tokens the server shall hold where it asks for that (`ollama`); it drops the rest
    silently, so it should be as much as the memory bears."""
    extra: dict[str, Any] = {}
    """What goes into the body of every request as it is, beneath what a request itself adds."""


DEFAULT = Profile()

_MODELS: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = (
    (
        re.compile(r"^(openai/)?(gpt-5|o[134])(?!.*chat)"),
        {"temperature": False, "max_tokens": "max_completion_tokens"},
    ),
    (re.compile(r"^(openai/)?(gpt-[34]|chatgpt)"), {"encrypted_reasoning": False}),
    (re.compile(r"claude-3-(opus|sonnet|haiku)"), {"output_tokens": 4096, "json_schema": False}),
    (re.compile(r"claude-(2|instant)"), {"output_tokens": 4096, "json_schema": False}),
    (  # those from 4.6 on refuse to
        re.compile(r"^claude-([23]|instant|(opus|sonnet|haiku)-4(-[015](\D|$)|-\d{8}|@|$))"),
        {"continues": "plain"},
    ),
    (re.compile(r"claude-3-[57]-"), {"json_schema": False}),
    (re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)-"), {"output_tokens": 32_000}),
    (re.compile(r"claude-(opus|sonnet)-4(-0|-\d{8}|$)"), {"json_schema": False}),
    (
        re.compile(r"claude-(?![23]|instant|(opus|sonnet|haiku)-4([-.][0-6](\D|$)|-\d{8}|@|$))"),
        {"temperature": False},
    ),
    (
        re.compile(r"(^|/)gemini-(2\.5|[3-9]|(flash|pro)\S*-latest)(?!.*(image|tts|live|audio))"),
        {"thoughts": True},
    ),
    (re.compile(r"(^|/)gemini-([3-9]|(flash|pro)\S*-latest)"), {"call_signatures": True}),
    (re.compile(r"(^|/)(deepseek-reasoner|deepseek-r1)"), {"temperature": False}),
)


def profile_for(base: Profile, model: str, quirks: dict[str, Any]) -> Profile:
    """`base` is the vendor's; what is known of `model` and the owner's `quirks` go on top."""
    known: dict[str, Any] = {}
    for pattern, changes in _MODELS:
        if pattern.search(model.lower()):
            known |= changes
    return with_quirks(base, known | quirks)


def with_quirks(base: Profile, quirks: dict[str, Any]) -> Profile:
    """Raises `msgspec.ValidationError` for a wrong value; names that are no quirks are ignored."""
    if not quirks:
        return base
    return msgspec.convert(msgspec.structs.asdict(base) | quirks, Profile)
