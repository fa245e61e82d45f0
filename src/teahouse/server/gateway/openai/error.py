"""Errors as OpenAI's clients read them, whatever of its interfaces they use."""

from __future__ import annotations

from typing import Final

from teahouse.core.codec import encode
from teahouse.core.messages import JsonObject
from teahouse.server.gateway.dialect import Refusal

_TYPES: Final = {
    "authentication": "authentication_error",
    "permission": "permission_error",
    "rate_limit": "rate_limit_error",
    "quota": "insufficient_quota",
    "overloaded": "server_error",
    "timeout": "server_error",
    "upstream": "server_error",
    "internal": "server_error",
}  # every other one is the request's fault
_CODES: Final = {
    "authentication": "invalid_api_key",
    "rate_limit": "rate_limit_exceeded",
    "quota": "insufficient_quota",
    "context_too_long": "context_length_exceeded",
    "content_filter": "content_filter",
}  # by these clients decide what to do; elsewhere our own code says more
_MODEL: Final = frozenset({"no_such_model", "no_model", "provider_refused"})


def openai_error(refusal: Refusal) -> JsonObject:
    """`reason` is our own code, which OpenAI does not have. Some clients (LangChain) look for the
    code of a conversation that is too long in the message."""
    code = _CODES.get(refusal.kind, refusal.code)
    too_long = refusal.kind == "context_too_long"
    no_model = refusal.kind == "not_found" and refusal.code in _MODEL
    return {
        "error": {
            "message": f"{refusal.message} ({code})" if too_long else refusal.message,
            "type": _TYPES.get(refusal.kind, "invalid_request_error"),
            "param": None,
            "code": "model_not_found" if no_model else code,
            "reason": refusal.code,
        }
    }


def refuse(refusal: Refusal) -> bytes:
    return encode(openai_error(refusal))
