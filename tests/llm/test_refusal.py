"""What an endpoint's refusal means, whoever words it."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from teahouse.llm import errors
from teahouse.llm.refusal import refusal_in, refusal_of, retry_after

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def refused(status: int, body: object, **headers: str) -> errors.EndpointError:
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return refusal_of("acme", status, headers, data, NOW)


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> object:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> object:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"}


def google(code: int, status: str, message: str) -> object:
    return {"error": {"code": code, "message": message, "status": status}}


LOW = "Your credit balance is too low to access the Anthropic API."


@pytest.mark.parametrize(
    ("error", "found"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, errors.Overloaded),
        ({"type": "api_error", "message": "Internal server error"}, errors.Overloaded),
        ({"type": "timeout_error", "message": "Request timed out"}, errors.Overloaded),
        ({"type": "rate_limit_error", "message": "slow down"}, errors.RateLimited),
        ({"type": "authentication_error", "message": "no"}, errors.AuthenticationFailed),
        ({"type": "permission_error", "message": "not yours"}, errors.AuthenticationFailed),
        ({"type": "billing_error", "message": "no"}, errors.QuotaExceeded),
        ({"type": "not_found_error", "message": "model: x"}, errors.RequestRefused),
        ({"type": "request_too_large", "message": "larger than 32 MB"}, errors.RequestRefused),
        (
            {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"},
            errors.ContextTooLong,
        ),
        ({"type": "invalid_request_error", "message": "messages.0: wrong"}, errors.RequestRefused),
        ({"code": "server_error", "message": "The server had an error"}, errors.Overloaded),
        ({"code": "rate_limit_exceeded", "message": "slow down"}, errors.RateLimited),
        ({"code": "insufficient_quota", "message": "pay"}, errors.QuotaExceeded),
        ({"code": "context_length_exceeded", "message": "too long"}, errors.ContextTooLong),
        (
            {"code": "invalid_prompt", "message": "against our usage policy"},
            errors.ContentFiltered,
        ),
        ({"code": "bio_policy", "message": "no"}, errors.ContentFiltered),
        ({"code": "image_content_policy_violation", "message": "no"}, errors.ContentFiltered),
        ({"code": "vector_store_timeout", "message": "late"}, errors.Overloaded),
        ({"code": "invalid_image", "message": "no picture"}, errors.RequestRefused),
        ({"code": "image_too_large", "message": "no"}, errors.RequestRefused),
    ],
)
def test_an_error_inside_a_stream_is_known_by_its_type_or_code(
    error: dict[str, str], found: type[errors.EndpointError]
) -> None:
    assert type(refusal_in("acme", error)) is found


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, openai("Incorrect API key provided", "invalid_api_key"), errors.AuthenticationFailed),
        (403, openai("You may not use this model"), errors.AuthenticationFailed),
        (
            429,
            openai("You exceeded your current quota", "insufficient_quota"),
            errors.QuotaExceeded,
        ),
        (402, {"error": {"message": "Insufficient Balance"}}, errors.QuotaExceeded),
        (403, {"error": {"message": "您的账户余额不足"}}, errors.QuotaExceeded),
        (429, openai("Rate limit reached for gpt", "rate_limit_exceeded"), errors.RateLimited),
        (429, b"", errors.RateLimited),
        (
            400,
            openai("This model's maximum context length is 8192 tokens", "context_length_exceeded"),
            errors.ContextTooLong,
        ),
        (413, {"error": {"message": "prompt is too long: 9 tokens > 8"}}, errors.ContextTooLong),
        (
            400,
            {"error": {"code": 400, "message": "the request exceeds the available context size"}},
            errors.ContextTooLong,
        ),
        (400, openai("blocked", "content_filter"), errors.ContentFiltered),
        (400, {"code": "data_inspection_failed", "message": "no"}, errors.ContentFiltered),
        (400, google(400, "INVALID_ARGUMENT", "API key not valid."), errors.AuthenticationFailed),
        (400, google(400, "INVALID_ARGUMENT", "No such field: x"), errors.RequestRefused),
        (403, google(403, "PERMISSION_DENIED", "no"), errors.AuthenticationFailed),
        (503, google(503, "UNAVAILABLE", "The model is overloaded."), errors.Overloaded),
        (429, [google(429, "RESOURCE_EXHAUSTED", "Please retry in 34.07s.")], errors.RateLimited),
        (
            400,
            google(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            errors.ContextTooLong,
        ),
        (404, {"error": 'model "x" not found, try pulling it first'}, errors.RequestRefused),
        (400, openai("Unknown parameter: 'x'"), errors.RequestRefused),
        (400, openai("Names are case-sensitive: safety_settings"), errors.RequestRefused),
        (404, openai("The model `x` does not exist", "model_not_found"), errors.RequestRefused),
        (422, {"detail": [{"loc": ["body"], "msg": "extra"}]}, errors.RequestRefused),
        (404, b"<!doctype html><title>Not found</title>", errors.Malformed),
        (500, openai("boom", kind="server_error"), errors.Overloaded),
        (502, b"<html><head><title>502 Bad Gateway</title></head></html>", errors.Overloaded),
        (503, b"upstream connect error", errors.Overloaded),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, errors.Overloaded),
        (400, anthropic("billing_error", "no"), errors.QuotaExceeded),
        (400, anthropic("invalid_request_error", LOW), errors.QuotaExceeded),
        (413, anthropic("request_too_large", "larger than 32 MB"), errors.RequestRefused),
        (403, anthropic("permission_error", "not yours"), errors.AuthenticationFailed),
        (302, b"", errors.RequestRefused),
    ],
)
def test_status_and_words_give_the_right_error(
    status: int, body: object, kind: type[errors.EndpointError]
) -> None:
    assert type(refused(status, body)) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "quota exceeded", "type": "insufficient_quota"}, errors.QuotaExceeded),
        ({"message": "overloaded", "code": 529}, errors.Overloaded),
        ({"message": "slow down", "code": "429"}, errors.RateLimited),
        ({"message": "Too Many Requests"}, errors.RateLimited),
        ({"message": "invalid api key"}, errors.AuthenticationFailed),
        ({"message": "invalid value for top_p"}, errors.RequestRefused),
        ({"message": "context length exceeded"}, errors.ContextTooLong),
        ("STREAM_EXPLODED", errors.Overloaded),
        ({"code": None}, errors.Overloaded),
        (["odd"], errors.Overloaded),
    ],
)
def test_an_error_inside_a_stream_is_read_the_same_way(
    error: object, kind: type[errors.EndpointError]
) -> None:
    assert type(refusal_in("acme", error)) is kind


def test_the_words_of_the_endpoint_reach_the_person() -> None:
    said = refused(429, openai("You exceeded your current quota", "insufficient_quota"))

    assert said.problem().message == (
        "The account at acme has no quota left. You exceeded your current quota"
    )


def test_a_web_page_is_named_and_not_quoted() -> None:
    said = refused(502, b"<html><head><title>502\n Bad Gateway</title></head><body>...</html>")

    assert said.values["detail"] == "502 Bad Gateway"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "7", "retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wish_to_be_left_alone_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_quota_that_comes_back_soon_is_a_rate_limit() -> None:
    said = refused(429, openai("You exceeded your current quota"), **{"Retry-After": "3"})

    assert isinstance(said, errors.RateLimited)
    assert said.retry_after_s == 3


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 7.66s.", 7.66),
        ("Rate limit reached. Please try again in 300ms.", 0.3),
        ("Please try again in 1m7s.", 67.0),
        ("You exceeded your current quota. Please retry in 34.07s.", 34.07),
        ("Please try again in a while", None),
    ],
)
def test_a_wait_that_is_only_said_is_heard(words: str, seconds: float | None) -> None:
    said = refused(429, openai(words))

    assert isinstance(said, errors.RateLimited)
    assert said.retry_after_s == seconds


def test_no_wait_is_promised_for_what_waiting_does_not_help() -> None:
    assert refused(401, b"", **{"Retry-After": "3"}).retry_after_s is None
