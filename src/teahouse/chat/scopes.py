"""What a key may do, in words: none means whatever its person may, else nothing that none names.

`api` is all of REST, the socket and the streams; `models` every model of every provider, and every
alias; `agents` every agent that its person may talk to; `metrics` the figures for a monitor.
`agent/NAME`, `PROVIDER/MODEL`, `PROVIDER/*` and an alias are what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from teahouse.core.errors import Invalid, NotAllowed
from teahouse.core.names import clean_name, folded

WORDS: Final = frozenset({"api", "models", "agents", "metrics"})
AGENT: Final = "agent/"
MAX_SCOPES, MAX_LENGTH = 64, 200


def parse(given: Sequence[str]) -> tuple[str, ...]:
    """The scopes as they are kept, each once; raises `Invalid` for what is none."""
    if len(given) > MAX_SCOPES:
        raise Invalid("scopes_too_many", count=len(given), limit=MAX_SCOPES)
    return tuple(dict.fromkeys(map(_scope, given)))


def may_use_api(scopes: Sequence[str]) -> bool:
    return not scopes or "api" in scopes


def may_use_metrics(scopes: Sequence[str]) -> bool:
    return not scopes or "metrics" in scopes


def may_use_model(scopes: Sequence[str], name: str) -> bool:
    """`name` as clients of the gateway write it: `provider/model`, an alias, or `agent/NAME`."""
    if not scopes:
        return True
    agent = _agent(name)
    if agent is not None:
        return "agents" in scopes or agent in map(_agent, scopes)
    if "models" in scopes:
        return True
    provider, slash, model = name.partition("/")
    if not slash:
        return name in scopes and name not in WORDS  # an alias may be called like one of ours
    return bool(model) and (name in scopes or f"{provider}/*" in scopes)


def refused(scopes: Sequence[str], needed: str) -> NotAllowed:
    """The error for a key whose scopes do not reach; `needed` is the scope that would."""
    return NotAllowed("key_out_of_scope", scopes=", ".join(scopes), needed=needed)


def agent_names(scopes: Sequence[str]) -> Sequence[str]:
    return [scope.removeprefix(AGENT) for scope in scopes if scope.startswith(AGENT)]


def aliases(scopes: Sequence[str]) -> Sequence[str]:
    return [scope for scope in scopes if "/" not in scope and scope not in WORDS]


def _agent(name: str) -> str | None:
    """The agent that is meant, in the form in which names are compared."""
    head, slash, rest = name.partition("/")
    return folded(rest) if slash and folded(head) == "agent" else None


def _scope(given: str) -> str:
    scope = given.strip()
    provider, slash, model = scope.partition("/")
    if _agent(scope):
        return AGENT + clean_name(model)
    wild = "*" in scope and (model != "*" or "*" in provider)
    halves = provider and (model or not slash)
    if not halves or wild or len(scope) > MAX_LENGTH or not scope.isprintable():
        raise Invalid("scope_wrong", scope=ascii(given)[1:-1][:MAX_LENGTH])
    return scope
