from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from teahouse.cli.terminal import when


@pytest.fixture
def shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("shanghai")
@pytest.mark.parametrize("instant", ["2026-11-30T16:05:00Z", "2026-11-30T16:05:00.123456Z"])
def test_times_are_told_by_the_readers_own_clock(instant: str) -> None:
    assert when(instant) == "2026-12-01 00:05"
