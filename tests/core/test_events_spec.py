"""The recorded streams in `tests/spec/events`, which the page's reducer folds too.

`expected.json` holds for each stream what both must make of it. `compact` is what a late reader is
told instead of the stream; the page must come to the same with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from teahouse.core.codec import decode_event, encode
from teahouse.core.events import Unknown, compact, fold, unfinished

SPEC = Path(__file__).resolve().parents[1] / "spec" / "events"
EXPECTED: dict[str, Any] = json.loads((SPEC / "expected.json").read_text(encoding="utf-8"))
STREAMS = sorted(path.stem for path in SPEC.glob("*.jsonl"))


def plain(value: Any) -> Any:
    return json.loads(encode(value))


def events_of(name: str) -> list[Any]:
    lines = (SPEC / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [decode_event(json.dumps(json.loads(line)["event"]).encode()) for line in lines]


def test_every_recorded_stream_has_its_meaning_written_down() -> None:
    assert STREAMS
    assert set(EXPECTED) == set(STREAMS)


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_folds_to_what_is_written_down(name: str) -> None:
    events = events_of(name)
    assert plain(fold(events).parts) == EXPECTED[name]["parts"]


@pytest.mark.parametrize("name", STREAMS)
def test_a_cut_stream_keeps_what_is_written_down(name: str) -> None:
    known = [event for event in events_of(name) if not isinstance(event, Unknown)]
    assert plain(unfinished(known)) == EXPECTED[name]["unfinished"]


@pytest.mark.parametrize("name", STREAMS)
def test_a_late_reader_is_told_what_is_written_down(name: str) -> None:
    known = [event for event in events_of(name) if not isinstance(event, Unknown)]
    assert plain(compact(known)) == EXPECTED[name]["compact"]
