"""Keeps the child process of the local model alive, from one thread of its own.

One thread, because the kernel's parent-death signal follows the thread that made the child: a
child made by a pool's thread would die when the pool lets that thread go.
"""

from __future__ import annotations

import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from teahouse.core.codec import decode
from teahouse.core.errors import Invalid

log = logging.getLogger(__name__)

_LOAD_S = 300.0
_GRACE_S = 5.0
_LOOK_S = 0.2
_LONG_LIFE_S = 60.0
_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.5, 30.0
_MOST_DEATHS = 5  # in a row, before it is left alone until somebody asks for it


class Address(Struct, frozen=True, kw_only=True):
    url: str
    key: str
    pid: int


State: TypeAlias = Literal["ready", "starting", "running", "failed"]
"""`ready`: not started, or ended; nothing is wrong."""

Tell: TypeAlias = Callable[[State, Address | None, str], None]
"""Called from the thread with the state, where the child listens, and what went wrong."""


class LocalProcess:
    def __init__(
        self, model: Path, *, threads: int, context: int, tell: Tell, python: str = sys.executable
    ) -> None:
        self._model, self._threads, self._context = model, threads, context
        self._tell, self._python = tell, python
        self._wanted, self._leaving = threading.Event(), threading.Event()
        self._child: subprocess.Popen[str] | None = None
        self._words: deque[str] = deque(maxlen=8)
        self._thread = threading.Thread(target=self._live, name="local model", daemon=True)
        self._thread.start()

    def want(self) -> None:
        """Have it started, now if it waits for its turn after a death."""
        self._wanted.set()

    def close(self) -> None:
        """End the child and the thread; blocks a few seconds at most."""
        self._leaving.set()
        self._wanted.set()
        child = self._child
        if child is not None:
            child.terminate()
        self._thread.join(2 * _GRACE_S + 1)

    def _live(self) -> None:
        deaths = 0
        while True:
            delay = min(_FIRST_DELAY_S * 2 ** (deaths - 1), _LONGEST_DELAY_S) if deaths else None
            self._wanted.wait(None if deaths in {0, _MOST_DEATHS} else delay)
            self._wanted.clear()
            if self._leaving.is_set():
                return
            born = time.monotonic()
            problem = self._one_life()
            if self._leaving.is_set():
                return
            long = time.monotonic() - born > _LONG_LIFE_S
            deaths = 1 if long else min(deaths + 1, _MOST_DEATHS)
            log.warning("The local model has ended: %s", problem)
            self._tell("failed" if deaths == _MOST_DEATHS else "starting", None, problem)

    def _one_life(self) -> str:
        """Start a child and stay until it has ended; return why it did."""
        self._tell("starting", None, "")
        self._words.clear()
        try:
            child = self._child = self._spawn()
        except OSError as error:
            return str(error)
        with child:
            reader = threading.Thread(target=self._listen, args=(child,), daemon=True)
            reader.start()
            try:
                address = self._first_words(child)
                if address is not None:
                    self._wanted.clear()
                    self._tell("running", address, "")
                    child.wait()  # `close` ends it
            finally:
                _end(child)
                reader.join(_GRACE_S)
        return " ".join(self._words) or f"exit code {child.returncode}"

    def _spawn(self) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603  our own module
            [
                *(self._python, "-m", "teahouse.llm.local.child"),
                *("--model", str(self._model), "--parent", str(os.getpid())),
                *("--threads", str(self._threads or free_threads())),
                *("--context", str(self._context)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,  # a Ctrl-C in the terminal is for us, who end it in our own time
        )

    def _first_words(self, child: subprocess.Popen[str]) -> Address | None:
        assert child.stdout is not None
        deadline = time.monotonic() + _LOAD_S
        while time.monotonic() < deadline and not self._leaving.is_set():
            if not select.select([child.stdout], [], [], _LOOK_S)[0]:
                continue
            line = child.stdout.readline()
            if not line:
                return None
            try:
                return decode(line, Address)
            except Invalid as error:
                self._words.append(str(error))
                return None
        self._words.append(f"not loaded after {_LOAD_S:g} s")
        return None

    def _listen(self, child: subprocess.Popen[str]) -> None:
        assert child.stderr is not None
        for line in child.stderr:
            log.debug("local model: %s", line.rstrip())
            if line.strip():
                self._words.append(line.strip())


def _end(child: subprocess.Popen[str]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(_GRACE_S)


def free_threads() -> int:
    """How many cores the model may use: those that nobody uses now, at least one.

    More threads than free cores wait for one another at every layer: with two on a busy machine
    of two cores it spoke at a tenth of its speed with one.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return threads_for(cores, load)


def threads_for(cores: int, load: float) -> int:
    busy = round(load + 0.25)  # a quarter of a core is noise
    return max(1, min(cores - busy, _MOST_THREADS))


_MOST_THREADS = 8  # half a billion parameters gain nothing beyond
