"""Rules, what tools say of themselves, and grants: the table of what may be done."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from teahouse.agent.permission import (
    LONGEST,
    Call,
    Decision,
    Grant,
    Judged,
    Rule,
    Traits,
    check_rules,
    decide,
    granted_by,
    rule_of,
)
from teahouse.core.errors import Invalid

NOW = datetime(2026, 11, 30, tzinfo=UTC)
READ = Traits(effect="read", is_declared=True, is_wary=False)
WRITE = Traits(effect="write", is_declared=True, is_wary=False)
SEND = Traits(effect="external", is_declared=True)
UNKNOWN = Traits()


def call(traits: Traits, judged: Judged | None = None, **arguments: Any) -> Call:
    return Call(tool="send", arguments=arguments, traits=traits, judged=judged)


def grant(**fields: Any) -> Grant:
    return Grant(id="g_1", agent="a_1", person="u_1", tool="send", created_at=NOW, **fields)


def asked(
    one: Call, rules: dict[str, Rule] | None = None, *grants: Grant, foreign: bool = False
) -> Decision:
    return decide(one, rules or {}, grants, has_read_foreign=foreign, now=NOW)


@pytest.mark.parametrize(
    ("traits", "decision"),
    [
        (READ, Decision("allow", "read")),
        (WRITE, Decision("allow", "write")),
        (SEND, Decision("ask", "external")),
        (UNKNOWN, Decision("ask", "undeclared")),
    ],
)
def test_what_a_tool_does_decides_where_no_rule_does(traits: Traits, decision: Decision) -> None:
    assert asked(call(traits)) == decision


@pytest.mark.parametrize("rule", ["allow", "ask", "deny"])
def test_a_rule_comes_before_what_is_usual(rule: Rule) -> None:
    for traits in (READ, WRITE, SEND, UNKNOWN):
        assert asked(call(traits), {"send": rule}) == Decision(rule, "rule")


def test_the_rule_that_fits_most_closely_counts() -> None:
    rules: dict[str, Rule] = {"*": "deny", "mcp__*": "ask", "mcp__mail__*": "deny", "now": "allow"}

    assert rule_of("now", rules) == "allow"
    assert rule_of("now2", rules) == "deny"
    assert rule_of("mcp__time__now", rules) == "ask"
    assert rule_of("mcp__mail__send", rules) == "deny"
    assert rule_of("now", {"mcp__*": "deny"}) is None


def test_neither_a_grant_nor_a_rule_overrules_what_is_denied() -> None:
    refused = Judged(rule="deny", reason="destroys", words=("rm", "-rf", "/"))

    assert asked(call(SEND), {"send": "deny"}, grant()).rule == "deny"
    assert asked(call(WRITE, refused), {"send": "allow"}, grant()) == Decision("deny", "destroys")


@pytest.mark.parametrize(
    ("given", "words", "fits"),
    [
        ({}, (), True),
        ({"arguments": {"b": 2, "a": "1"}}, (), True),
        ({"arguments": {"a": "1"}}, (), False),
        ({"arguments": {"a": "1", "b": 2.5}}, (), False),
        ({"words": ("git", "status", "*")}, ("git", "status", "-s"), True),
        ({"words": ("git", "status", "*")}, ("git", "status"), True),
        ({"words": ("git", "status")}, ("git", "status"), True),
        ({"words": ("git", "status")}, ("git", "status", "-s"), False),
        ({"words": ("git", "status", "*")}, ("git", "push"), False),
        ({"words": ("git", "*")}, ("git ", "status"), False),
        ({"words": ("git", "*")}, (), False),  # a pipe, say: it has no words
        ({"words": ("*",)}, ("git",), False),
        ({"until": NOW}, (), False),
        ({"until": NOW + timedelta(seconds=1)}, (), True),
    ],
)
def test_a_grant_holds_for_what_it_names_and_nothing_else(
    given: dict[str, Any], words: tuple[str, ...], fits: bool
) -> None:
    judged = Judged(rule="ask", reason="unknown_program", words=words) if words else None
    one = call(SEND, judged, a="1", b=2)

    assert asked(one, None, grant(**given)).rule == ("allow" if fits else "ask")


def test_who_has_read_foreign_words_is_asked_again_before_reaching_out() -> None:
    exact = grant(arguments={"a": "1"})
    for rules in ({}, {"send": "allow"}):
        assert asked(call(SEND, a="1"), rules, foreign=True) == Decision("ask", "foreign")
        assert asked(call(SEND, a="1"), rules, grant(), foreign=True).reason == "foreign"
        assert asked(call(SEND, a="1"), rules, exact, foreign=True).rule == "allow"
        assert asked(call(SEND, a="2"), rules, exact, foreign=True).rule == "ask"
    assert asked(call(READ), foreign=True).rule == asked(call(WRITE), foreign=True).rule == "allow"
    looks = Judged(rule="allow", reason="harmless", effect="read")
    assert asked(call(SEND, looks), foreign=True).rule == "allow"
    makes = Judged(rule="allow", reason="harmless", effect="write")
    assert asked(call(SEND, makes), foreign=True).reason == "foreign"


def test_what_is_too_long_to_read_cannot_be_approved() -> None:
    long = {"text": "x" * LONGEST}

    assert asked(call(SEND, **long)) == Decision("deny", "too_long")
    assert asked(call(SEND, **long), {"send": "allow"}).rule == "allow"


@pytest.mark.parametrize("pattern", ["", "a b", "*x", "mcp__*__x", "工具", "x" * 129, "\u202e"])
def test_a_rule_is_for_a_name_or_for_a_beginning(pattern: str) -> None:
    with pytest.raises(Invalid):
        check_rules({pattern: "deny"})
    check_rules({"*": "ask", "mcp__*": "ask", "mcp__a-b.c__d": "deny", "now": "allow"})


def test_a_grant_is_given_on_the_call_that_was_asked_about() -> None:
    words = ("git", "commit", "-m", "x")

    assert granted_by(None, {"a": 1}, words) == ({"a": 1}, ())
    assert granted_by(["*"], {"a": 1}, None) == (None, ())
    assert granted_by(["git", "*"], {}, words) == (None, ("git", "*"))
    wrong = [(["*"], words), (["*"], ()), (["rm", "*"], words), ([], words), (["git", "*"], None)]
    for pattern, offered in wrong:
        with pytest.raises(Invalid):
            granted_by(pattern, {}, offered)
