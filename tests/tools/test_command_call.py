"""What is asked of a command, and which words of it a person can allow for longer."""

from __future__ import annotations

import pytest

from teahouse.agent.permission import Judged
from teahouse.tools.command_call import judged


def test_what_only_reads_runs_and_what_destroys_never_does() -> None:
    assert judged("ls -l").rule == "allow"
    assert judged("ls -l").effect == "read"
    assert judged("rm -rf /") == Judged(rule="deny", reason="destroys")


def test_a_plain_command_offers_its_words() -> None:
    assert judged("cp a.txt b.txt").words == ("cp", "a.txt", "b.txt")
    assert judged("cp a.txt b.txt").rule == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cp a b | sh",
        "cp a b > c",
        "cp a b; cp c d",
        "cp a $(id)",
        "cp *.txt b",
        "A=1 cp a b",
        "bash -c 'cp a b'",
        "/usr/bin/python3 -c 'print(1)'",
        "python3.11 x.py",
        "find . -exec rm x +",
        "env cp a b",
        "xargs cp",
        "cp a b\nrm c",
    ],
)
def test_what_may_run_anything_else_offers_none(command: str) -> None:
    assert judged(command).words == ()
