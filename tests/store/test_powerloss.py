"""The power-loss test itself: clean with FULL, and able to find what NORMAL loses."""

from __future__ import annotations

import random

from teahouse.testing.powerloss import run
from teahouse.testing.recording_disk import Acknowledged, Deleted, Disk, Synced, Truncated, Written


def test_no_power_cut_takes_what_was_acknowledged() -> None:
    outcome = run("FULL", states=300)

    assert outcome.states == 300
    assert outcome.clean


def test_the_losses_of_a_lazier_setting_are_found() -> None:
    outcome = run("NORMAL", states=300)

    assert outcome.lost > 30
    assert outcome.worst > 1
    assert not outcome.clean


def test_a_power_cut_spares_what_was_synced_and_only_that_for_sure() -> None:
    disk = Disk()
    for operation in (
        Written("db", 0, b"a" * 1024),
        Written("gone", 0, b"x"),
        Synced("db"),
        Deleted("gone"),
        Acknowledged({"post:1": True}),
        Written("db", 512, b"b" * 1024),
        Truncated("other", 0),
    ):
        disk.play(operation)

    found = {bytes(disk.after_power_cut(random.Random(seed)).get("db", b"")) for seed in range(200)}

    whole = b"a" * 512 + b"b" * 1024
    assert found == {b"a" * 1024, b"a" * 512 + b"b" * 512, whole}
    assert disk.facts == {"post:1": True}
