"""A disk that takes no more: nothing acknowledged is lost, the error is clear, and it passes."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from teahouse.chat.ports import Conversation
from teahouse.core.errors import StorageFull
from teahouse.core.messages import Person
from teahouse.store.home import Store, open_store
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_files import upload
from teahouse.testing.contract.store_house import House

pytestmark = pytest.mark.anyio

FULL = 6 << 20


class SmallDisk:
    """Holds ballast that can be thrown out; `fill` takes all the room that is left."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._ballast = folder, folder / "ballast"
        self._ballast.write_bytes(bytes(FULL // 3))

    def fill(self) -> None:
        with self._ballast.open("ab", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(4096))
        assert os.statvfs(self.folder).f_bavail == 0

    def free(self) -> None:
        self._ballast.unlink()


class Talkers:
    """Four conversations at once, and what of them was acknowledged."""

    def __init__(self, mei: Person, talks: list[Conversation]) -> None:
        self.mei, self.talks = mei, talks
        self.acknowledged: set[str] = set()

    async def speak_until_refused(self, house: House) -> None:
        async with asyncio.TaskGroup() as group:
            for talk in self.talks:
                group.create_task(self._speak_until_refused(house, talk))

    async def _speak_until_refused(self, house: House, talk: Conversation) -> None:
        with pytest.raises(StorageFull) as caught:
            await self._speak_on(house, talk)
        assert caught.value.code in {"storage_full", "storage_failed"}

    async def _speak_on(self, house: House, talk: Conversation) -> None:
        for turn in range(20_000):
            await self.speak(house, talk, f"{turn} " * 300)

    async def speak(self, house: House, talk: Conversation, text: str) -> None:
        received = await house.say(talk, self.mei, text)
        self.acknowledged.add(received.post.id)

    async def stored(self, store: Store) -> set[str]:
        found: set[str] = set()
        for talk in self.talks:
            cursor = None
            while True:
                page = await store.log.posts(self.mei.id, talk.id, before=cursor, limit=500)
                found |= {post.id for post in page.items}
                cursor = page.next
                if cursor is None:
                    break
        return found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={FULL}", "tmpfs", str(tmp_path)]
    try:
        subprocess.run(mount, check=True, capture_output=True, timeout=10)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a small disk")
    try:
        yield SmallDisk(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True, timeout=10)


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """What every user may ask for, root or not: writes past `size` are refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def talkers(house: House) -> Talkers:
    mei = await house.person()
    return Talkers(mei, [await house.talk(mei) for _ in range(4)])


async def test_a_full_disk_loses_nothing_and_the_house_goes_on_when_there_is_room(
    small_disk: SmallDisk, clock: FakeClock
) -> None:
    home = small_disk.folder / "home"
    async with open_store(home, clock) as store:
        house = House(store, clock)
        four = await talkers(house)
        await four.speak_until_refused(house)
        small_disk.fill()
        assert len(four.acknowledged) > 50
        assert await four.stored(store) == four.acknowledged  # reading goes on
        with pytest.raises(StorageFull):
            await four.speak(house, four.talks[0], "x" * 20_000)

        small_disk.free()
        for talk in four.talks:
            await four.speak(house, talk, "after")

    async with open_store(home, clock) as store:
        assert await four.stored(store) == four.acknowledged


async def test_an_upload_to_a_full_disk_leaves_no_trace(
    small_disk: SmallDisk, clock: FakeClock
) -> None:
    home = small_disk.folder / "home"
    async with open_store(home, clock) as store:
        house = House(store, clock)
        mei = await house.person()
        with pytest.raises(StorageFull):
            await upload(house, mei, bytes(2 * FULL), limit=3 * FULL)
        assert files_below(home / "files") == []

        assert (await upload(house, mei, b"x" * 100_000)).size == 100_000


async def test_a_home_is_not_opened_on_a_full_disk_and_is_whole_when_there_is_room(
    small_disk: SmallDisk, clock: FakeClock
) -> None:
    home = small_disk.folder / "home"
    small_disk.fill()
    with pytest.raises(StorageFull):
        async with open_store(home, clock):
            pass

    small_disk.free()
    async with open_store(home, clock) as store:
        await store.secrets.put("a", "b")
        assert await store.secrets.get("a") == "b"


async def test_a_quota_loses_nothing_and_passes(home: Path, clock: FakeClock) -> None:
    async with open_store(home, clock) as store:
        house = House(store, clock)
        four = await talkers(house)
        with no_file_grows_beyond(1 << 20):
            await four.speak_until_refused(house)
            assert await four.stored(store) == four.acknowledged
            with pytest.raises(StorageFull):
                await upload(house, four.mei, bytes(2 << 20))
        await four.speak(house, four.talks[0], "after")

    async with open_store(home, clock) as store:
        assert await four.stored(store) == four.acknowledged
        assert files_below(home / "files") == []


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
