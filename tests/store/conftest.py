"""A store in a folder of the test's own, and what is left of it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

pytest.register_assert_rewrite("teahouse.testing.contract")

from teahouse.store.home import Store, open_store  # noqa: E402
from teahouse.testing.clock import FakeClock  # noqa: E402
from teahouse.testing.contract.store_house import House, Kept, OpenAgain  # noqa: E402


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
async def house(home: Path, clock: FakeClock) -> AsyncIterator[House]:
    async with open_store(home, clock) as store:
        yield House(store, clock)


@pytest.fixture
def open_again(tmp_path: Path, home: Path, clock: FakeClock) -> OpenAgain:
    """As after kill -9: what the open home has on the disk at this moment is opened elsewhere."""

    copies = (tmp_path / f"copy{number}" for number in count())

    @asynccontextmanager
    async def opened() -> AsyncIterator[Store]:
        copy = next(copies)
        shutil.copytree(home, copy)
        async with open_store(copy, clock) as store:
            yield store

    return opened


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    def found(words: bytes) -> bool:
        return any(words in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    return found
