"""Tells several takers of each call: the ledger in the store, metrics, traces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from teahouse import __version__
from teahouse.config.live import LiveSettings
from teahouse.core.errors import SettingsError
from teahouse.llm.usage import CallRecord, Ledger

if TYPE_CHECKING:
    from teahouse.app.telemetry import Collector

log = logging.getLogger(__name__)


class Takers(Ledger):
    def __init__(self, *takers: Ledger) -> None:
        self._takers = list(takers)

    def add(self, taker: Ledger) -> None:
        self._takers.append(taker)

    def note(self, call: CallRecord, /) -> None:
        for taker in self._takers:
            try:
                taker.note(call)
            except Exception:  # who only looks on must not cost anybody an answer
                log.exception("A call was not noted by %s", type(taker).__name__)


def open_collector(settings: LiveSettings) -> Collector | None:
    """The way to the collector that the settings name, if they name one. Raises `SettingsError`
    where the extra is not installed: who asked for traces must not find out later."""
    wanted = settings.config.telemetry
    if wanted.otlp_endpoint is None:
        return None
    try:
        from teahouse.app.telemetry import Collector
    except ImportError as error:
        raise SettingsError("telemetry_not_installed", detail=error) from error
    headers = settings.telemetry_headers
    return Collector(wanted, headers, version=__version__, vendor_of=_vendor_of(settings))


def _vendor_of(settings: LiveSettings) -> Callable[[str], str]:
    def vendor(provider: str) -> str:
        known = settings.config.providers.get(provider)
        return provider if known is None or known.vendor == "custom" else known.vendor

    return vendor
