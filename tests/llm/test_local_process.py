"""The child that holds the model is started, watched, started again and never left behind."""

from __future__ import annotations

import os
import queue
import sys
import time
from pathlib import Path

import pytest

from teahouse.llm.local.process import Address, LocalProcess, State, threads_for

ENGINE = """#!{python}
import json, os, sys
with open({log!r}, "a") as log:
    print(os.getpid(), *sys.argv[1:], file=log)
print("a word of the engine", file=sys.stderr, flush=True)
{body}
"""
SERVES = """
print(json.dumps({"url": "http://127.0.0.1:1", "key": "k", "pid": os.getpid()}), flush=True)
sys.stdin.read()
"""


class House:
    """Collects what the thread tells, for a test that waits for it."""

    def __init__(self, folder: Path, body: str) -> None:
        self.log = folder / "log"
        engine = folder / "engine"
        engine.write_text(ENGINE.format(python=sys.executable, log=str(self.log), body=body))
        engine.chmod(0o755)
        self._news: queue.Queue[tuple[State, Address | None, str]] = queue.Queue(maxsize=100)
        self.process = LocalProcess(
            folder / "m.gguf",
            threads=1,
            context=512,
            tell=self._hear,
            python=str(engine),
        )

    def _hear(self, state: State, address: Address | None, problem: str) -> None:
        if state == "starting" and problem:  # after a death: no need to wait for its turn
            self.process.want()
        self._news.put((state, address, problem))

    def wait_for(self, state: State) -> tuple[Address | None, str]:
        while True:
            found, address, problem = self._news.get(timeout=30)
            if found == state:
                return address, problem

    def wait_for_life(self) -> None:
        deadline = time.monotonic() + 30
        while not self.log.exists() or not self.log.read_text().endswith("\n"):
            assert time.monotonic() < deadline

    @property
    def lives(self) -> list[list[str]]:
        return [line.split() for line in self.log.read_text().splitlines()]


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_nothing_starts_before_it_is_wanted_and_nothing_stays_after_close(tmp_path: Path) -> None:
    house = House(tmp_path, SERVES)
    assert not house.log.exists()

    house.process.want()
    address, _ = house.wait_for("running")
    assert address is not None
    assert exists(address.pid)
    house.process.close()

    assert not exists(address.pid)
    assert house.lives[0][1:] == [
        *("-m", "teahouse.llm.local.child", "--model", str(tmp_path / "m.gguf")),
        *("--parent", house.lives[0][6], "--threads", "1", "--context", "512"),
    ]


def test_a_ctrl_c_in_the_terminal_does_not_reach_the_child(tmp_path: Path) -> None:
    house = House(tmp_path, SERVES)

    house.process.want()
    address, _ = house.wait_for("running")
    assert address is not None
    group = os.getpgid(address.pid)
    house.process.close()

    assert group != os.getpgrp()


def test_a_child_that_never_comes_up_is_given_up_after_five_times(tmp_path: Path) -> None:
    house = House(tmp_path, "sys.exit(3)")

    house.process.want()
    _, problem = house.wait_for("failed")
    house.process.close()

    assert len(house.lives) == 5
    assert "a word of the engine" in problem


def test_closing_does_not_wait_for_a_child_that_is_still_loading(tmp_path: Path) -> None:
    house = House(tmp_path, "import time\ntime.sleep(600)")

    house.process.want()
    house.wait_for("starting")
    house.wait_for_life()
    house.process.close()

    assert not exists(int(house.lives[0][0]))


def test_an_answer_that_is_no_address_counts_as_a_death(tmp_path: Path) -> None:
    house = House(tmp_path, "print('hello', flush=True)")

    house.process.want()
    house.wait_for("failed")
    house.process.close()

    assert len(house.lives) == 5


@pytest.mark.parametrize(
    ("cores", "load", "threads"),
    [(2, 0.1, 2), (2, 0.8, 1), (2, 9.0, 1), (1, 0.0, 1), (8, 2.6, 5), (64, 1.0, 8)],
)
def test_the_model_takes_the_cores_that_are_free(cores: int, load: float, threads: int) -> None:
    assert threads_for(cores, load) == threads
