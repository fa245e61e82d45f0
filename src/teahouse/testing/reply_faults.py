"""Faults of what an endpoint says: bodies of another kind, events that are odd, calls that are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Final

from teahouse.llm.errors import Malformed, Overloaded, RateLimited, StreamCut
from teahouse.testing.answers import DONE, Answer, chunk, frame, json_answer, tool_answer, usage
from teahouse.testing.fault_kinds import (
    COUNTED,
    JSON,
    ONCE,
    PAGE,
    SAID,
    START,
    TEA,
    WHOLE,
    Row,
    answers,
    bytewise,
    call,
    counts,
    fails,
    page,
    wish,
)

BODIES: Final[Mapping[str, Row]] = {
    "page_200": page(200, Malformed),
    "page_as_stream": fails("a web page that claims to be a stream", Malformed, PAGE),
    "gzip_declared": answers(
        "gzip that nobody asked for",
        gzip.compress(ONCE, mtime=0),
        headers={"Content-Type": "text/event-stream", "Content-Encoding": "gzip"},
    ),
    "gzip_undeclared": (
        "gzip that is not declared",
        (StreamCut, Malformed),
        Answer(steps=(gzip.compress(ONCE, mtime=0),)),
    ),
    "gzip_broken": (
        "says gzip, and is not",
        (StreamCut, Malformed),
        Answer(headers={"Content-Encoding": "gzip"}, steps=(ONCE,)),
    ),
    "wrong_type": answers(
        "a stream that claims to be text", *COUNTED, headers={"Content-Type": "text/plain"}
    ),
    "no_type": answers("a stream without a type", *COUNTED, headers={}),
    "json_type": answers("a stream that claims to be JSON", *COUNTED, headers=JSON),
    "not_streamed": (
        "the whole reply at once",
        (None,),
        json_answer(
            {
                "choices": [
                    {"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}
                ]
            }
        ),
    ),
    "json_array": ("an array for an answer", (StreamCut, Malformed), json_answer([])),
    "nested_deep": fails("JSON ten thousand levels deep", Malformed, frame("[" * 10_000), DONE),
    "error_first": (
        "an error object in a stream of 200",
        (Overloaded,),
        Answer(steps=(frame({"error": {"message": "overloaded", "code": 529}}),)),
    ),
    "error_mid": fails(
        "an error object in the middle",
        Overloaded,
        *SAID,
        frame({"error": {"message": "server busy"}}),
    ),
    "error_text": fails(
        "an error that is a text", Overloaded, *SAID, frame({"error": "upstream unavailable"})
    ),
    "error_event": fails(
        "an event named error",
        Overloaded,
        *SAID,
        b"event: error\n" + frame({"message": "overloaded"}),
    ),
    "error_rate": fails(
        "a rate limit inside the stream",
        RateLimited,
        frame({"error": {"message": "Rate limit reached", "code": "429"}}),
    ),
    "error_finish": fails("the finish is an error", Overloaded, *SAID, chunk({}, "error"), DONE),
    "error_whole": (
        "an error object as the whole answer",
        (Overloaded,),
        json_answer({"error": {"message": "internal error"}}),
    ),
}

EVENTS: Final[Mapping[str, Row]] = {
    "usage_missing": answers("no counts", *WHOLE, DONE),
    "usage_twice": answers(
        "counts twice",
        *counts(
            {"prompt_tokens": 5, "completion_tokens": 4},
            {"prompt_tokens": 5, "completion_tokens": 4},
        ),
    ),
    "usage_in_each": answers(
        "counts so far with each chunk",
        *(
            chunk({"content": "x"}, usage={"prompt_tokens": 5, "completion_tokens": n})
            for n in range(9)
        ),
        chunk({}, "stop"),
        DONE,
    ),
    "usage_huge": answers(
        "counts beyond all measure", *counts({"prompt_tokens": 10**30, "completion_tokens": 10**30})
    ),
    "usage_negative": answers(
        "counts below nothing", *counts({"prompt_tokens": -5, "completion_tokens": -1})
    ),
    "usage_words": answers(
        "counts that are words", *counts({"prompt_tokens": "many", "completion_tokens": None})
    ),
    "finish_twice": answers("finishes twice", *WHOLE, chunk({}, "stop"), usage(5, 4), DONE),
    "finish_unknown": answers(
        "finishes for a reason of its own", *SAID, chunk({}, "tea_time"), DONE
    ),
    "finish_missing": answers("[DONE] without a finish", *SAID, DONE),
    "text_after_finish": answers(
        "goes on after the finish", *WHOLE, chunk({"content": " more"}), DONE
    ),
    "data_after_done": answers("goes on after [DONE]", *COUNTED, TEA, TEA),
    "event_of_1_mib": answers(
        "one event of 1 MiB", START, chunk({"content": "t" * (1 << 20)}), chunk({}, "stop"), DONE
    ),
    "event_of_9_mib": fails("one event of 9 MiB", Malformed, b"data: " + b"t" * (9 << 20)),
    "invalid_utf8": (
        "bytes that are no text",
        (None, Malformed),
        Answer(steps=(*SAID, TEA.replace("茶".encode(), b"\xff\xfe"), chunk({}, "stop"), DONE)),
    ),
    "nul": answers("NUL in the text", *SAID, chunk({"content": "a\x00b"}), chunk({}, "stop"), DONE),
    "lone_surrogate": answers(
        "half a character, escaped",
        *SAID,
        frame('{"choices":[{"delta":{"content":"\\ud83d"}}]}'),
        chunk({}, "stop"),
        DONE,
    ),
    "bom": answers("begins with a BOM", b"\xef\xbb\xbf", *COUNTED),
    "one_byte_writes": answers(
        "one byte at a time", *bytewise(b"".join((*SAID, TEA, chunk({}, "stop"), DONE)))
    ),
    "crlf": answers("lines that end with CRLF", ONCE.replace(b"\n", b"\r\n")),
    "cr": answers("lines that end with CR", ONCE.replace(b"\n", b"\r")),
    "comments_between": answers(
        "comments between the events",
        *(step for event in COUNTED for step in (b": tea\n\n", event)),
    ),
    "no_space": answers("no space after the colon", ONCE.replace(b"data: ", b"data:")),
    "empty_data": answers("events without data", b"data:\n\n", *COUNTED),
    "unknown_events": answers(
        "events that nobody knows",
        b"event: ping\ndata: {}\n\n",
        *SAID,
        frame({"object": "weather"}),
        chunk({}, "stop"),
        DONE,
    ),
    "event_is_array": fails("an event that is an array", Malformed, *SAID, frame([]), DONE),
    "empty_reply": answers("an empty reply", START, chunk({}, "stop"), usage(5, 0), DONE),
    "only_thinking": answers(
        "thinks and says nothing", chunk({"reasoning_content": "hm"}), chunk({}, "stop"), DONE
    ),
    "filtered": answers("is stopped by a filter", *SAID, chunk({}, "content_filter"), DONE),
    "cut_by_length": answers("is cut by length", *SAID, chunk({}, "length"), DONE),
    "wrong_index": answers(
        "numbers its choice 7", *(step.replace(b'"index": 0', b'"index": 7') for step in COUNTED)
    ),
    "two_choices": answers(
        "gives two choices",
        START,
        frame({"choices": [{"index": n, "delta": {"content": str(n)}} for n in (0, 1)]}),
        chunk({}, "stop"),
        DONE,
    ),
    "null_fields": answers(
        "null wherever it can",
        frame({"choices": None, "usage": None}),
        frame({"choices": [{"index": None, "delta": None}]}),
        *COUNTED,
    ),
    "wrong_shapes": answers(
        "fields of the wrong shape",
        *SAID,
        frame({"choices": {"delta": 1}}),
        frame({"choices": [{"delta": {"content": 7, "tool_calls": "no"}}]}),
        chunk({}, "stop"),
        DONE,
    ),
    "chunks_twice": answers(
        "each chunk twice", *(step for event in WHOLE for step in (event, event)), DONE
    ),
}

CALLS: Final[Mapping[str, Row]] = {
    "call_without_id": answers("a call without an id", *call(wish(id=None))),
    "call_same_ids": answers(
        "two calls with one id", *call(wish(), wish('{"zone": "UTC"}', index=1))
    ),
    "call_without_index": answers(
        "a call without a place",
        *call({"id": "call_1", "function": {"name": "now", "arguments": "{}"}}),
    ),
    "call_without_name": answers("a call without a name", *call(wish(name=""))),
    "call_broken_arguments": answers("arguments that are no JSON", *call(wish('{"zone": UTC'))),
    "call_array_arguments": answers("arguments that are an array", *call(wish("[1, 2]"))),
    "call_object_arguments": answers("arguments that are no text", *call(wish({"zone": "UTC"}))),
    "call_deep_arguments": answers(
        "arguments nested ten thousand deep", *call(wish('{"zone": ' + "[" * 10_000))
    ),
    "call_deepish_arguments": answers(
        "arguments nested five hundred deep",
        *call(wish('{"zone": ' + "[" * 500 + "]" * 500 + "}")),
    ),
    "call_twice_encoded": answers(
        "arguments encoded twice", *call(wish(json.dumps('{"zone": "UTC"}')))
    ),
    "call_cut_by_length": answers(
        "arguments cut by length", *call(wish('{"zone": "U'), finish="length")
    ),
    "call_unknown_tool": answers("a tool that is not there", *call(wish(name="brew"))),
    "call_finish_stop": answers(
        "a call, and a finish that denies it", *call(wish(), finish="stop")
    ),
    "call_old_style": answers(
        "a call of the older dialect",
        START,
        chunk({"function_call": {"name": "now", "arguments": "{}"}}),
        chunk({}, "function_call"),
        DONE,
    ),
    "call_cut": fails(
        "closes inside a call", StreamCut, START, chunk({"tool_calls": [wish('{"zo')]}), "cut"
    ),
    "call_flood": (
        "a hundred calls at once",
        (None,),
        tool_answer([(f"call_{n}", "now", {"n": n}) for n in range(100)]),
    ),
    "call_to_failing_tool": ("a tool that fails", (None,), tool_answer([("call_1", "fail", {})])),
}
