"""The embedded model as the house has it: its file, its process, and what the settings say."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

from teahouse.config.live import LiveSettings
from teahouse.config.tree import LocalModel as Settings
from teahouse.core.errors import ProviderError, TeahouseError, told
from teahouse.core.events import StreamEvent
from teahouse.core.tasks import Supervisor
from teahouse.llm.errors import NoSuchModel
from teahouse.llm.local.model_file import model_file, present, pull
from teahouse.llm.local.partial import ModelFile
from teahouse.llm.local.provider import NAME, LocalModel
from teahouse.llm.provider import ModelInfo, ModelRequest, ToolSpec
from teahouse.llm.transport import Transport
from teahouse.server.ports import LocalStatus, ModelEntry

log = logging.getLogger(__name__)


class Embedded:
    """A `Provider` that follows the settings: another name or size there, another process here."""

    def __init__(
        self,
        settings: LiveSettings,
        transport: Transport,
        tasks: Supervisor,
        *,
        tools: Sequence[ToolSpec],
        ahead: bool = True,
    ) -> None:
        """`tools`: those that most requests bring, for the model to read ahead. Without `ahead` it
        starts when it is first asked, whatever the settings say."""
        self._settings, self._transport, self._tasks = settings, transport, tasks
        self._tools, self._ahead = tools, ahead
        self._made_from = self._wanted
        self._model = self._make()
        self._pulling: LocalStatus | None = None
        self._pull_problem: str | None = None

    async def __aenter__(self) -> Embedded:
        self._settings.on_change(self.follow)
        self._start_if_eager()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._model.close()

    @property
    def default(self) -> str | None:
        return f"{NAME}/{self._wanted.name}" if self._wanted.enabled else None

    async def follow(self, settings: LiveSettings) -> None:
        if self._made_from != self._wanted:
            old, self._made_from = self._model, self._wanted
            self._model = self._make()
            await old.close()
            self._start_if_eager()

    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]:
        if not self._wanted.enabled or request.model != self._model.file.id:
            raise NoSuchModel(f"{NAME}/{request.model}", self.default or "")
        async with aclosing(self._model.stream(request)) as batches:
            async for batch in batches:
                yield batch

    async def models(self) -> Sequence[ModelInfo]:
        return await self._model.models() if self._wanted.enabled else ()

    async def entries(self) -> Sequence[ModelEntry]:
        """The model as one that may be chosen; with a note while it cannot answer."""
        if self.default is None:
            return ()
        absent = self._model.state == "absent"
        problem = TeahouseError("local_model_absent", model=self._model.file.id)
        return (
            ModelEntry(
                id=self.default,
                provider=NAME,
                context_window=self._wanted.context,
                vision=False,
                local=True,
                ready=not absent,
                note=problem.problem(self._settings.language).message if absent else None,
            ),
        )

    async def status(self) -> LocalStatus:
        if self._pulling is not None:
            return self._pulling
        file, state = self._model.file, self._model.state
        path = present(file, self._folder)
        if state == "absent" and self._pull_problem:
            state = "failed"
        return LocalStatus(
            state=state,
            bytes=file.size if path else 0,
            total=file.size,
            problem=self._pull_problem or self._model.problem or None,
            file=str(path) if path else None,
        )

    async def pull(self, name: str) -> None:
        """Begin to fetch the file; `status` tells how far it is. Nothing, where it is fetched."""
        file = model_file(name) if name else self._model.file
        if self._pulling is None:
            self._pull_problem = None
            self._note(0, file.size, "")
            self._tasks.start("pull the local model", self._pull(file))

    async def _pull(self, file: ModelFile) -> None:
        try:
            await pull(file, self._folder, self._note)
            self._start_if_eager()
        except TeahouseError as error:
            problem = error.problem(self._settings.language)
            self._pull_problem = told(problem.message, problem.hint)
            log.warning("The local model could not be fetched: %s", error)
        finally:
            self._pulling = None

    def _note(self, count: int, total: int, source: str) -> None:
        progress = count / total if total else 0
        self._pulling = LocalStatus(state="pulling", progress=progress, bytes=count, total=total)

    def _make(self) -> LocalModel:
        wanted = self._wanted
        return LocalModel(
            wanted.name,
            self._folder,
            self._transport,
            threads=wanted.threads,
            context=wanted.context,
        )

    def _start_if_eager(self) -> None:
        wanted, chosen = self._wanted, self._settings.config.default_model
        speaks = wanted.enabled and (chosen or self.default) == self.default
        if self._ahead and speaks and wanted.start == "eager" and self._model.state != "absent":
            self._tasks.start("warm the local model", self._warm())

    async def _warm(self) -> None:
        try:
            await self._model.warm(self._tools)
        except ProviderError as error:  # whoever asks it first is told so
            log.warning("The local model does not start: %s", error)

    @property
    def _wanted(self) -> Settings:
        return self._settings.config.local_model

    @property
    def _folder(self) -> Path:
        return Path(self._wanted.folder).expanduser()
