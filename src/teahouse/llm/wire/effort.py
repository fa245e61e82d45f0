"""How hard a model is to think: a word or a number of tokens, each put into the other."""

from __future__ import annotations

from typing import Final

from teahouse.llm.profiles import Profile
from teahouse.llm.provider import Effort, ModelRequest

_TOKENS: Final[dict[Effort, int]] = {
    "none": 0,
    "minimal": 512,
    "low": 2048,
    "medium": 8192,
    "high": 24_576,
    "xhigh": 32_768,
}
_RANKS: Final = {effort: rank for rank, effort in enumerate(_TOKENS)}


def wanted_effort(request: ModelRequest) -> Effort | None:
    """What the request says, or what comes nearest to the tokens that it allows."""
    if request.effort is not None or request.thinking_tokens is None:
        return request.effort
    for effort, most in _TOKENS.items():
        if request.thinking_tokens <= most:
            return effort
    return "xhigh"


def effort_of(request: ModelRequest, profile: Profile) -> Effort | None:
    """The wish as the nearest level that the model knows, the higher one of two; None where
    nothing is wished or the model cannot be told."""
    wanted = wanted_effort(request)
    if wanted is None or not profile.thinks or not profile.efforts:
        return None
    rank = _RANKS[wanted]
    return min(profile.efforts, key=lambda known: (abs(_RANKS[known] - rank), -_RANKS[known]))


def budget_of(request: ModelRequest, profile: Profile) -> int | None:
    """The wish as a number of tokens, 0 for no thoughts; None as in `effort_of`."""
    wanted = wanted_effort(request)
    if wanted is None or not profile.thinks:
        return None
    if wanted == "none":
        return 0
    if request.thinking_tokens:
        return request.thinking_tokens
    effort = effort_of(request, profile)
    return _TOKENS[wanted if effort is None else effort] or _TOKENS["low"]


def most_thoughts(request: ModelRequest) -> int:
    """What the wish may add to the longest reply, where a dialect counts thoughts beside it."""
    wanted = wanted_effort(request)
    if wanted is None or wanted == "none":
        return 0
    return max(request.thinking_tokens or _TOKENS[wanted], _TOKENS["low"])
