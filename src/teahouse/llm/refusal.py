"""What an endpoint's refusal means: status, code and words to one of `llm.errors`.

Vendors agree on none of the three alone, so the words decide before the code, and that before the
status. Everything that is said in a stream of status 200 comes through here as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import msgspec

from teahouse.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextTooLong,
    EndpointError,
    Malformed,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
)
from teahouse.llm.surrogates import mend

_CONTEXT = re.compile(
    r"context.?(length|window|size)|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|exceeds? the (available|maximum) (context|input|number of tokens)"
    r"|reduce the length of the|range of input length|max(imum)?.(input|prompt).(tokens|length)"
)
_QUOTA = re.compile(
    r"insufficient.?(quota|balance|funds|credit)|exceeded your current quota|quota.?exceeded"
    r"|credit balance|requires more credits|billing.?(hard|not.?active|error)|arrear|overdue"
    r"|余额不足|欠费"
)
_FILTER = re.compile(
    r"content.?(policy|filter)|moderation|data.?inspection|flagged|responsible.?ai"
    r"|safety (system|filter|polic)|sensitive (word|content|information)|敏感"
    r"|usage polic|(bio|cyber).policy|policy.violation"
)
_RATE = re.compile(r"rate.?limit|too many requests|resource.?exhausted|throttl|限流|频率")
_KEY = re.compile(
    r"(invalid|incorrect|wrong|no|missing).{0,12}api.?key|authenticat|unauthorized"
    r"|permission.(error|denied)"
)
_WRONG_KEY = re.compile(r"api.?key (not valid|not found|expired)|api_key_invalid")
_WAIT = re.compile(r"(?:retry|try again) (?:in|after) (?:(\d+)m)?([\d.]+)(ms|s)\b")
_LOAD = re.compile(r"overload|unavailable|internal|server.?error|busy|capacity|timeout")
_WRONG = re.compile(r"invalid|unsupported|not.?found|too.(large|small)")
_SHORT = 300
NOT_IMPLEMENTED = 501  # it will not be in a moment either
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def refusal_of(
    provider: str, status: int, headers: Mapping[str, str], body: bytes, now: datetime
) -> EndpointError:
    """The error behind an answer whose status is not 200."""
    error = _refusal_of(provider, status, headers, body, now)
    error.status = status
    return error


def _refusal_of(
    provider: str, status: int, headers: Mapping[str, str], body: bytes, now: datetime
) -> EndpointError:
    wait = retry_after(headers, now)
    if status in range(300, 400):
        return RequestRefused(provider, f"{status} → {headers.get('Location', '')}")
    page = is_page(body)
    if page is not None and status in {404, 405}:
        return Malformed(provider, f"{status} {page}".strip())
    words, code = (page, "") if page is not None else _words(body)
    if wait is None and status == 429:
        wait = _wait_in(words)
    return refusal(provider, words or str(status), code=code, status=status, retry_after_s=wait)


def refusal(
    provider: str,
    message: str,
    *,
    code: str = "",
    status: int | None = None,
    retry_after_s: float | None = None,
) -> EndpointError:
    """The error that `message` and `code` speak of, `status` where they leave it open."""
    kind = _kind(f"{code} {message}".lower(), status, waits=retry_after_s is not None)
    error = kind(provider, message[:_SHORT])
    if kind.retryable:
        error.retry_after_s = retry_after_s
    return error


def _kind(words: str, status: int | None, *, waits: bool) -> type[EndpointError]:
    asked_too_much = status in {None, 400, 413, 422, 500}
    if asked_too_much and _CONTEXT.search(words):
        return ContextTooLong
    if status == 402 or (_QUOTA.search(words) and not waits):
        return QuotaExceeded
    if status in {None, 400, 403, 451} and _FILTER.search(words):
        return ContentFiltered
    if status == 400 and _WRONG_KEY.search(words):  # Google's way
        return AuthenticationFailed
    return _by_status(status) if status is not None else _by_words(words)


def _by_status(status: int) -> type[EndpointError]:
    if status in {401, 403}:
        return AuthenticationFailed
    if status == 429:
        return RateLimited
    if status in {408, 409, 425} or (status >= 500 and status != NOT_IMPLEMENTED):
        return Overloaded
    return RequestRefused


def _by_words(words: str) -> type[EndpointError]:
    if _RATE.search(words):
        return RateLimited
    if _KEY.search(words):
        return AuthenticationFailed
    if _WRONG.search(words) and not _LOAD.search(words):
        return RequestRefused
    return Overloaded


def refusal_in(provider: str, error: object) -> EndpointError:
    """The error that an object, string or list inside a body or a stream speaks of."""
    message, code, status = _told(error)
    return refusal(provider, message, code=code, status=status)


def _words(body: bytes) -> tuple[str, str]:
    try:
        told = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body[:_SHORT].decode("utf-8", "replace").strip(), ""
    message, code, _ = _told(_error_in(told))
    return message, code


def _error_in(told: Any) -> object:
    if isinstance(told, list):  # Google wraps its error in an array
        items = cast("list[object]", told)
        return _error_in(items[0]) if items else ""
    if isinstance(told, dict):
        fields = cast("dict[str, object]", told)
        return fields.get("error") or fields
    return told


def _told(error: object) -> tuple[str, str, int | None]:
    """Message, code and HTTP status of an error object, wherever the vendor put them."""
    if not isinstance(error, dict):
        return str(error), "", None
    fields = cast("dict[str, Any]", error)
    message = next(
        (str(fields[key]) for key in ("message", "detail", "msg", "error") if fields.get(key)),
        msgspec.json.encode(mend(fields)).decode()[:_SHORT],
    )
    named = [fields.get(key) for key in ("code", "type", "status")]
    metadata = fields.get("metadata")
    if isinstance(metadata, dict):  # OpenRouter: what the vendor behind it said
        raw = cast("dict[str, Any]", metadata).get("raw")
        message = f"{message}: {raw}" if raw else message
    numbers = [int(n) for n in named if isinstance(n, int | str) and str(n).isdecimal()]
    status = next((n for n in numbers if n in range(400, 600)), None)
    return message, " ".join(str(name) for name in named if name), status


def _wait_in(words: str) -> float | None:
    """Some only say it: `Please try again in 1m7.5s`."""
    found = _WAIT.search(words.lower())
    if found is None:
        return None
    minutes, number, unit = found.groups()
    try:
        return int(minutes or 0) * 60 + float(number) / (1000 if unit == "ms" else 1)
    except ValueError:
        return None


def is_page(body: bytes) -> str | None:
    """The title, perhaps empty, when `body` is a web page and no answer of a model; else None."""
    start = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<?xml")):
        return None
    title = _TITLE.search(body)
    return b" ".join(title[1].split()).decode("utf-8", "replace")[:_SHORT] if title else "HTML"


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` as a number or a date."""
    for name, unit in (("retry-after-ms", 1000), ("Retry-After", 1)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        at = parsedate_to_datetime(headers.get("Retry-After", ""))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
