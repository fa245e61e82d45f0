"""Each problem says whether trying again may help."""

from __future__ import annotations

import pytest

from teahouse.core.errors import (
    Invalid,
    NotFound,
    StorageFull,
    TeahouseError,
    TooManyAttempts,
    told,
)
from teahouse.llm.errors import (
    AuthenticationFailed,
    BudgetSpent,
    Busy,
    ContextTooLong,
    QuotaExceeded,
    Resting,
    StreamCut,
    TimedOut,
)


@pytest.mark.parametrize(
    ("error", "helps"),
    [
        (Invalid("model_name", model="x"), False),
        (NotFound("no_such_page"), False),
        (TooManyAttempts("too_many_attempts", retry_after_s=3), True),
        (StorageFull("storage_full"), True),
        (StreamCut("acme"), True),
        (TimedOut("acme", "idle", 60), True),
        (Resting("acme/m", 20), True),
        (Busy("acme", 30), True),
        (AuthenticationFailed("acme"), False),
        (QuotaExceeded("acme"), False),
        (ContextTooLong("acme"), False),
    ],
)
def test_a_problem_says_whether_trying_again_may_help(error: TeahouseError, helps: bool) -> None:
    assert error.problem().retryable is helps


def test_a_model_that_rests_is_not_tried_again_by_itself() -> None:
    assert not Resting("acme/m", 20).retryable


@pytest.mark.parametrize(
    ("message", "hint", "text"),
    [
        ("It is shut.", None, "It is shut."),
        ("It is shut.", "Open it.", "It is shut. Open it."),
        ("It is shut: no such host", "Open it.", "It is shut: no such host. Open it."),
        ("门关着。", "打开它。", "门关着。打开它。"),
        ("门关着：no such host", "打开它。", "门关着：no such host。打开它。"),
    ],
)
def test_message_and_hint_make_one_text(message: str, hint: str | None, text: str) -> None:
    assert told(message, hint) == text


def test_a_small_budget_is_not_rounded_to_nothing() -> None:
    assert BudgetSpent("key", 0.0005, 0.001).values["limit"] == "0.001"
