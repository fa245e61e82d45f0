"""Every error as an answer: the status of its type, the words in the reader's language."""

from __future__ import annotations

import logging
import math
import re
from typing import Any, cast

from litestar import MediaType, Response
from litestar import Request as AnyRequest
from litestar.exceptions import HTTPException, ValidationException

from teahouse.core import errors, i18n
from teahouse.core.codec import encode
from teahouse.core.disk import NO_ROOM
from teahouse.core.i18n import Language
from teahouse.server.answers import Failed, Failure

log = logging.getLogger(__name__)

STATUS: dict[type[errors.TeahouseError], int] = {
    errors.Invalid: 400,
    errors.Unauthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.TooManyAttempts: 429,
    errors.StorageFull: 507,
    errors.SettingsError: 400,
    errors.ModelFileError: 502,
    errors.ProviderError: 502,
}
STATUS_OF_CODE = {
    "media_type": 415,
    "body_packed": 415,
    "body_too_slow": 408,
    "wrong_method": 405,
}
_MISSING = re.compile(r"^Missing required \w+ parameter '(.*?)'")
GONE = "client disconnected prematurely"  # the framework's words; no fault of ours


def answer(request: AnyRequest[Any, Any, Any], error: Exception) -> Response[bytes]:
    known = known_error(error)
    house = request.app.state.house
    language = reader_language(request.headers.get("accept-language"), house.language)
    return Response(
        encode(failure(known, language)),
        status_code=status_of(known),
        headers=headers_of(known, error),
        media_type=MediaType.JSON,
    )


def known_error(error: Exception) -> errors.TeahouseError:
    """Any exception as one of ours; what we do not know is logged in full and told as a bug."""
    match error:
        case errors.TeahouseError():
            return error
        case ValidationException():
            return _wrong_parameter(error)
        case HTTPException() if error.status_code < 500 or error.detail == GONE:
            return _of_framework(error)
        case OSError() if error.errno in NO_ROOM:
            return errors.StorageFull("storage_full")
        case _:
            log.error("A request failed", exc_info=error)
            return errors.TeahouseError("internal")


def _of_framework(error: HTTPException) -> errors.TeahouseError:
    match error.status_code:
        case 404:
            return errors.NotFound("no_such_page")
        case 405:
            return errors.Invalid("wrong_method")
        case 413:
            return errors.TooLarge("body_too_large")
        case _:
            return errors.Invalid("bad_request", detail=error.detail)


def failure(error: errors.TeahouseError, language: Language) -> Failed:
    problem = error.problem(language)
    return Failed(
        error=Failure(
            code=problem.code,
            message=problem.message,
            hint=problem.hint,
            retryable=problem.retryable,
        )
    )


def status_of(error: errors.TeahouseError) -> int:
    if error.code in STATUS_OF_CODE:
        return STATUS_OF_CODE[error.code]
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def headers_of(error: errors.TeahouseError, cause: Exception | None = None) -> dict[str, str]:
    headers = {"cache-control": "no-store"}
    wait = getattr(error, "retry_after_s", None)
    if wait is not None:
        headers["retry-after"] = str(math.ceil(wait))
    if status_of(error) == 401:
        headers["www-authenticate"] = "Bearer"
    if isinstance(cause, HTTPException) and cause.headers:
        headers |= {name.lower(): value for name, value in cause.headers.items()}
    return headers


def reader_language(accept: str | None, house: Language) -> Language:
    """The best of our languages in an Accept-Language header, else the house's."""
    best, weight = house, 0.0
    for item in (accept or "").split(","):
        tag, _, parameters = item.strip().partition(";")
        language = i18n.match(tag)
        quality = _quality(parameters)
        if language is not None and quality > weight:
            best, weight = language, quality
    return best


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def _wrong_parameter(error: ValidationException) -> errors.Invalid:
    extra = cast("list[dict[str, Any]]", error.extra) if isinstance(error.extra, list) else []
    first = extra[0] if extra else {}
    if missing := _MISSING.search(error.detail):
        return errors.Invalid("parameter_missing", name=missing[1])
    if first.get("key") in ("data", None) or first.get("source") == "body":
        return errors.Invalid("body_missing")
    return errors.Invalid("parameter_wrong", name=first["key"], detail=first.get("message", ""))
