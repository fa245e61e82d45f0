"""`teahouse chat` at a real terminal: streaming, stopping, leaving."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import stat
import subprocess
import termios
import time
from collections.abc import Generator

import pytest

from tests.cli.conftest import PATIENCE_S, Teahouse

PROMPT = "⟦prompt⟧"  # how `Screen` shows that a line may be typed
CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"
_SEQUENCES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])|[\x08\r]")


class Screen:
    """What a person types and sees. `until` moves on past what it has found."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._raw = b""
        self._seen = 0

    def type(self, text: str) -> None:
        os.write(self._handle, text.encode())

    def until(self, wanted: str) -> str:
        """Wait for `wanted`; return what was shown up to its end."""
        limit = time.monotonic() + PATIENCE_S
        while wanted not in self.text[self._seen :]:
            left = limit - time.monotonic()
            ready, _, _ = select.select([self._handle], [], [], max(0.0, left))
            assert ready, f"no {wanted!r} in {self.text[self._seen :]!r}"
            self._read()
        begin = self._seen
        self._seen = self.text.index(wanted, begin) + len(wanted)
        return self.text[begin : self._seen]

    def _read(self) -> None:
        data = os.read(self._handle, 65536)
        self._raw += data
        if b"\x1b[6n" in data:  # where is the cursor? a terminal answers
            os.write(self._handle, b"\x1b[24;1R")

    @property
    def text(self) -> str:
        shown = self._raw.decode("utf-8", "ignore").replace("\x1b[?2004h", PROMPT)
        return _SEQUENCES.sub("", shown)


@contextlib.contextmanager
def chat(house: Teahouse, *arguments: str) -> Generator[tuple[Screen, subprocess.Popen[bytes]]]:
    ours, theirs = os.openpty()

    def take_the_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        house.command("chat", *arguments),
        env=house.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=take_the_terminal,  # noqa: PLW1509  no thread of ours holds a lock here
    )
    os.close(theirs)
    screen = Screen(ours)
    try:
        screen.until("/help")
        screen.until(PROMPT)
        yield screen, process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def answer_to(screen: Screen, text: str) -> str:
    screen.type(text + ENTER)
    return screen.until(PROMPT)


def test_an_answer_streams_and_the_next_one_knows_the_conversation(house: Teahouse) -> None:
    with chat(house) as (screen, process):
        assert "echo: 你好" in answer_to(screen, "你好 tea")
        assert "now" in answer_to(screen, "[tool now] time")
        screen.type(CTRL_D)
        assert process.wait(PATIENCE_S) == 0

    assert house("sessions", "show", "last").stdout.count("\necho: ") == 2


def test_ctrl_c_stops_the_answer_and_keeps_the_part(house: Teahouse) -> None:
    with chat(house) as (screen, process):
        screen.type("[slow 2000 20]" + ENTER)
        screen.until(" 7 8 9")
        screen.type(CTRL_C)
        screen.until("kept")
        screen.until(PROMPT)
        assert "echo: still here" in answer_to(screen, "still here")
        screen.type(CTRL_D)
        assert process.wait(PATIENCE_S) == 0

    shown = house("sessions", "show", "last").stdout
    assert " 7 8 9" in shown
    assert " 1999" not in shown
    assert "echo: still here" in shown


def test_ctrl_c_stops_a_model_that_says_nothing(house: Teahouse) -> None:
    with chat(house) as (screen, process):
        screen.type("[hang mid]" + ENTER)
        screen.until("echo: ")
        screen.type(CTRL_C)
        screen.until("kept")
        screen.until(PROMPT)
        screen.type(CTRL_C)
        screen.until("Ctrl-D")
        screen.until(PROMPT)
        screen.type(CTRL_C)
        assert process.wait(PATIENCE_S) == 0


def test_a_pasted_text_of_several_lines_is_one_message(house: Teahouse) -> None:
    with chat(house) as (screen, _):
        screen.type("\x1b[200~one\ntwo\x1b[201~")
        screen.until("two")
        screen.type(ENTER)
        assert "echo: one\ntwo" in screen.until("two\n\n")


def test_slash_commands_change_agent_model_and_conversation(house: Teahouse) -> None:
    names = [one["name"] for one in house.json("agents", "list")["items"]]
    with chat(house) as (screen, process):
        assert all(name in answer_to(screen, "/agents") for name in names)
        assert names[1] in answer_to(screen, f"/agent {names[1]}")
        assert "nobody/x" in answer_to(screen, "/model nobody/x")
        assert "nobody/x" in answer_to(screen, "hello")
        answer_to(screen, "/model fake/fake")
        assert "echo: again" in answer_to(screen, "again")
        assert names[1] in answer_to(screen, "/new")
        assert "/agent" in answer_to(screen, "/agnet x")
        assert "/quit" in answer_to(screen, "/help")
        screen.type("/quit" + ENTER)
        assert process.wait(PATIENCE_S) == 0


def test_what_was_typed_is_kept_for_its_owner_alone(house: Teahouse) -> None:
    with chat(house) as (screen, _):
        answer_to(screen, "remember me")

    history = house.home / "history" / "chat"
    assert "remember me" in history.read_text(encoding="utf-8")
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_without_a_terminal_each_line_is_a_message(house: Teahouse) -> None:
    done = house("chat", stdin="one\n\ntwo\n")

    assert done.returncode == 0
    assert done.stdout == "echo: one\n\necho: two\n\n"


def test_in_json_each_answer_is_one_line(house: Teahouse) -> None:
    import json

    done = house("chat", "--json", stdin="one\ntwo\n")

    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["text"] for one in told] == ["echo: one", "echo: two"]
    assert told[0]["conversation"] == told[1]["conversation"]


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_question_and_keeps_its_part(house: Teahouse, times: int) -> None:
    import signal

    process = subprocess.Popen(
        house.command("ask", "[slow 2000 20]"),
        env=house.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    said = b""
    while b" 9" not in said:
        said += os.read(process.stdout.fileno(), 4096)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert b"1999" not in out
    assert b"Traceback" not in err
