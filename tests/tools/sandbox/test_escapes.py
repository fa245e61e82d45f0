"""The corpus of escapes: each fails behind each wall, and works where there is none."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct, convert

from teahouse.tools.sandbox.command import Wall
from tests.tools.sandbox.house import WALLS, House, on_linux

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not on_linux, reason="Linux only")]


class Escape(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    code: str
    control: str = "outside"
    inside: str | None = None
    after: str | None = None  # the trace that it leaves, instead of a word
    walls: tuple[Wall, ...] = WALLS
    keeps_files: bool = False


def _corpus() -> list[Escape]:
    files = sorted(Path(__file__).with_name("escapes").glob("*.toml"))
    return [
        convert(one, Escape) for file in files for one in tomllib.loads(file.read_text())["escape"]
    ]


CORPUS = _corpus()
BEHIND = [(wall, one) for one in CORPUS for wall in one.walls]
CONTROLS = [one for one in CORPUS if one.control != "none"]
ALLOWED = [(wall, one) for wall, one in BEHIND if one.inside]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with House(tmp_path_factory.mktemp("house")) as house:
        yield house


def test_the_corpus_is_large_and_names_each_escape_once() -> None:
    assert len({one.name for one in CORPUS}) == len(CORPUS) >= 100


@pytest.mark.parametrize(("wall", "escape"), BEHIND, ids=lambda it: getattr(it, "name", it))
async def test_an_escape_fails(wall: Wall, escape: Escape, house: House) -> None:
    house.reset()

    outcome = await house.inside(
        wall, f"{escape.code}\nprint('RAN')" if escape.after else escape.code
    )

    printed = outcome.stdout + outcome.stderr
    assert outcome.ending == "exit", printed
    assert b"ESCAPED" not in outcome.stdout, printed
    assert b"SyntaxError" not in outcome.stderr, printed
    assert b"NameError" not in outcome.stderr, printed
    assert escape.after is None or not house.traces(escape.after)


@pytest.mark.parametrize("escape", CONTROLS, ids=lambda it: it.name)
async def test_the_same_works_outside(escape: Escape, house: House) -> None:
    if escape.control == "root" and os.geteuid() != 0:
        pytest.skip("only root can")
    house.reset()

    said = house.control(escape.code, keeps_files=escape.keeps_files)

    assert house.traces(escape.after) if escape.after else "ESCAPED" in said, said
    house.reset()


@pytest.mark.parametrize(("wall", "escape"), ALLOWED, ids=lambda it: getattr(it, "name", it))
async def test_what_is_harmless_works_inside(wall: Wall, escape: Escape, house: House) -> None:
    outcome = await house.inside(wall, str(escape.inside))

    assert b"ALLOWED" in outcome.stdout, outcome.stderr
