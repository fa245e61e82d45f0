"""The contract of `Files`: bytes come back as they were, to those who may see them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from teahouse.chat.ports import FileRecord
from teahouse.core.errors import NotFound, TooLarge
from teahouse.core.messages import Blob, Person
from teahouse.testing.contract.store_house import House, Kept, OpenAgain

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


class FilesContract:
    async def test_a_file_comes_back_as_it_was(self, house: House, open_again: OpenAgain) -> None:
        mei = await house.person()
        data = PNG + b"\0\xff" * 500_000

        record = await upload(house, mei, data)

        async with open_again() as store:
            assert await store.files.get(mei.id, record.id) == record
            assert b"".join([piece async for piece in store.files.read(record)]) == data
        assert (record.size, record.media_type) == (len(data), "image/png")

    async def test_an_empty_file_is_a_file(self, house: House) -> None:
        mei = await house.person()

        record = await upload(house, mei, b"")

        assert record.size == 0
        assert [piece async for piece in house.store.files.read(record)] == []

    async def test_the_name_is_only_a_name(self, house: House) -> None:
        mei = await house.person()
        for given, kept in (
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\茶.txt", "茶.txt"),
            ("a\r\nb.txt", "ab.txt"),
            ("", "file"),
            ("/", "file"),
            ("n" * 500, "n" * 255),
        ):
            assert (await upload(house, mei, b"x", name=given)).name == kept

    async def test_too_large_a_file_leaves_nothing(self, house: House, kept: Kept) -> None:
        mei = await house.person()

        with pytest.raises(TooLarge):
            await upload(house, mei, b"Assam-3317" * 100_000, limit=999_999)

        assert not kept(b"Assam-3317")
        assert (await upload(house, mei, b"x" * 10, limit=10)).size == 10

    async def test_an_upload_that_breaks_off_leaves_nothing(self, house: House, kept: Kept) -> None:
        mei = await house.person()

        async def broken() -> AsyncIterator[bytes]:
            yield b"Assam-3318" * 100_000
            raise ConnectionError

        with pytest.raises(ConnectionError):
            await house.store.files.put(mei.id, "x", broken(), limit=10_000_000)

        assert not kept(b"Assam-3318")

    async def test_a_file_is_its_owners_and_that_of_the_conversation_that_shows_it(
        self, house: House
    ) -> None:
        mei, liu, bo = [await house.person(name) for name in ("Mei", "Liu", "Bo")]
        record = await upload(house, mei, PNG)
        files, log = house.store.files, house.store.log
        shared, other = await house.talk(mei, liu), await house.talk(bo)
        with pytest.raises(NotFound):
            await files.get(liu.id, record.id)
        # naming a file that one may not see does not open it
        with pytest.raises(NotFound):
            await log.receive(house.made_of(other, bo, (shown(record),)), bo.id, [])
        assert await house.texts(other, bo) == []

        await log.receive(house.made_of(shared, mei, (shown(record), shown(record))), mei.id, [])

        assert await files.get(liu.id, record.id) == record
        for person, file in ((bo.id, record.id), (mei.id, "f_unknown")):
            with pytest.raises(NotFound):
                await files.get(person, file)

    async def test_bytes_stay_as_long_as_something_names_them(
        self, house: House, kept: Kept
    ) -> None:
        mei, liu = await house.person("Mei"), await house.person("Liu")
        data = b"Darjeeling-6120 " * 10
        first, same = await upload(house, mei, data), await upload(house, liu, data)
        talk, other = await house.talk(mei), await house.talk(mei)
        for place in (talk, other):
            await house.store.log.receive(house.made_of(place, mei, (shown(first),)), mei.id, [])

        await house.store.log.delete(mei.id, talk.id)
        assert await house.store.files.get(mei.id, first.id) == first
        await house.store.log.delete(mei.id, other.id)
        with pytest.raises(NotFound):
            await house.store.files.get(mei.id, first.id)
        assert b"".join([piece async for piece in house.store.files.read(same)]) == data
        await house.store.people.remove(liu.id)
        assert not kept(b"Darjeeling-6120")


async def upload(
    house: House, person: Person, data: bytes, *, name: str = "tea.png", limit: int = 10_000_000
) -> FileRecord:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(data), 70_000):
            yield data[start : start + 70_000]

    return await house.store.files.put(person.id, name, chunks(), limit=limit)


def shown(record: FileRecord) -> Blob:
    return Blob(file=record.id, media_type=record.media_type, name=record.name, size=record.size)
