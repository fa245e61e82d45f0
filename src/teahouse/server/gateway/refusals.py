"""Every error as the clients of the gateway expect it: a status of its own, and a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teahouse.core import errors
from teahouse.core.i18n import Language
from teahouse.llm import errors as llm
from teahouse.server.errors import STATUS_OF_CODE, reader_language, status_of
from teahouse.server.gateway.dialect import Refusal

KINDS: Final[dict[type[errors.TeahouseError], tuple[int, str]]] = {
    errors.Unauthenticated: (401, "authentication"),
    errors.NotAllowed: (403, "permission"),
    errors.NotFound: (404, "not_found"),
    errors.TooLarge: (413, "too_large"),
    errors.TooManyAttempts: (429, "rate_limit"),
    errors.Invalid: (400, "invalid_request"),
    errors.SettingsError: (400, "invalid_request"),
    llm.NoSuchModel: (404, "not_found"),
    llm.NoModelChosen: (404, "not_found"),
    llm.BudgetSpent: (429, "quota"),
    llm.BudgetUnpriced: (429, "quota"),
    llm.QuotaExceeded: (429, "quota"),
    llm.RateLimited: (429, "rate_limit"),
    llm.Busy: (429, "rate_limit"),
    llm.Overloaded: (503, "overloaded"),
    llm.Resting: (503, "overloaded"),
    llm.ContextTooLong: (400, "context_too_long"),
    llm.ContentFiltered: (400, "content_filter"),
    llm.RequestRefused: (400, "invalid_request"),
    llm.NotOffered: (400, "invalid_request"),
    llm.TimedOut: (504, "timeout"),
    errors.ProviderError: (502, "upstream"),
}


def refusal_for(
    error: errors.TeahouseError, headers: Mapping[str, str], house: Language
) -> Refusal:
    """In the language of the one who asked, else of the house."""
    return refusal_of(error, reader_language(headers.get("accept-language"), house))


def refusal_of(error: errors.TeahouseError, language: Language) -> Refusal:
    """The kind of the nearest ancestor; what is none of them is our own fault."""
    known = (KINDS[kind] for kind in type(error).__mro__ if kind in KINDS)
    status, kind = next(known, (max(status_of(error), 500), "internal"))
    status = STATUS_OF_CODE.get(error.code, status)
    if isinstance(error, llm.RequestRefused) and error.status == 404:
        status, kind = 404, "not_found"  # that is how vendors say that a model is none of theirs
    problem = error.problem(language)
    said = errors.told(problem.message, problem.hint)
    return Refusal(status=status, kind=kind, code=problem.code, message=said)
