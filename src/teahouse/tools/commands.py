"""Judges a command line before a tool runs it: at once, after a question to a person, or never."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from teahouse.tools.destruction import destroys
from teahouse.tools.harmless import is_harmless
from teahouse.tools.shell_words import Word, read_script

Judgement: TypeAlias = Literal["run", "ask", "deny"]

LONGEST: Final = 2000
"""Characters of a command that a person can be expected to read to its end."""


def judge(command: str, grants: Iterable[str] = ()) -> Judgement:
    """`run` what a grant covers as one simple command, and what surely only reads in the workspace.

    A grant is compared word by word: exact, or with a last `*` for any further words. `deny` beats
    every grant.
    """
    if destroys(command):
        return "deny"
    line = command.strip(" \t\n")
    script = read_script(line)
    if not script.plain or len(line) > LONGEST:
        return "ask"
    if len(script.commands) == 1 and any(_covers(one, script.commands[0].words) for one in grants):
        return "run"
    return "run" if all(is_harmless(one.words) for one in script.commands) else "ask"


def _covers(grant: str, words: list[Word]) -> bool:
    script = read_script(grant.strip(" \t\n"))
    if not script.plain or len(script.commands) != 1:
        return False
    granted = script.commands[0].words
    if granted[-1] == Word("*", pattern=True):
        fixed = granted[:-1]
        return words[: len(fixed)] == fixed and not (words[0].pattern and not fixed)
    return words == granted
