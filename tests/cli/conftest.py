"""A model endpoint, a running house, and the command line as a person calls it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 90.0  # two cores are shared by many


class Teahouse:
    """Calls `teahouse` on one home. `environment` is all that it sees."""

    def __init__(self, home: Path, model_url: str | None = None, **more: str) -> None:
        self.home = home
        self.environment = {
            "HOME": str(home.parent),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "TEAHOUSE_LOCAL_MODEL__ENABLED": "false",
            **more,
        }
        if model_url:
            self.environment |= {
                "TEAHOUSE_PROVIDERS__FAKE__WIRE": "openai_chat",
                "TEAHOUSE_PROVIDERS__FAKE__BASE_URL": model_url,
                "TEAHOUSE_DEFAULT_MODEL": "fake/fake",
            }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "teahouse", *arguments, "--home", str(self.home)]

    def __call__(
        self,
        *arguments: str,
        stdin: str | bytes = "",
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*arguments),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE_S,
            env=self.environment | dict(env or {}),
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def json(self, *arguments: str, stdin: str = "") -> Any:
        """The one JSON value that a command prints, and nothing else."""
        done = self(*arguments, "--json", stdin=stdin)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def serving(
        self, *command: str, end: signal.Signals = signal.SIGTERM
    ) -> Generator[dict[str, Any]]:
        """`teahouse serve` until the block ends; what it printed when it was ready."""
        process = subprocess.Popen(
            self.command(*(command or ("serve",)), "--json", "--port", "0"),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
            assert ready
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(end)
            try:
                process.wait(PATIENCE_S)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
        assert process.returncode == (-signal.SIGKILL if end == signal.SIGKILL else 0)


@pytest.fixture(scope="session")
def model_url() -> Generator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "teahouse.testing.endpoint", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, model_url: str) -> Generator[Teahouse]:
    """One running house for all tests of a module."""
    teahouse = Teahouse(tmp_path_factory.mktemp("house") / "home", model_url)
    with teahouse.serving():
        yield teahouse


@pytest.fixture
def empty(tmp_path: Path, model_url: str) -> Teahouse:
    """A home that nobody has opened yet."""
    return Teahouse(tmp_path / "home", model_url)
