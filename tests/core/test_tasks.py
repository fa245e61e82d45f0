from __future__ import annotations

import asyncio

import pytest

from teahouse.core.tasks import Supervisor

pytestmark = pytest.mark.anyio


async def test_an_error_in_the_background_is_logged_with_its_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise ValueError("the kettle is empty")

    async with Supervisor() as tasks:
        task = tasks.start("kettle", fail())
        await asyncio.wait({task})
        await asyncio.sleep(0)

    assert "Background task kettle failed" in caplog.text
    assert "the kettle is empty" in caplog.text


async def test_leaving_ends_all_work_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    async with Supervisor() as tasks:
        for name in ("a", "b"):
            tasks.start(name, work(name))
        await asyncio.sleep(0)

    assert sorted(ended) == ["a", "b"]


async def test_work_that_never_began_is_no_fault(recwarn: pytest.WarningsRecorder) -> None:
    async def work() -> None:
        raise AssertionError("must not run")

    async with Supervisor() as tasks:
        tasks.start("never", work())
        tasks.keep("nor this", work)

    assert [str(warning.message) for warning in recwarn] == []


async def test_kept_work_that_fails_is_started_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teahouse.core.tasks._FIRST_DELAY_S", 0.001)
    tries = 0
    twice = asyncio.Event()

    async def work() -> None:
        nonlocal tries
        tries += 1
        if tries == 2:
            twice.set()
        raise ValueError

    async with Supervisor() as tasks, asyncio.timeout(10):
        tasks.keep("flaky", work)
        await twice.wait()

    assert "is started again" in caplog.text
