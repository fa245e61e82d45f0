from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.core.errors import ToolFailed
from teahouse.testing.case_files import read_cases
from teahouse.testing.path_cases import judge
from teahouse.tools.enclosure import Enclosure
from teahouse.tools.paths import PathRefused

CASES = Path(__file__).parents[1] / "cases"
SECRET = b"SECRET"


def test_all_cases_are_judged_as_they_say() -> None:
    for file in sorted(CASES.glob("path*.jsonl")):
        assert not [one.id for one in judge(read_cases(file)) if not one.passed]
    assert len(read_cases(CASES / "path_more.jsonl")) >= 60


def planted(beside: Path) -> Path:
    """A workspace with secrets beside it."""
    (beside / "secret").write_bytes(SECRET)
    (beside / "outside").mkdir()
    (beside / "outside" / "secret").write_bytes(SECRET)
    (beside / "workspace").mkdir()
    (beside / "workspace" / "a").write_bytes(b"inside")
    return beside / "workspace"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return planted(tmp_path)


steps = st.sampled_from(
    ["..", ".", "", "a", "d", "l", "m", "secret", "outside", "workspace", "none", "~", "...", "..."]
)
paths = st.lists(steps, min_size=1, max_size=8).map("/".join)


@settings(deadline=None)
@given(path=paths, links=st.dictionaries(st.sampled_from("lm"), paths), absolute=st.booleans())
def test_no_path_and_no_link_reads_outside(
    path: str, links: dict[str, str], absolute: bool
) -> None:
    with tempfile.TemporaryDirectory() as beside:
        root = planted(Path(beside))
        for name, target in links.items():
            (root / name).symlink_to(f"{root}/{target}" if absolute else target or ".")
        files = Enclosure(root)

        with suppress(ToolFailed):
            assert files.read(f"{root}/{path}" if absolute else path, most=100) == b"inside"
        with suppress(ToolFailed):
            assert {entry.name for entry in files.entries(path)} <= {"a", "l", "m"}
        with suppress(ToolFailed):
            files.write(path, b"inside")
        assert (root.parent / "secret").read_bytes() == SECRET
        assert (root.parent / "outside" / "secret").read_bytes() == SECRET
        assert {one.name for one in root.parent.iterdir()} == {"secret", "outside", "workspace"}


@contextmanager
def swapping(place: Path, inside: Path, outside: Path) -> Generator[None]:
    """A thread that makes `place` lead inside and outside by turns, as fast as it can."""
    over = threading.Event()
    spare = place.with_name("spare")

    def swap() -> None:
        while not over.is_set():
            for target in (outside, inside):
                spare.symlink_to(target)
                spare.replace(place)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_link_that_is_swapped_all_the_time_never_leads_outside(root: Path) -> None:
    (root / "d").mkdir()
    (root / "d" / "secret").write_bytes(b"inside")
    (root / "l").symlink_to("d")
    files = Enclosure(root)

    read = 0
    with swapping(root / "l", Path("d"), root.parent / "outside"):
        for _ in range(2000):
            with suppress(PathRefused):
                assert files.read("l/secret", most=100) == b"inside"
                read += 1
            with suppress(PathRefused):
                files.write("l/new", b"x")

    assert read
    assert [one.name for one in (root.parent / "outside").iterdir()] == ["secret"]


def test_a_folder_that_turns_into_a_link_meanwhile_never_leads_outside(root: Path) -> None:
    """A folder proper, moved away for a link to the outside, and put back."""
    (root / "d").mkdir()
    (root / "d" / "secret").write_bytes(b"inside")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            (root / "d").rename(root / "e")
            (root / "d").symlink_to(root.parent / "outside")
            (root / "d").unlink()
            (root / "e").rename(root / "d")

    thread = threading.Thread(target=swap)
    thread.start()
    files = Enclosure(root)
    try:
        for _ in range(2000):
            with suppress(PathRefused):
                assert files.read("d/secret", most=100) == b"inside"
    finally:
        over.set()
        thread.join()


def test_pipes_sockets_and_devices_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "zero").symlink_to("/dev/zero")
    files = Enclosure(root)

    for name in ("pipe", "zero"):
        with pytest.raises(PathRefused):
            files.read(name, most=10)
        with pytest.raises(PathRefused):
            files.write(name, b"x")
    assert {entry.name: entry.kind for entry in files.entries(".")} == {
        "a": "file",
        "pipe": "other",
        "zero": "link",
    }


def test_a_file_with_a_name_outside_is_not_read_and_its_other_name_never_written(
    root: Path,
) -> None:
    os.link(root.parent / "secret", root / "b")
    files = Enclosure(root)

    with pytest.raises(PathRefused) as refused:
        files.read("b", most=100)
    files.write("b", b"new")

    assert refused.value.code == "path_shared"
    assert (root.parent / "secret").read_bytes() == SECRET
    assert files.read("b", most=100) == b"new"


def test_a_file_with_several_names_inside_is_like_any_other(root: Path) -> None:
    (root / "d").mkdir()
    os.link(root / "a", root / "d" / "b")

    assert Enclosure(root).read("d/b", most=100) == b"inside"


def test_an_absolute_path_into_the_workspace_is_good_even_by_way_of_a_link_to_it(
    root: Path,
) -> None:
    door = root.parent / "door"
    door.symlink_to(root)
    (root / "l").symlink_to(root / "a")

    assert Enclosure(root).read(str(root / "a"), most=100) == b"inside"
    assert Enclosure(door).read(str(door / "a"), most=100) == b"inside"
    assert Enclosure(door).read(str(root / "l"), most=100) == b"inside"
    with pytest.raises(PathRefused):
        Enclosure(root).read(str(root) + "-other/a", most=100)


def test_writing_keeps_the_mode_and_leaves_no_draft(root: Path) -> None:
    (root / "a").chmod(0o755)
    files = Enclosure(root)

    assert not files.write("a", b"1")
    assert files.write("d/e/b", b"2")

    assert (root / "a").stat().st_mode & 0o777 == 0o755
    assert (root / "d/e/b").stat().st_mode & 0o777 == 0o600
    assert {one.name for one in root.iterdir()} == {"a", "d"}


def test_a_file_above_the_limit_is_refused_without_reading_it_whole(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(100 << 20)

    with pytest.raises(PathRefused) as refused:
        Enclosure(root).read("huge", most=1 << 20)
    assert refused.value.code == "path_too_large"


def test_errors_name_the_path_without_characters_that_do_things(root: Path) -> None:
    with pytest.raises(PathRefused) as refused:
        Enclosure(root).read("a\u202e\x1b[2J", most=1)
    assert refused.value.text == r"There is no a\u202e\x1b[2J in the workspace."
