"""Faults of the line and of HTTP: refusals, silence, cuts, and statuses that are none of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teahouse.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextTooLong,
    Malformed,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    StreamCut,
    TimedOut,
)
from teahouse.testing.answers import DONE, Answer, chunk, frame, usage
from teahouse.testing.fault_kinds import (
    COUNTED,
    JSON,
    ONCE,
    SAID,
    START,
    TEA,
    WHOLE,
    Row,
    answers,
    bytewise,
    fails,
    page,
    raw,
    status,
)

OK: Final = b"HTTP/1.1 200 OK"
SSE: Final = b"Content-Type: text/event-stream"
LIVE: Final = chunk({})

CONNECTION: Final[Mapping[str, Row]] = {
    "closed_before_head": (
        "closes before the head",
        (StreamCut,),
        Answer(before=("cut",), steps=()),
    ),
    "reset_before_head": (
        "resets before the head",
        (StreamCut,),
        Answer(before=("reset",), steps=()),
    ),
    "garbage_for_head": (
        "speaks another protocol",
        (Malformed,),
        raw(b"SSH-2.0-tea", b""),
    ),
    "endless_header": (
        "sends a header of 64 KiB",
        (Malformed,),
        raw(OK, b"X-Long: " + b"a" * 65536, b"", b""),
    ),
    "early_hints": (
        "sends 103 before the answer",
        (None,),
        raw(b"HTTP/1.1 103 Early Hints", b"", OK, SSE, b"Connection: close", b"", ONCE),
    ),
    "head_bytewise": (
        "sends the head byte by byte",
        (None,),
        Answer(
            framing="raw",
            steps=(*bytewise(b"\r\n".join([OK, SSE, b"Connection: close", b"", b""])), ONCE),
        ),
    ),
    "broken_chunk_size": (
        "breaks the transfer encoding",
        (Malformed, StreamCut),
        raw(OK, SSE, b"Transfer-Encoding: chunked", b"", b"zz", START, b""),
    ),
    "length_too_long": (
        "promises more bytes than come",
        (None,),
        raw(OK, SSE, b"Content-Length: 99999", b"", ONCE),
    ),
    "length_too_short": (
        "promises fewer bytes than come",
        (StreamCut, Malformed),
        raw(OK, SSE, b"Content-Length: %d" % len(START), b"", ONCE),
    ),
    "closed_while_idle": (
        "closes a connection that was to be kept",
        (None,),
        Answer(steps=(*COUNTED, "cut")),
    ),
}

CUTS: Final[Mapping[str, Row]] = {
    "cut_after_head": fails("closes after the head", StreamCut, "cut"),
    "reset_after_head": fails("resets after the head", StreamCut, "reset"),
    "empty_body": fails("ends before any event", StreamCut),
    "cut_mid_stream": fails("closes between two events", StreamCut, *SAID, "cut"),
    "reset_mid_stream": fails("resets between two events", StreamCut, *SAID, "reset"),
    "cut_mid_event": (
        "closes inside an event",
        (StreamCut, Malformed),
        Answer(steps=(*SAID, TEA[:20], "cut")),
    ),
    "cut_mid_character": (
        "closes inside a character",
        (StreamCut, Malformed),
        Answer(steps=(*SAID, TEA[: TEA.index("茶".encode()) + 1], "cut")),
    ),
    "no_final_event": fails("ends properly, but without a final event", StreamCut, *SAID),
    "only_done": fails("says nothing but [DONE]", StreamCut, DONE),
    "no_done": answers("leaves out [DONE]", *WHOLE, usage(5, 4)),
    "cut_after_finish": answers("closes once the reply is whole", *WHOLE, "cut"),
    "reset_after_finish": answers("resets once the reply is whole", *WHOLE, "reset"),
    "half_json": fails(
        "sends half an object as an event", Malformed, *SAID, frame('{"choices": [{'), DONE
    ),
    "prose": fails("sends prose as an event", Malformed, frame("hello there"), DONE),
}

SILENT: Final[Mapping[str, Row]] = {
    "silent_accept": ("accepts and never answers", (TimedOut,), Answer(before=("hang",), steps=())),
    "silence_after_head": fails("is silent after the head", TimedOut, "hang"),
    "stall_mid_stream": fails("stalls in the middle", TimedOut, *SAID, "hang"),
    "stall_mid_event": fails("stalls inside an event", TimedOut, *SAID, TEA[:9], "hang"),
    "comments_only": fails(
        "sends comments for ever", TimedOut, *((b": ping\n\n", 0.02) * 500), "hang"
    ),
    "blank_lines_only": fails(
        "sends blank lines for ever", TimedOut, *((b"\n", 0.02) * 500), "hang"
    ),
    "endless_stream": fails(
        "never comes to an end", TimedOut, START, *((SAID[1], 0.02) * 500), "hang"
    ),
    "endless_liveness": fails(
        "sends empty chunks for ever", TimedOut, *((LIVE, 0.02) * 500), "hang"
    ),
    "stall_after_finish": answers("stalls once the reply is whole", *WHOLE, "hang"),
    "stall_after_done": answers("keeps the line open after [DONE]", *COUNTED, "hang"),
    "error_body_stalls": (
        "stalls inside an error body",
        (TimedOut,),
        Answer(status=500, steps=(b"{", "hang")),
    ),
}

STATUSES: Final[Mapping[str, Row]] = {
    "204": (
        "status 204, no body",
        (RequestRefused,),
        raw(b"HTTP/1.1 204 No Content", b"Connection: close", b"", b""),
    ),
    "redirect": (
        "points elsewhere",
        (RequestRefused,),
        Answer(status=307, headers={"Location": "https://example.com/"}, steps=()),
    ),
    "400": status(400, RequestRefused, "temperature is not supported"),
    "400_context": status(400, ContextTooLong, "This model's maximum context length is 8 tokens"),
    "400_filter": status(400, ContentFiltered, "flagged by our content policy"),
    "401": status(401, AuthenticationFailed),
    "402": status(402, QuotaExceeded),
    "403": status(403, AuthenticationFailed),
    "404": status(404, RequestRefused, "no such model"),
    "404_page": page(404, Malformed),
    "408": status(408, Overloaded),
    "409": status(409, Overloaded),
    "413": status(413, RequestRefused, "the body is large"),
    "422": status(422, RequestRefused, "field required"),
    "429": status(429, RateLimited),
    "429_zero": status(429, RateLimited, wait="0"),
    "429_seconds": status(429, RateLimited, wait="2"),
    "429_date": status(429, RateLimited, wait="Fri, 31 Dec 1999 23:59:59 GMT"),
    "429_huge": status(429, RateLimited, wait="99999999999"),
    "429_negative": status(429, RateLimited, wait="-5"),
    "429_nonsense": status(429, RateLimited, wait="soon"),
    "429_quota": status(429, QuotaExceeded, "You exceeded your current quota"),
    "500": status(500, Overloaded),
    "500_empty": ("status 500 without a body", (Overloaded,), Answer(status=500, steps=())),
    "502_page": page(502, Overloaded),
    "503": status(503, Overloaded, wait="1"),
    "504": status(504, Overloaded),
    "529": status(529, Overloaded, "overloaded_error"),
    "error_body_cut": (
        "closes inside an error body",
        (Overloaded, StreamCut),
        Answer(status=503, headers=JSON, steps=(b'{"error": {"mess', "cut")),
    ),
    "error_body_deep": (
        "an error body nested ten thousand deep",
        (Overloaded,),
        Answer(status=500, headers=JSON, steps=(b"[" * 10_000,)),
    ),
    "error_body_bytes": (
        "an error body that is no text",
        (Overloaded,),
        Answer(status=500, steps=(b"\xff\xfe\x00" * 40,)),
    ),
}
