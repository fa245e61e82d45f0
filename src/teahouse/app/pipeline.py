"""The pipeline that the settings name, built anew when they change."""

from __future__ import annotations

from typing import Any

from teahouse.config.live import LiveSettings
from teahouse.llm.middlewares import build_pipeline
from teahouse.llm.pipeline import EMPTY, Pipeline


class HousePipeline:
    """Called at each call. One that cannot be built lets nothing by: a filter that is wanted and
    not there must not be mistaken for one that found nothing."""

    def __init__(self, settings: LiveSettings) -> None:
        self._settings = settings
        self._made_from: tuple[Any, Any] = ((), {})
        self._pipeline = EMPTY

    def __call__(self) -> Pipeline:
        """Raises `SettingsError`."""
        config = self._settings.config
        wanted = config.pipeline, config.middleware
        if wanted != self._made_from:
            self._pipeline = build_pipeline(*wanted)
            self._made_from = wanted
        return self._pipeline
