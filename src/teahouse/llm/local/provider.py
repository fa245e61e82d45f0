"""The model on this machine, as a provider like any other: `local/qwen2.5-coder-0.5b`.

It is started when it is first needed, or at once; it is started again when it dies; it ends with
the application.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec.structs import replace

from teahouse.core.errors import ProviderError
from teahouse.core.events import StreamEvent
from teahouse.core.messages import Message, Text
from teahouse.llm.local.model_file import model_file, present
from teahouse.llm.local.process import Address, LocalProcess, State
from teahouse.llm.provider import ModelInfo, ModelRequest, Provider, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.reach import Ask, Item
from teahouse.llm.settings import ProviderSettings, Timeouts
from teahouse.llm.transport import Transport

NAME = "local"
START_S = 120.0
LONGEST_REPLY = 1024  # tokens; a small model that has lost its thread finds no end by itself
_TIMEOUTS = Timeouts(first_event_s=300, idle_s=120)  # a busy machine reads slowly

LocalState: TypeAlias = Literal["absent"] | State


class LocalModel:
    """A `Provider`. `threads` 0 means as many as are free when it starts.

    `async with` it, or close it; until then it holds one thread and, once started, one child.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        transport: Transport,
        *,
        threads: int = 0,
        context: int = 8192,
        start_s: float = START_S,
    ) -> None:
        self.file = model_file(name)
        self.problem = ""
        self._folder, self._transport = folder, transport
        self._threads, self._context, self._start_s = threads, context, start_s
        self._process: LocalProcess | None = None
        self._state: State = "ready"
        self._address: Address | None = None
        self._provider: Provider | None = None
        self._changed = asyncio.Event()

    async def __aenter__(self) -> LocalModel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def state(self) -> LocalState:
        if self._process is None and present(self.file, self._folder) is None:
            return "absent"
        return self._state

    @property
    def pid(self) -> int | None:
        """Of the child, while it runs."""
        return self._address.pid if self._address else None

    def start(self) -> None:
        """Have it loaded; returns at once. Raises `ProviderError` where the file is missing."""
        if self._process is None:
            path = present(self.file, self._folder)
            if path is None:
                raise ProviderError("local_model_absent", model=self.file.id)
            if not _engine_is_installed():
                raise ProviderError("local_model_not_installed")
            loop = asyncio.get_running_loop()

            def tell(state: State, address: Address | None, problem: str) -> None:
                with suppress(RuntimeError):  # the loop has ended meanwhile
                    loop.call_soon_threadsafe(self._became, state, address, problem)

            self._process = LocalProcess(
                path, threads=self._threads, context=self._context, tell=tell
            )
        if self._state != "running":
            self._became("starting", None, self.problem)
            self._process.want()

    async def warm(self, tools: Sequence[ToolSpec]) -> None:
        """Start it, and let it read ahead what the question for a tool begins with (some 650
        tokens), so that the first message need not wait for that. Raises as `stream` does."""
        hello = Message(role="user", parts=(Text(text="Hi"),))
        request = ModelRequest(
            model=self.file.id, messages=(hello,), tools=tuple(tools), max_tokens=1, temperature=0
        )
        async with aclosing(self.stream(request)) as batches:
            async for _ in batches:
                pass

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await asyncio.to_thread(process.close)
        self._became("ready", None, "")

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        if request.max_tokens is None:
            request = replace(request, max_tokens=LONGEST_REPLY)
        return self.through(lambda running: running.stream(request))

    async def through(self, ask: Ask[Item], /) -> AsyncGenerator[Item, None]:
        async with aclosing(ask(await self._running())) as items:
            async for item in items:
                yield item

    async def models(self) -> Sequence[ModelInfo]:
        info = ModelInfo(id=self.file.id, context_window=self._context, vision=False)
        return () if self.state == "absent" else (info,)

    async def _running(self) -> Provider:
        if self._provider is None:
            self.start()
        try:
            async with asyncio.timeout(self._start_s):
                while self._provider is None:
                    changed = self._changed
                    await changed.wait()
                    if self._state == "failed":
                        raise ProviderError("local_model_failed", detail=self.problem)
        except TimeoutError as error:
            raise ProviderError("local_model_slow_start", seconds=f"{self._start_s:g}") from error
        return self._provider

    def _became(self, state: State, address: Address | None, problem: str) -> None:
        self._state, self._address, self.problem = state, address, problem
        self._provider = self._speaks(address) if address else None
        self._changed.set()
        self._changed = asyncio.Event()

    def _speaks(self, address: Address) -> Provider:
        settings = ProviderSettings(
            vendor="local",
            base_url=f"{address.url}/v1",
            headers={"Connection": "close"},  # the engine drops idle connections unannounced
            timeouts=_TIMEOUTS,
        )
        return build_provider(NAME, settings, address.key, self._transport)


def _engine_is_installed() -> bool:
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None
