"""Recorded streams of real vendors, replayed over loopback in three ways of cutting them."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from teahouse.testing.case_files import read_cases
from teahouse.testing.conformance import Cut, judge

CASES = Path(__file__).resolve().parents[1] / "cases"
FILES = sorted(CASES.glob("wire_*.json"))


@pytest.mark.parametrize("cut", ["given", "bytewise", "whole"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_recorded_stream_comes_out_right(path: Path, cut: Cut) -> None:
    failed = {verdict.id: verdict.problems for verdict in judge(read_cases(path), cut)}

    assert {name: problems for name, problems in failed.items() if problems} == {}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("S03_crlf", {"text": "abc"}),
        ("S03_crlf", {"error": "raise"}),
        ("S18_eof_no_done_no_finish", {"error": None}),
        ("C01_usage_only_chunk", {"usage": [5, 3]}),
        ("C13_finish_length", {"finish": "stop"}),
        ("C14_reasoning_content", {"reasoning": "thin"}),
        ("T01_parallel_interleaved", {"tools": [["a", "f", {"x": 1}]]}),
        ("T10_no_args_empty_string", {"tools": [["b", "f", {}]]}),
        ("T16_truncated_args_length", {"error": None}),
        ("A10_usage_cumulative_merge", {"usage": [18, 17]}),
        ("A14_signature_only_thinking", {"roundtrip": {"signature": "x"}}),
        ("A27_server_tool", {"tools": [["srvtoolu_1", "web_search", {"query": "tea"}]]}),
        ("A30_eof_without_message_stop", {"error": None}),
        ("A39b_refusal_in_tool", {"finish": "stop"}),
        ("P18_encrypted_reasoning_back", {"roundtrip": {"encrypted_content": "x"}}),
        ("P21_phase_back", {"roundtrip": {"phase": "final_answer"}}),
        ("P30_eof_after_item_done", {"error": None}),
        ("P34_refusal", {"text": ""}),
        ("M02_thoughts_counted_late", {"usage": [18, 33]}),
        ("M06_signed_call", {"roundtrip": {"thoughtSignature": "Ab+/cd="}}),
        ("M07_signature_on_text", {"text": "a"}),
        ("M11_safety", {"finish": "stop"}),
        ("M13_eof_without_finish", {"error": None}),
        ("O26_error_line_mid_stream", {"error": None}),
        ("P09_arguments_cut_by_length", {"error": None}),
        ("P11_thinking_then_call", {"roundtrip": {"thinking": "h"}}),
        ("T19_gemini_extra_signature", {"roundtrip": {"google.thought_signature": "x"}}),
    ],
)
def test_a_wrong_expectation_is_found(name: str, wrong: dict[str, object]) -> None:
    cases = {case["id"]: case for path in FILES for case in read_cases(path)}
    case = copy.deepcopy(cases[name])
    case["expect"] |= wrong

    (verdict,) = judge([case])

    assert verdict.problems


def test_a_dialect_that_nobody_speaks_fails_and_says_so() -> None:
    (verdict,) = judge([{"id": "x", "dialect": "smoke-signals", "writes_b64": [], "expect": {}}])

    assert "dialect" in verdict.problems


@pytest.mark.parametrize("module", ["conformance", "cases"])
def test_the_runner_prints_the_score_last_and_exits_by_it(module: str, tmp_path: Path) -> None:
    good = read_cases(CASES / "wire_openai_chat.json")[1]
    bad = good | {"id": "bad", "expect": {"text": "nonsense"}}
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", encoding="utf-8")
    kind = ["wire"] if module == "cases" else []

    run = subprocess.run(
        [sys.executable, "-m", f"teahouse.testing.{module}", *kind, str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    lines = run.stdout.splitlines()
    assert lines[0] == 'bad: text: expected "nonsense", got "ab"'
    assert lines[-1] == "1/2"
    assert run.returncode == 1
