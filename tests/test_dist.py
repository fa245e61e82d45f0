"""The wheel holds the page, and serves it in a bare environment where there is no Node."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = "teahouse/server/static/index.html"
DEADLINE_S = 60
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dist")]


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    options = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", str(target))
    return subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(source)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = build(ROOT, folder)

    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@contextmanager
def serving(python: Path, home: Path) -> Iterator[int]:
    """A server from that environment, with nothing on its path but the system's own programs."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log = home.parent / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(python), "-m", "teahouse", "serve", "--port", str(port), "--home", str(home)],
            env={"HOME": str(home.parent), "PATH": ""},
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(port, process, log)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text("utf-8", "replace")
        try:
            if get(port, "/healthz")[0] == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(log.read_text("utf-8", "replace"))


def get(port: int, path: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_the_wheel_holds_the_page_and_all_texts(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    migrations = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/teahouse/store/migrations").rglob("*.py")
    }
    texts = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/teahouse/locales").rglob("*.json")
    }

    assert PAGE in names
    assert migrations | texts <= names
    assert not [name for name in names if "node_modules" in name or name.startswith("tests")]


def test_without_the_page_no_wheel_is_built(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "src", "scripts"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    shutil.rmtree(tmp_path / "src" / "teahouse" / "server" / "static", ignore_errors=True)

    built = build(tmp_path, tmp_path / "dist")

    assert built.returncode != 0
    assert "Build the page first" in built.stdout + built.stderr


def test_installed_alone_it_serves_the_page(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    lock = ROOT / "requirements" / "constraints.txt"
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "-c", str(lock), str(wheel)],
        check=True,
        timeout=600,
    )

    with serving(python, tmp_path / "home") as port:
        status, page = get(port, "/")
        parts = re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css))"', page)

        assert status == 200
        assert '<div id="root">' in page
        assert parts
        assert all(get(port, part)[0] == 200 for part in parts)
