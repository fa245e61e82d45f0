"""Quirks of endpoints and models, as data: what a dialect leaves open, or a vendor does alone."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from teahouse.llm.provider import Effort

ChoiceWord: TypeAlias = Literal["none", "required", "one"]
EffortField: TypeAlias = Literal[
    "reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"
]


class Profile(Struct, frozen=True, kw_only=True):
    """How to speak to one model. The defaults suit an endpoint of which nothing is known."""

    tools: Literal["native", "schema"] = "native"
    """`schema`: the model emits no tool calls of its own, so they are asked for as JSON."""
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    """Whether it and `top_p` are accepted."""
    one_sampling: bool = False
    """Whether only one of these two is (`anthropic`); then it is the temperature."""
    stop: bool = True
    """Whether texts that end the reply are accepted."""
    seed: str | None = "seed"
    """The field of that number; None where it is refused."""
    tool_choices: tuple[ChoiceWord, ...] = ("none", "required", "one")
    """What may be said of how tools are chosen, beside `auto`."""
    parallel_calls: bool = True
    """Whether it may be said that a reply calls one tool at most."""
    thinks: bool = True
    """Whether the model may be told how hard to think; else the wish is left out."""
    effort: EffortField | None = None
    """The field that says how hard (`openai_chat`); None: nothing is sent, since many refuse it."""
    efforts: tuple[Effort, ...] = ("low", "medium", "high")
    """The levels that the model knows; a wish becomes the nearest of them."""
    thinking: Literal["budget", "effort", "always"] = "budget"
    """Whether it is told in tokens (`anthropic`, `gemini`; `ollama`: yes or no) or by a level;
    `always`: by a level, and it cannot be turned off."""
    thinking_off: Literal["disabled", "between_tools"] | None = None
    """What turns thoughts off in a model that thinks unless it is told not to (`anthropic`)."""
    forced_thinks: bool = True
    """Whether it may think where it must call a tool; else it is told not to (`openai_chat`)."""
    thinking_budget: tuple[int, int] = (0, 24_576)
    """The fewest and the most tokens that may be said (`gemini`)."""
    include_usage: bool = True
    """Whether to ask for token counts; some refuse the question and report them unasked."""
    thoughts_apart: bool = False
    """Whether tokens of thoughts are counted beside those of the reply (`openai_chat`)."""
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
    pdf: bool = False
    """Whether papers may be sent too (`openai_chat`)."""
    audio: bool = False
    """Whether sounds may be (`openai_chat`)."""
    result_media: bool = False
    """Whether the result of a tool may hold pictures and papers (`gemini`)."""
    user_after_results: bool = True
    """Whether the user may speak right behind results, to show the files in them where results
    hold none; else the model reads their names (`openai_chat`)."""
    json_with_tools: bool = False
    """Whether a reply may be bound to JSON while tools are offered; else it comes as the arguments
    of one more tool (`gemini`)."""
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
_TO_HIGH: Final = ("minimal", "low", "medium", "high")
_NONE_TO_HIGH: Final = ("none", *_TO_HIGH)

_MODELS: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = (
    (
        re.compile(r"^(openai/)?(gpt-5|o[134])(?!.*chat)"),
        {"temperature": False, "max_tokens": "max_completion_tokens", "stop": False},
    ),
    (
        re.compile(r"^(openai/)?(gpt-[34]|chatgpt)"),
        {"encrypted_reasoning": False, "thinks": False},
    ),
    (re.compile(r"^(openai/)?gpt-(3|4(-|$))"), {"pdf": False}),
    (re.compile(r"^(openai/)?gpt-(4o-)?audio"), {"audio": True, "thinks": False}),
    (re.compile(r"^(openai/)?o[134](-|$)"), {"parallel_calls": False}),
    (re.compile(r"^(openai/)?gpt-5\S*chat"), {"thinks": False}),
    (re.compile(r"^(openai/)?gpt-5(-|$)"), {"efforts": _TO_HIGH}),
    (re.compile(r"^(openai/)?gpt-5\.1(-|$)"), {"efforts": ("none", "low", "medium", "high")}),
    (
        re.compile(r"^(openai/)?gpt-(5\.[2-9]|[6-9])"),
        {"efforts": ("none", "low", "medium", "high", "xhigh")},
    ),
    (re.compile(r"^(openai/)?gpt-5\S*codex"), {"efforts": ("low", "medium", "high")}),
    (
        re.compile(r"^(openai/)?gpt-5(\.[2-9]\S*codex|\S*codex-max)"),
        {"efforts": ("low", "medium", "high", "xhigh")},
    ),
    (re.compile(r"^(openai/)?gpt-5-pro"), {"efforts": ("high",)}),
    (re.compile(r"^(openai/)?gpt-5\.\d-pro"), {"efforts": ("medium", "high", "xhigh")}),
    (re.compile(r"gpt-oss"), {"effort": "reasoning_effort", "thinking": "always"}),
    (re.compile(r"grok-3-mini"), {"effort": "reasoning_effort", "efforts": ("low", "high")}),
    (re.compile(r"grok-(4\.[3-9](\D|$)|[5-9])"), {"effort": "reasoning_effort"}),
    (re.compile(r"grok-(3-mini|4|[5-9])"), {"stop": False}),
    (re.compile(r"(moonshot-v1|kimi-k2(-|$))|(^|/)glm-(3|4(v|-|$))"), {"thinks": False}),
    (re.compile(r"kimi-k2\.7"), {"thinks": False, "tool_choices": ("none",)}),  # it always thinks
    (
        re.compile(r"kimi-k3"),
        {
            "effort": "reasoning_effort",
            "efforts": ("low", "high"),
            "tool_choices": ("none", "required"),
            "forced_thinks": True,
        },
    ),
    (re.compile(r"claude-(2|instant|3-(opus|sonnet|haiku|5))"), {"thinks": False}),
    (re.compile(r"claude-(opus|sonnet|haiku)-4[-.][1-9](\D|$)"), {"one_sampling": True}),
    (  # 4.6 was the first that decides by itself how much
        re.compile(r"claude-(?![23]|instant|(opus|sonnet|haiku)-4([-.][0-5](\D|$)|-\d{8}|@|$))"),
        {"thinking": "effort"},
    ),
    (  # these think whatever one says, and cannot be made to call a tool
        re.compile(r"claude-(fable|mythos|opus-(5[-.][5-9](\D|$)|[6-9]))"),
        {"thinking": "always", "tool_choices": ("none",)},
    ),
    (re.compile(r"claude-((opus|sonnet)-5|haiku-5)"), {"thinking_off": "disabled"}),
    (
        re.compile(r"claude-sonnet-(5[-.][5-9](\D|$)|[6-9])"),
        {"thinking_off": "between_tools", "tool_choices": ("none",)},
    ),
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
        {"temperature": False, "efforts": ("low", "medium", "high", "xhigh")},
    ),
    (
        re.compile(r"(^|/)gemini-(2\.5|[3-9]|(flash|pro)\S*-latest)(?!.*(image|tts|live|audio))"),
        {"thoughts": True},
    ),
    (
        re.compile(r"(^|/)gemini-([3-9]|(flash|pro)\S*-latest)"),
        {"call_signatures": True, "thinking": "effort"}
        | {"result_media": True, "json_with_tools": True},
    ),
    (re.compile(r"(^|/)gemini-([3-9]\S*flash|flash\S*-latest)"), {"efforts": _TO_HIGH}),
    (re.compile(r"(^|/)gemini-2\.5-flash"), {"efforts": _NONE_TO_HIGH}),
    (re.compile(r"(^|/)gemini-2\.5-flash-lite"), {"thinking_budget": (512, 24_576)}),
    (
        re.compile(r"(^|/)gemini-2\.5-pro"),
        {"efforts": _TO_HIGH, "thinking_budget": (128, 32_768)},
    ),
    (re.compile(r"(^|/)(gemini-(1|2\.0)|gemma-[123])"), {"thinks": False}),
    (re.compile(r"(^|/)gemini-"), {"audio": True}),
    (
        re.compile(r"(^|[/.])((open-)?mi[sx]tral|ministral|magistral|devstral|codestral|pixtral)-"),
        {"user_after_results": False},
    ),
    (  # those of today that read text alone
        re.compile(r"gpt-oss|gpt-3|o[13]-mini|deepseek-(chat|reasoner|coder|r1|v[23])(?!.*ocr)"),
        {"vision": False},
    ),
    (
        re.compile(r"(^|/)(kimi-k2|glm-(3|4(\.[5-7])?|5(\.1)?)|qwen3-max|qwen-turbo)(-|$)"),
        {"vision": False},
    ),
    (re.compile(r"(^|/)(qwen\S*-coder|minimax-m[12])"), {"vision": False}),
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
