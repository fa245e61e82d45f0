"""A command line as a turn's guard sees it: what is to happen, and which words may be granted."""

from __future__ import annotations

import re
from typing import Final

from teahouse.agent.permission import Judged
from teahouse.tools.commands import judge
from teahouse.tools.shell_words import read_script

# With further words these run whatever they are told: only the very same line can be granted.
_RUNS_OTHERS: Final = re.compile(
    r"(ba|da|z|k|fi|c|tc)?sh|(python|perl|ruby|node|lua|php|deno|bun|[gmn]?awk|sed|find|fd)[\d.]*"
    r"|parallel|env|command|exec|eval|source|\.|sudo|su|doas|nice|nohup|timeout|time|watch"
    r"|xargs|setsid|stdbuf|busybox|make|npm|npx|pnpm|yarn|uvx?|pipx?|cargo|go|git|tar|rsync|ssh|scp"
    r"|curl|wget|docker|podman|kubectl|vim?|ed|ex|man|less|more|tee|dd"
)


def judged(command: str) -> Judged:
    match judge(command):
        case "run":
            return Judged(rule="allow", reason="harmless", effect="read")
        case "ask":
            return Judged(rule="ask", reason="command", words=_words(command))
        case "deny":
            return Judged(rule="deny", reason="destroys")


def _words(command: str) -> tuple[str, ...]:
    """Those of one plain command that runs no other; else none."""
    script = read_script(command.strip(" \t\n"))
    if not script.plain or len(script.commands) != 1:
        return ()
    one = script.commands[0]
    words = tuple(word.text for word in one.words)
    if one.targets or any(word.pattern for word in one.words) or not words:
        return ()
    program = words[0].rpartition("/")[2]
    return () if _RUNS_OTHERS.fullmatch(program) else words
