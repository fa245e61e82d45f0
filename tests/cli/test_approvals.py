"""Questions in the terminal: refused where nobody answers, asked where somebody can, and listed."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.cli.conftest import PATIENCE_S, Teahouse

SHOWN = "\x1b[?25h"  # the cursor, when the prompt is drawn
EVIL = '{"zone": "UTC\\n\\u001b[2J\\u202e"}'


@pytest.fixture
def careful(house: Teahouse) -> Iterator[Teahouse]:
    """Its first agent asks before it looks at the clock."""
    agent = house.json("agents", "list")["items"][0]["id"]
    house("agents", "edit", agent, "--ask", "now")
    yield house
    house("agents", "edit", agent, "--usual", "now")


def test_where_nobody_can_answer_the_call_is_denied_and_shown_safely(careful: Teahouse) -> None:
    done = careful("ask", f"what time [tool now {EVIL}]")

    assert done.returncode == 0
    assert 'zone: "UTC\\n\\u001b[2J\\u{202e}"' in done.stderr
    assert "--allow now" in done.stderr
    assert "The person said no" in done.stdout
    for hidden in ("\x1b", "\u202e"):
        assert hidden not in done.stderr
    assert careful("approvals", "list").stdout == "Nothing waits for you.\n"


@pytest.mark.parametrize(("typed", "ending"), [("y", "now: "), ("n", "The person said no")])
def test_a_person_answers_in_the_terminal(careful: Teahouse, typed: str, ending: str) -> None:
    screen = on_a_screen(careful, ["ask", "what time [tool now]"], typed)

    assert "May this call of now be made?" in screen
    assert ending in screen.rpartition("echo:")[2]


def on_a_screen(house: Teahouse, arguments: list[str], typed: str) -> str:
    """Run a command in a terminal of its own and type once it asks; what the screen got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        house.command(*arguments),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=house.environment,
        start_new_session=True,
    )
    os.close(theirs)
    screen, answered, until = "", False, time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < until:
            if not select.select([ours], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(ours, 65_536)
            except OSError:
                break
            if not piece:
                break
            screen += piece.decode(errors="replace")
            if "\x1b[6n" in piece.decode(errors="replace"):
                os.write(ours, b"\x1b[1;1R")
            if not answered and SHOWN in screen.partition("n deny")[2]:
                answered = True
                os.write(ours, f"{typed}\r".encode())
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return screen


def test_a_rule_is_set_and_taken_back(house: Teahouse) -> None:
    agent = house.json("agents", "list")["items"][0]["id"]
    edited = house.json("agents", "edit", agent, "--deny", "mcp__*", "--allow", "now")
    assert edited["permissions"] == {"mcp__*": "deny", "now": "allow"}
    edited = house.json("agents", "edit", agent, "--usual", "mcp__*", "--usual", "now")
    assert edited["permissions"] == {}


def test_a_question_that_is_none_is_not_found(house: Teahouse) -> None:
    for command in (["approve", "ap_none"], ["approve", "ap_none", "--all"], ["deny", "ap_none"]):
        done = house("approvals", *command)
        assert done.returncode == 1
        assert "ap_none" in done.stderr
    assert house("approvals", "revoke", "g_none").returncode == 1
    assert house.json("approvals", "grants")["items"] == []
