"""The embedded model: its file, its child process, and what the settings say of both."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from teahouse.config.live import LiveSettings
from teahouse.core.errors import ModelFileError
from teahouse.core.events import StreamEvent
from teahouse.core.tasks import Supervisor
from teahouse.llm.provider import ModelInfo, ModelRequest
from teahouse.llm.transport import Transport
from teahouse.server.ports import LocalStatus, ModelEntry


class LocalFile:
    provider = "local"

    def __init__(self, settings: LiveSettings, transport: Transport, tasks: Supervisor) -> None:
        self._settings = settings

    @property
    def default(self) -> str | None:
        config = self._settings.config.local_model
        return f"{self.provider}/{config.name}" if config.enabled else None

    def window(self, model: str) -> int | None:
        local = model.startswith(f"{self.provider}/")
        return self._settings.config.local_model.context if local else None

    async def __aenter__(self) -> LocalFile:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def entries(self) -> Sequence[ModelEntry]:
        return []

    async def status(self) -> LocalStatus:
        return LocalStatus(state="absent")

    async def pull(self, name: str) -> None:
        raise ModelFileError("no_model")

    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[Sequence[StreamEvent], None]:
        raise ModelFileError("no_model")
        yield ()

    async def models(self) -> Sequence[ModelInfo]:
        return []
