"""Whether a tool call may be made: an agent's rules, what the tool may do, and what was granted.

Pure, and closed where nothing is known: a tool of which nobody has said what it does asks first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import Struct

from teahouse.core.errors import Invalid
from teahouse.core.events import Effect
from teahouse.core.messages import AgentId, JsonObject, PersonId
from teahouse.llm.tool import Tool

Rule: TypeAlias = Literal["allow", "ask", "deny"]
Rules: TypeAlias = Mapping[str, Rule]
"""By a tool's name, or by how names begin: `mcp__*`. The one that fits most closely counts."""

USUAL: Final[Mapping[Effect, Rule]] = {"read": "allow", "write": "allow", "external": "ask"}
REST: Final = "*"  # at the end of a pattern: whatever follows
MAX_RULES, MAX_NAME, MAX_WORDS = 256, 128, 32
LONGEST: Final = 20_000  # characters of arguments: more than a person can be expected to read

_sorted = msgspec.json.Encoder(order="sorted")


class Judged(Struct, frozen=True, kw_only=True):
    """What a tool thinks of one call of its own. `words` are those of a plain command, which may
    become a pattern; none where it is a pipe, say, or starts another interpreter."""

    rule: Rule
    reason: str
    effect: Effect = "write"
    words: tuple[str, ...] = ()


@runtime_checkable
class Judging(Protocol):
    """A tool whose calls differ in what they may do: one that runs commands."""

    def judge(self, arguments: JsonObject, /) -> Judged: ...


class Traits(Struct, frozen=True, kw_only=True):
    """What a tool says of itself. `is_foreign`: what it returns was written by others. `is_wary`:
    once such text was read it asks, since that may be whose wish it is."""

    effect: Effect = "external"
    is_declared: bool = False
    is_foreign: bool = False
    is_wary: bool = True


class Grant(Struct, frozen=True, kw_only=True):
    """A person's answer that holds for more calls of an agent on their behalf: those with just
    these `arguments`, or commands of these `words`, or, with neither, all of the tool."""

    id: str  # g_…
    agent: AgentId
    person: PersonId
    tool: str
    created_at: datetime
    arguments: JsonObject | None = None
    words: tuple[str, ...] = ()
    until: datetime | None = None


class Call(Struct, frozen=True, kw_only=True):
    """A call as far as it matters here; `judged` where its tool has a word in it."""

    tool: str
    arguments: JsonObject
    traits: Traits
    judged: Judged | None = None

    @property
    def effect(self) -> Effect:
        return self.traits.effect if self.judged is None else self.judged.effect


class Decision(Struct, frozen=True):
    """`reason` is a code: what a person who is asked, or a model that is refused, gets to know."""

    rule: Rule
    reason: str


def traits_of(tool: Tool) -> Traits:
    declared: Effect | None = getattr(tool, "effect", None)
    effect = declared or "external"
    wary = effect == "external" or isinstance(tool, Judging)
    return Traits(
        effect=effect,
        is_declared=declared is not None,
        is_foreign=getattr(tool, "is_foreign", False),
        is_wary=getattr(tool, "is_wary", wary),
    )


def call_of(tool: Tool, arguments: JsonObject) -> Call:
    return Call(
        tool=tool.spec.name,
        arguments=arguments,
        traits=traits_of(tool),
        judged=tool.judge(arguments) if isinstance(tool, Judging) else None,
    )


def decide(
    call: Call, rules: Rules, grants: Iterable[Grant], *, has_read_foreign: bool, now: datetime
) -> Decision:
    """A rule that denies, or a tool that refuses its own call, is never overruled by a grant."""
    rule, judged = rule_of(call.tool, rules), call.judged
    if rule == "deny":
        return Decision("deny", "rule")
    if judged is not None and judged.rule == "deny":
        return Decision("deny", judged.reason)
    asked = _wanted(call, rule)
    looks_only = judged is not None and judged.effect == "read"
    if call.traits.is_wary and has_read_foreign and not looks_only:
        asked = Decision("ask", "foreign")
    if asked.rule == "ask":
        fitting = [grant for grant in grants if fits(grant, call, now)]
        if any(grant.arguments is not None or asked.reason != "foreign" for grant in fitting):
            return Decision("allow", "grant")
        if len(canonical(call.arguments)) > LONGEST:
            return Decision("deny", "too_long")
    return asked


def _wanted(call: Call, rule: Rule | None) -> Decision:
    if rule is not None:
        return Decision(rule, "rule")
    if call.judged is not None:
        return Decision(call.judged.rule, call.judged.reason)
    usual = USUAL[call.traits.effect]
    return Decision(usual, call.traits.effect if call.traits.is_declared else "undeclared")


def rule_of(tool: str, rules: Rules) -> Rule | None:
    """The rule that fits most closely: the name itself, else the longest beginning."""
    if tool in rules:
        return rules[tool]
    fitting = [
        pattern
        for pattern in rules
        if pattern.endswith(REST) and tool.startswith(pattern.removesuffix(REST))
    ]
    return rules[max(fitting, key=len)] if fitting else None


def usual_rule(tool: Tool) -> Rule:
    """What counts where no rule says otherwise; of a tool that judges, for a harmless call."""
    return "allow" if isinstance(tool, Judging) else USUAL[traits_of(tool).effect]


def check_rules(rules: Rules) -> None:
    """Raises `Invalid`."""
    if len(rules) > MAX_RULES:
        raise Invalid("rules_too_many", count=len(rules), limit=MAX_RULES)
    for pattern in rules:
        name = pattern.removesuffix(REST)
        plain = all(letter.isalnum() or letter in "_-." for letter in name) and name.isascii()
        if not plain or len(pattern) > MAX_NAME or not pattern:
            raise Invalid("rule_wrong", pattern=ascii(pattern)[1:-1][:MAX_NAME])


def fits(grant: Grant, call: Call, now: datetime) -> bool:
    if grant.tool != call.tool or (grant.until is not None and grant.until <= now):
        return False
    if grant.arguments is not None:
        return canonical(grant.arguments) == canonical(call.arguments)
    return not grant.words or _begins(call.judged.words if call.judged else (), grant.words)


def granted_by(
    pattern: Sequence[str] | None, arguments: JsonObject, words: tuple[str, ...] | None
) -> tuple[JsonObject | None, tuple[str, ...]]:
    """The arguments and words of a grant that is given on a call: `pattern` None means this call
    alone, `["*"]` all of the tool, other words commands like this one. `words` are None where the
    tool runs no commands. Raises `Invalid`."""
    if pattern is None:
        return arguments, ()
    if list(pattern) == [REST]:
        if words is not None:  # any command at all is for the agent's rules to allow
            raise Invalid("pattern_too_wide")
        return None, ()
    wanted = tuple(pattern)
    if not wanted or len(wanted) > MAX_WORDS or not _begins(words or (), wanted):
        raise Invalid("pattern_wrong")
    return None, wanted


def _begins(words: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not words:
        return False
    if pattern[-1] == REST:
        literal = pattern[:-1]
        return bool(literal) and words[: len(literal)] == literal
    return words == pattern


def canonical(arguments: JsonObject) -> str:
    """The same text for the same arguments, whatever their order."""
    return _sorted.encode(arguments).decode()
