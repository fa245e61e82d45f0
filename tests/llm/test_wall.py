"""The time of a run: it ends what takes too long, and stands still while a person is asked."""

from __future__ import annotations

import asyncio

import pytest

from teahouse.llm.wall import Wall

pytestmark = pytest.mark.anyio


async def test_work_within_it_ends_when_it_is_used_up() -> None:
    wall = Wall(0.05)
    with pytest.raises(TimeoutError):
        async with wall.limit():
            await asyncio.Event().wait()
    assert wall.late


async def test_while_a_person_is_asked_no_time_passes_for_anybody() -> None:
    wall = Wall(0.05)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with wall.limit():
        with wall.stopped():
            while loop.time() - begun < 0.15:
                await asyncio.sleep(0.01)
            assert not wall.late
            async with wall.limit():  # what begins meanwhile has no end yet either
                await asyncio.sleep(0)
    assert not wall.late


async def test_it_goes_on_when_the_last_of_several_has_been_answered() -> None:
    wall = Wall(0.05)
    with wall.stopped():
        with wall.stopped():
            pass
        assert not wall.late
    with pytest.raises(TimeoutError):
        async with wall.limit():
            await asyncio.Event().wait()
