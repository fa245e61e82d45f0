"""What somebody pushes, pulled: in order, with back pressure, and ended from either side."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from teahouse.core.tasks import Push, pulled

pytestmark = pytest.mark.anyio


async def test_what_is_pushed_comes_out_in_order_and_then_it_ends() -> None:
    async def work(push: Push[int]) -> None:
        for number in range(100):
            await push(number)

    assert [number async for number in pulled(work)] == list(range(100))


async def test_an_error_of_the_one_who_pushes_is_raised_after_what_came_before() -> None:
    async def work(push: Push[int]) -> None:
        await push(1)
        raise LookupError("no more")

    numbers = pulled(work)
    assert await anext(numbers) == 1
    with pytest.raises(LookupError):
        await anext(numbers)


async def test_closing_it_cancels_the_one_who_pushes_and_waits_for_the_end() -> None:
    ended = asyncio.Event()

    async def work(push: Push[int]) -> None:
        try:
            while True:
                await push(0)
        finally:
            await asyncio.sleep(0)
            ended.set()

    async with aclosing(pulled(work)) as numbers:
        assert await anext(numbers) == 0
    assert ended.is_set()
