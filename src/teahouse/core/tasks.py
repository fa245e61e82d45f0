"""Background work with an owner: nothing runs that nobody waits for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from teahouse.core.ids import fraction

log = logging.getLogger(__name__)

_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.5, 60.0
_WAITING = 16  # items that a reader may lag behind

T = TypeVar("T")
Push = Callable[[T], Awaitable[None]]


class Supervisor:
    """Holds an application's background tasks. Leaving the block cancels and awaits them all."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Supervisor:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._tasks:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` once in the background; an error is logged, never lost."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Run `work` for ever: when it returns or fails it is started again, with back-off."""
        return self.start(name, self._forever(name, work))

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # the top of a task: nobody above could catch it
            log.error("Background task %s failed", task.get_name(), exc_info=error)

    async def _forever(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        delay = _FIRST_DELAY_S
        while True:
            started = asyncio.get_running_loop().time()
            try:
                await work()
            except Exception:  # supervised work may fail in any way; it is started again
                log.exception("Background task %s failed and is started again", name)
            if asyncio.get_running_loop().time() - started > _LONGEST_DELAY_S:
                delay = _FIRST_DELAY_S
            await asyncio.sleep(delay * (1 + fraction()) / 2)
            delay = min(delay * 2, _LONGEST_DELAY_S)


async def pulled(work: Callable[[Push[T]], Awaitable[None]]) -> AsyncGenerator[T, None]:
    """What `work` pushes, for who would rather pull. Closing it cancels `work` and awaits its end.

    A task of its own, and no group around the `yield`: that could be left by another task.
    """
    queue: asyncio.Queue[tuple[T] | Exception | None] = asyncio.Queue(_WAITING)

    async def push(item: T) -> None:
        await queue.put((item,))

    async def run() -> None:
        try:
            await work(push)
        except Exception as error:  # it is the reader's, and raised there
            await queue.put(error)
        else:
            await queue.put(None)

    task = asyncio.create_task(run())
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item[0]
    finally:
        task.cancel()
        await asyncio.wait({task})
